"""How far an edit reaches: where its job may start, and which tests it can touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gym_codefix.catalog.edit_scope import classify_edit
from gym_codefix.catalog.hunks import split_lines
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
        first, last = _changed_lines(split_lines(snapshot.read(path) or ""), split_lines(text))
        found |= coverage.tests_reaching(path, first - _NEAR_LINES, last + _NEAR_LINES)
    return found - coverage.always - snapshot.baseline.entangled


def _changed_lines(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """First and last line of ``before`` between equal beginnings and equal ends, 1-based."""
    shorter = min(len(before), len(after))
    first = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    left = shorter - first
    end = next((i for i in range(left) if before[-1 - i] != after[-1 - i]), left)
    return first + 1, len(before) - end


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
