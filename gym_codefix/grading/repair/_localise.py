"""Spectrum-based fault localisation (Ochiai), sharpened by the frames of the tracebacks."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from gym_codefix.catalog import Task
from gym_codefix.catalog.syntax import parse
from gym_codefix.runtime import CoverageMap, Snapshot, Verdict

_SUSPECTS_KEPT = 400
_FRAME = re.compile(r"^(\S+\.py):(\d+): ", re.MULTILINE)
_FRAME_BONUS = 0.25


class Suspect(NamedTuple):
    """A line of the broken tree and how suspicious it is, 0 to 1 and a bonus for frames."""

    path: str
    line: int
    score: float


def ochiai(failed_here: int, failed: int, passed_here: int) -> float:
    """ef / sqrt((ef + nf) (ef + ep)); 0 when no failing test runs the line."""
    if not failed_here:
        return 0.0
    return failed_here / math.sqrt(failed * (failed_here + passed_here))


def localise(
    task: Task, snapshot: Snapshot, broken: Mapping[str, str], verdict: Verdict
) -> list[Suspect]:
    """Lines inside functions, most suspicious first; only tests that the agent sees count.

    Of two equals the line in the smaller function comes first: less has to be read or tried there.
    """
    if verdict.contexts is None:
        return _from_frames(task, snapshot, broken, verdict)
    coverage = CoverageMap(verdict.contexts)
    failing = {test for test in task.visible if verdict.outcomes.get(test) != "passed"}
    passing = {test for test, outcome in verdict.outcomes.items() if outcome == "passed"}
    passing -= set(task.flips)
    frames = _frames(task, verdict)
    found: list[tuple[int, Suspect]] = []
    for path in coverage.files():
        if not snapshot.layout.is_source(path):
            continue
        lengths = _function_lengths(broken.get(path) or snapshot.read(path) or "")
        for line, tests in coverage.tests_by_line(path).items():
            tests = tests - coverage.always
            score = ochiai(len(tests & failing), len(failing), len(tests & passing))
            if score and line in lengths:
                bonus = _FRAME_BONUS if (path, line) in frames else 0.0
                found.append((lengths[line], Suspect(path, line, round(score + bonus, 6))))
    if not found:
        return _from_frames(task, snapshot, broken, verdict)
    ranked = sorted(found, key=lambda one: (-one[1].score, one[0], one[1].path, one[1].line))
    return [suspect for _, suspect in ranked[:_SUSPECTS_KEPT]]


def _frames(task: Task, verdict: Verdict) -> set[tuple[str, int]]:
    texts = [verdict.texts.get(test, "") for test in task.visible]
    texts += verdict.collect_errors.values()
    return {(path, int(line)) for text in texts for path, line in _FRAME.findall(text)}


def _from_frames(
    task: Task, snapshot: Snapshot, broken: Mapping[str, str], verdict: Verdict
) -> list[Suspect]:
    """Without coverage: the traceback's frames, else what the failing modules import first."""
    frames = [
        Suspect(path, line, _FRAME_BONUS)
        for path, line in sorted(_frames(task, verdict))
        if snapshot.layout.is_source(path)
    ]
    if frames:
        return frames
    return [Suspect(path, 1, 0.0) for path in snapshot.source_files()[:5]]


def _function_lengths(text: str) -> dict[int, int]:
    """By line of a function's body: how many lines the innermost function has."""
    try:
        tree = parse(text)
    except SyntaxError:
        return {}
    lengths: dict[int, int] = {}
    for node in ast.walk(tree):  # from the outside in
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            last = node.end_lineno or node.lineno
            body = range(node.body[0].lineno, last + 1)
            lengths.update(dict.fromkeys(body, last - node.lineno))
    return lengths
