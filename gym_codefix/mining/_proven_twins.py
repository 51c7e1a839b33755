"""Twins that fail under the reference: the only ones that say anything about an agent's repair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from gym_codefix.grading.repair import Problem, break_at, candidate_sites, test_function
from gym_codefix.runtime import Runtime

from ._trial import run_tests

_TESTS = 5
_SITES = 4
_TRIED = 4

_Fact = Mapping[str, Any]
_APPENDED: dict[str, object] = {"kind": "append"}


def twin_tests(flips: Collection[str]) -> list[str]:
    """Up to 5 tests of different functions: their twins can be broken in the same run."""
    by_function: dict[tuple[str, str], str] = {}
    for test in flips:
        by_function.setdefault(test_function(test), test)
    return list(by_function.values())[:_TESTS]


def proven_twins(
    problem: Problem, tests: Collection[str], runtime: Runtime
) -> dict[str, tuple[_Fact, ...]]:
    """Up to 4 sites for each of these ``twin_tests``; one with no site that fails is left out.

    In one run every test has one assertion broken, so a task costs a handful of runs.
    """
    candidates: dict[str, list[dict[str, object]]] = {}
    texts: dict[str, str] = {}
    for test in tests:
        path, function = test_function(test)
        text = texts.get(path) or problem.snapshot.read(path)
        if text is not None:
            texts[path] = text
            try:
                candidates[test] = candidate_sites(text, function, _TRIED)
            except (ValueError, SyntaxError):  # a test file of another Python
                continue
    proven: dict[str, list[_Fact]] = defaultdict(list)
    for turn in range(_TRIED + 1):
        if turn == _TRIED:  # what had no assertion that fails gets one
            candidates = {
                test: [_APPENDED] * (_TRIED + 1) for test in candidates if not proven[test]
            }
        broken, sites = _break(texts, candidates, turn)
        if not sites:
            continue
        trial = run_tests(problem.snapshot, runtime, {**problem.gold, **broken}, sites)
        for test in sorted(trial.failed):
            if trial.verdict.outcomes.get(test) == "failed" and len(proven[test]) < _SITES:
                proven[test].append(sites[test])
    return {test: tuple(proven[test]) for test in tests if proven.get(test)}


def _break(
    texts: Mapping[str, str], candidates: Mapping[str, list[dict[str, object]]], turn: int
) -> tuple[dict[str, str], dict[str, _Fact]]:
    """Test files with the ``turn``-th site of every test broken, and the site of each test."""
    broken: dict[str, str] = {}
    sites: dict[str, _Fact] = {}
    used: set[tuple[object, ...]] = set()
    for test, facts in candidates.items():
        if turn >= len(facts):
            continue
        path, function = test_function(test)
        fact = facts[turn]
        place = (path, fact.get("line", function))
        if place in used:  # a helper that two of the tests share
            continue
        try:
            broken[path] = break_at(broken.get(path, texts[path]), function, fact)
        except ValueError:
            continue
        used.add(place)
        sites[test] = fact
    return broken, sites
