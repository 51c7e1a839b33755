"""A search without any model: ranked fault localisation times inverse operators.

Most seeded bugs are undone by an operator of the same set, so this says how much of a suite is
solved by trying. Each attempt runs the visible tests only; the best attempt is submitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gym_codefix.grading.mutation import Mutation, apply_mutation, enumerate_mutations
from gym_codefix.grading.repair import Infrastructure, Problem, visible_run
from gym_codefix.runtime import Runtime

from ._agent import as_action
from ._references import Noop

# A statement put back or taken away is seldom the inverse of what broke it: tried last on a line.
_LATE_FAMILIES = ("delete-statement", "remove-branch", "string")


class Search:
    """Tries up to ``attempts`` single edits (raises ValueError below 1)."""

    def __init__(self, attempts: int = 10) -> None:
        if attempts < 1:
            raise ValueError(f"attempts must be at least 1, not {attempts}")
        self.name = f"search@{attempts}"
        self.parameters: Mapping[str, Any] = {"attempts": attempts}
        self._attempts = attempts

    def act(self, observation: Mapping[str, Any], problem: Problem, runtime: Runtime) -> str:
        best: tuple[tuple[int, int], dict[str, str]] | None = None
        for edits, _ in zip(_candidates(problem), range(self._attempts), strict=False):
            if self._attempts == 1:  # nothing to choose from: submit without a run
                return as_action(edits, problem)
            try:
                run = visible_run(problem, edits, runtime)
            except (ValueError, Infrastructure):
                continue
            if run.green:
                return as_action(edits, problem)
            score = (run.passed, -run.broken)
            if best is None or score > best[0]:
                best = (score, edits)
        if best is None:
            return Noop().act(observation, problem, runtime)
        return as_action(best[1], problem)


def _candidates(problem: Problem) -> Iterator[dict[str, str]]:
    """Single edits in the order of their line's suspicion, common inverses first."""
    by_line: dict[str, dict[int, list[Mutation]]] = {}
    for path, line, _ in problem.suspects:
        text = problem.read(path) or ""
        if path not in by_line:
            lines = {suspect.line for suspect in problem.suspects if suspect.path == path}
            by_line[path] = _mutations(text, lines)
        for mutation in by_line[path].get(line, ()):
            yield {path: apply_mutation(text, mutation)}


def _mutations(text: str, lines: set[int]) -> dict[int, list[Mutation]]:
    found: dict[int, list[Mutation]] = {}
    try:
        mutations = enumerate_mutations(text, lines=lines)
    except ValueError:
        return {}  # not Python, as some broken files are
    for mutation in sorted(mutations, key=lambda m: m.family in _LATE_FAMILIES):
        found.setdefault(mutation.line, []).append(mutation)
    return found
