"""Confirmation: the whole kept set in a fresh process, and that no coverage was lost."""

from __future__ import annotations

import difflib
import random
from collections.abc import Mapping
from dataclasses import replace

from gym_codefix.catalog.edit_scope import classify_edit
from gym_codefix.runtime import Job, Runtime, Start, Verdict, read_json, write_json

from ._execute import limits_for, run_reliably
from ._problem import Problem

_FORMAT = "1"
_LINES_NAMED = 5


def confirm(
    problem: Problem, edits: Mapping[str, str], runtime: Runtime, secret: random.Random
) -> Verdict:
    """One fresh, unforked run of flips and kept tests, with line coverage."""
    tests = tuple(test for test in _in_order(problem) if test in _wanted(problem))
    limits = limits_for(problem.snapshot, tests, slow=True)
    job = Job(
        edits=edits,
        tests=tests,
        start=Start.FRESH,
        hash_seed=secret.randrange(1, 1 << 31),
        coverage="lines",
        limits=replace(limits, result_bytes=64 << 20),
    )
    return run_reliably(problem.snapshot, job, runtime)


def _wanted(problem: Problem) -> frozenset[str]:
    return problem.kept | set(problem.task.flips)


def _in_order(problem: Problem) -> list[str]:
    collected = list(problem.snapshot.baseline.collected)
    return collected + [test for test in problem.task.flips if test not in set(collected)]


def lost_lines(
    problem: Problem, edits: Mapping[str, str], verdict: Verdict, runtime: Runtime
) -> list[str]:
    """``path:line`` that the tests run under the reference, outside the patch, and no longer run.

    Lines are counted in the reference's tree.
    """
    reference = _reference_lines(problem, runtime)
    ran = {path: frozenset(lines) for path, lines in (verdict.lines or {}).items()}
    lost = []
    for path, lines in sorted(reference.items()):
        gold = problem.gold.get(path) or problem.snapshot.read(path) or ""
        text = edits.get(path) or problem.snapshot.read(path) or ""
        places = _corresponding(gold, text)
        patched = _patched_lines(problem, path, gold, text)
        for line in sorted(lines - patched):
            if line in places and places[line] not in ran.get(path, frozenset()):
                lost.append(f"{path}:{line}")
    return lost[:_LINES_NAMED]


def _reference_lines(problem: Problem, runtime: Runtime) -> dict[str, frozenset[int]]:
    """Lines that run under the reference (measured once, kept in the store)."""
    digest = problem.task.id.split("/")[-1]
    place = runtime.store.path("problems", problem.snapshot.key, f"{digest}-lines-{_FORMAT}.json")
    if not problem.gold:  # the tree itself is the reference: one measurement serves all
        place = runtime.store.path("problems", problem.snapshot.key, f"lines-{_FORMAT}.json")
    document = read_json(place)
    if document is None:
        verdict = confirm(problem, problem.gold, runtime, random.Random(0))
        document = {path: list(lines) for path, lines in (verdict.lines or {}).items()}
        write_json(place, document)
    return {path: frozenset(lines) for path, lines in document.items()}


def _corresponding(before: str, after: str) -> dict[int, int]:
    """Line numbers of unchanged lines in both texts."""
    old, new = before.splitlines(), after.splitlines()
    if old == new:
        return {line: line for line in range(1, len(old) + 1)}
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return {
        block.a + offset + 1: block.b + offset + 1
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }


def _patched_lines(problem: Problem, path: str, gold: str, text: str) -> frozenset[int]:
    """Lines, in the reference, of functions that the patch or the reference changes."""
    lines: set[int] = set()
    for other in {text, problem.read(path) or ""}:
        if other == gold:
            continue
        try:
            scope = classify_edit(gold, other)
        except ValueError:
            continue
        if not scope.body_only:
            return frozenset(range(1, gold.count("\n") + 2))
        for span in scope.functions:
            lines.update(range(span.before[0], span.before[1] + 1))
    return frozenset(lines)
