"""How far an edit reaches: where its job may start, and which tests it can touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gym_codefix.catalog.edit_scope import classify_edit
from gym_codefix.catalog.hunks import equal_ends, split_lines
from gym_codefix.runtime import Snapshot, Start

_NEAR_LINES = 3


@dataclass(frozen=True)
class Plan:
    """``swap``: what a template job exchanges; ``spans``: changed bodies in the snapshot's lines;
    ``everywhere``: any kept test may be touched."""

    start: Start
    swap: Mapping[str, tuple[str, ...]]
    spans: tuple[tuple[str, int, int], ...]
    everywhere: bool

    def reaching(self, snapshot: Snapshot) -> frozenset[str]:
        """The passing tests that the edit can touch."""
        passing = frozenset(snapshot.baseline.passing)
        if self.everywhere:
            return passing
        found: frozenset[str] = frozenset()
        for path, first, last in self.spans:
            found |= snapshot.baseline.coverage.tests_reaching(path, first, last)
        return found & passing


def tests_near(snapshot: Snapshot, edits: Mapping[str, str]) -> frozenset[str]:
    """Tests that run lines close to the changed ones: those likeliest to break, nothing more."""
    coverage = snapshot.baseline.coverage
    found: frozenset[str] = frozenset()
    for path, text in edits.items():
        lines = split_lines(snapshot.read(path) or "")
        before, after = equal_ends(lines, split_lines(text))
        first, last = before + 1 - _NEAR_LINES, len(lines) - after + _NEAR_LINES
        found |= coverage.tests_reaching(path, first, last)
    return found - coverage.always - snapshot.baseline.entangled


def plan_edits(snapshot: Snapshot, edits: Mapping[str, str]) -> Plan:
    """Classify edits of the snapshot's tree (raises ValueError when a text does not parse)."""
    swap: dict[str, tuple[str, ...]] = {}
    spans: list[tuple[str, int, int]] = []
    everywhere, swappable = False, True
    coverage = snapshot.baseline.coverage
    for path, text in edits.items():
        scope = classify_edit(snapshot.read(path), text)
        if not scope.body_only:
            return Plan(Start.BASE, {}, (), True)
        everywhere = everywhere or scope.global_effects
        swap[path] = tuple(span.qualified_name for span in scope.functions)
        for span in scope.functions:
            spans.append((path, *span.before))
            if coverage.ran_at_import(path, *span.before):
                swappable, everywhere = False, True
    return Plan(
        Start.TEMPLATE if swappable else Start.BASE,
        swap if swappable else {},
        tuple(spans),
        everywhere,
    )
