"""Confirmation: the whole kept set in a fresh process, and that no coverage was lost."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace

from gym_codefix.catalog.edit_scope import classify_edit
from gym_codefix.runtime import Job, Runtime, Start, Verdict, read_json, write_json

from ._execute import Infrastructure, limits_for, run_reliably
from ._problem import Problem

_FORMAT = "2"
_LINES_NAMED = 5
_REFERENCE_SEED = 1
_NONE: frozenset[int] = frozenset()
_Lines = Mapping[str, frozenset[int]]


def confirm(
    problem: Problem, edits: Mapping[str, str], runtime: Runtime, hash_seed: int
) -> Verdict:
    """One fresh, unforked run of flips and kept tests, with line coverage."""
    tests = _wanted(problem)
    limits = limits_for(problem.snapshot, tests, slow=True)
    job = Job(
        edits=edits,
        tests=tests,
        start=Start.FRESH,
        hash_seed=hash_seed,
        coverage="lines",
        log_chars=0,
        limits=replace(limits, result_bytes=64 << 20),
    )
    return run_reliably(problem.snapshot, job, runtime)


def _wanted(problem: Problem) -> tuple[str, ...]:
    """Kept tests and flips in the order of collection; flips that only the repair brings last."""
    wanted = problem.kept | set(problem.task.flips)
    order = dict.fromkeys((*problem.snapshot.baseline.collected, *problem.task.flips))
    return tuple(test for test in order if test in wanted)


def lost_coverage(
    problem: Problem, edits: Mapping[str, str], verdict: Verdict, runtime: Runtime, hash_seed: int
) -> list[str]:
    """``path:line`` that the tests ran before and under the reference, outside the patch, and no
    longer run; lines are counted in the reference's tree.

    Which lines run may hang on hash order: a loss counts when a second run of the patch, and one
    of the reference with the same hash seed, say so too.
    """
    ran = _lines(verdict)
    reference = _reference_lines(problem, runtime, verdict if edits == problem.gold else None)
    if not _lost(problem, edits, ran, reference):
        return []
    again = _lines(confirm(problem, edits, runtime, hash_seed))
    same_seed = _lines(confirm(problem, problem.gold, runtime, hash_seed))
    ran = {path: ran.get(path, _NONE) | again.get(path, _NONE) for path in {*ran, *again}}
    steady = {path: lines & same_seed.get(path, _NONE) for path, lines in reference.items()}
    return _lost(problem, edits, ran, steady)[:_LINES_NAMED]


def _lost(problem: Problem, edits: Mapping[str, str], ran: _Lines, reference: _Lines) -> list[str]:
    lost = []
    for path, lines in sorted(reference.items()):
        pristine = problem.snapshot.read(path) or ""
        gold = problem.gold.get(path, pristine)
        text = edits.get(path, pristine)
        places = _corresponding(gold, text)
        patched = _patched_lines(problem, path, gold, text)
        for line in sorted(lines - patched):
            if line in places and places[line] not in ran.get(path, _NONE):
                lost.append(f"{path}:{line}")
    return lost


def _reference_lines(problem: Problem, runtime: Runtime, own: Verdict | None) -> _Lines:
    """Lines that run both before and under the reference (measured once, kept in the store).

    ``own``: a run of the reference that was made anyhow.
    """
    dropped = problem.task.validation.get("dropped")
    name = problem.task.id.split("/")[-1] if problem.gold or dropped else "pristine"
    place = runtime.store.path("problems", problem.snapshot.key, f"{name}-lines-{_FORMAT}.json")
    document = read_json(place)
    if document is None:
        verdict = own or confirm(problem, problem.gold, runtime, _REFERENCE_SEED)
        if verdict.lines is None:
            raise Infrastructure("the coverage of the reference could not be measured")
        measured = {path: _before(problem, path, ran) for path, ran in _lines(verdict).items()}
        document = {path: sorted(lines) for path, lines in measured.items()}
        write_json(place, document)
    return {path: frozenset(lines) for path, lines in document.items()}


def _before(problem: Problem, path: str, ran: frozenset[int]) -> frozenset[int]:
    """The reference's lines that ran without it: what it newly reaches is no one's duty."""
    if not problem.gold:
        return ran
    pristine = problem.snapshot.read(path) or ""
    places = _corresponding(pristine, problem.gold.get(path, pristine))
    covered = problem.snapshot.baseline.coverage.lines(path)
    return ran & {places[line] for line in covered if line in places}


def _lines(verdict: Verdict) -> _Lines:
    return {path: frozenset(lines) for path, lines in (verdict.lines or {}).items()}


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
