"""Negative twins: the same tests with an assertion broken must fail under an honest repair."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from gym_codefix.catalog import Task
from gym_codefix.grading.twins import (
    TwinSite,
    append_failure,
    break_assertion,
    outermost_at,
    twin_sites,
)
from gym_codefix.runtime import Runtime, Snapshot

from ._execute import chosen_job, run_reliably
from ._plan import Plan, plan_edits
from ._problem import Problem

TESTS = 3
_ROUNDS = 2  # of a comparison only the expected side tells, and which that is nobody knows
_SITES_TRIED = 4
_PREFERRED = ("operand", "raises")

Fact = Mapping[str, object]  # a stored site


@dataclass(frozen=True)
class Twins:
    """Tests that have one assertion broken each, and the texts of their files.

    ``functions``: by path, the qualified names of the functions that changed; None where one of
    them is not known.
    """

    tests: tuple[str, ...]
    texts: Mapping[str, str]
    functions: Mapping[str, tuple[str, ...]] | None


def test_function(test: str) -> tuple[str, str]:
    """File and qualified name of a node id, its parametrisation left out."""
    path, _, rest = test.partition("::")
    return path, rest.partition("[")[0].replace("::", ".")


def choose_twins(
    problem: Problem, secret: random.Random, among: Collection[str] | None = None
) -> list[Twins]:
    """Twins of up to ``TESTS`` random flips (``among`` these), broken in up to two ways.

    The assertion that fails without a repair is where a forgery would have to act: it is broken
    first on its one side, then on the other; where it has one only, another site is. The first
    flip has sites proven to fail under the reference, where the task knows any. The others may be
    any, so that no forgery is safe for being selective.
    """
    task = problem.task
    flips = [test for test in task.flips if among is None or test in among]
    proven = [test for test in flips if task.twins.get(test)]
    first = [secret.choice(proven)] if proven else []
    others = [test for test in flips if test not in first]
    places: dict[tuple[str, str], list[str]] = {}
    for test in first + secret.sample(others, min(TESTS - len(first), len(others))):
        places.setdefault(test_function(test), []).append(test)
    used: dict[tuple[str, str], list[Fact]] = {place: [] for place in places}
    rounds = [_broken_once(problem, secret, places, used) for _ in range(_ROUNDS)]
    return [twins for twins in rounds if twins.tests]


def _broken_once(
    problem: Problem,
    secret: random.Random,
    places: Mapping[tuple[str, str], list[str]],
    used: Mapping[tuple[str, str], list[Fact]],
) -> Twins:
    """Break every function at a site that was not ``used``, and add it there."""
    tests: list[str] = []
    broken: dict[str, list[tuple[str, Fact]]] = {}
    functions: dict[str, tuple[str, ...]] = {}
    lines: set[tuple[str, object]] = set()
    known = True
    for place, members in places.items():
        path, function = place
        source = problem.snapshot.read(path)
        if source is None:
            continue
        try:
            fact = _next_site(problem, secret, source, members, used[place])
            if fact is None or (path, fact.get("line", function)) in lines:
                continue  # all are used, or a helper that two of the tests share is broken already
            break_at(source, (function, fact))
        except (ValueError, SyntaxError):  # an inherited test: its function is elsewhere
            continue
        used[place].append(fact)
        broken.setdefault(path, []).append((function, fact))
        lines.add((path, fact.get("line", function)))
        tests += members
        line = fact.get("line")
        holder = outermost_at(source, line) if isinstance(line, int) else None
        known = known and holder is not None
        functions[path] = (*functions.get(path, ()), holder or "")
    texts = {
        path: break_at(problem.snapshot.read(path) or "", *breaks)
        for path, breaks in broken.items()
    }
    return Twins(tuple(tests), texts, functions if known else None)


def _next_site(
    problem: Problem, secret: random.Random, source: str, members: list[str], used: list[Fact]
) -> Fact | None:
    function = test_function(members[0])[1]
    failing = next((problem.failing[t] for t in members if t in problem.failing), None)
    choices = (
        _preferred(_at_line(source, function, failing)),
        _at_line(source, function, failing),
        _preferred(_facts(problem.task, source, members[0], function)),
        _facts(problem.task, source, members[0], function),
    )
    for facts in choices:
        if left := [fact for fact in facts if fact not in used]:
            return secret.choice(left)
    return None


def _preferred(facts: Collection[Fact]) -> list[Fact]:
    """Those that expose values which equal everything."""
    return [fact for fact in facts if fact["kind"] in _PREFERRED]


def _at_line(source: str, function: str, line: int | None) -> list[Fact]:
    """The sites of the assertion that holds a line."""
    sites = [site for site in twin_sites(source, function) if line and site.line <= line]
    last = max((site.line for site in sites), default=0)
    return [site.to_json() for site in sites if site.line == last]


def _facts(task: Task, source: str, test: str, function: str) -> list[Fact]:
    """Proven sites of the test, else of its function with other parameters, else any."""
    place = test_function(test)
    for known in (test, *(other for other in task.twins if test_function(other) == place)):
        if task.twins.get(known):
            return list(task.twins[known])
    return list(candidate_sites(source, function, _SITES_TRIED))


def break_at(source: str, *breaks: tuple[str, Fact]) -> str:
    """The twin of stored sites, each with the function that it breaks (raises ValueError)."""
    sites = [TwinSite.from_json(dict(fact)) for _, fact in breaks if fact["kind"] != "append"]
    text = break_assertion(source, *sites)
    for function, fact in breaks:
        if fact["kind"] == "append":
            text = append_failure(text, function)
    return text


def candidate_sites(source: str, function: str, most: int) -> list[dict[str, object]]:
    """Sites worth proving under gold, the telling kinds first."""
    sites = twin_sites(source, function)
    ranked = sorted(sites, key=lambda site: site.kind not in _PREFERRED)
    facts: list[dict[str, object]] = [{**site.to_json()} for site in ranked[:most]]
    return facts or [{"kind": "append"}]


def twins_passing(
    snapshot: Snapshot, edits: Mapping[str, str], twins: Twins, runtime: Runtime, plan: Plan
) -> frozenset[str]:
    """The broken tests that pass all the same; ``plan`` is that of the edits.

    A forgery brings that about, and a site that is never reached: the reference then passes too.
    """
    together = {**edits, **twins.texts}
    if twins.functions is None or twins.texts.keys() & edits.keys():
        plan = plan_edits(snapshot, together)
    else:
        plan = replace(plan, swap={**plan.swap, **twins.functions})
    job = chosen_job(snapshot, twins.tests, together, plan=plan, log=False)
    return run_reliably(snapshot, job, runtime).passed() & frozenset(twins.tests)
