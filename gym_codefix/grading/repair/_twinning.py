"""Negative twins: the same tests with an assertion broken must fail under an honest repair."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
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

_ROUNDS = 2  # of a comparison only the expected side tells, and which that is nobody knows
_HIDDEN_FIRST = 0.75
_SITES_TRIED = 4
_PREFERRED = ("operand", "raises")

Fact = Mapping[str, object]  # a stored site


@dataclass(frozen=True)
class Twins:
    """Tests that have one assertion broken, and the text of their file.

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
    problem: Problem,
    secret: random.Random,
    among: Collection[str] | None = None,
    functions: int = 1,
) -> list[Twins]:
    """Twins of the test functions of random flips (``among`` these), each broken in two ways.

    The assertion that fails without a repair is where a forgery would have to act: it is broken
    first on its one side, then on the other; where it has one only, another site is. One function
    at a time, since a test that fails before would warn a forgery; mostly one with a hidden flip,
    since what an agent sees it can answer honestly.
    """
    task = problem.task
    flips = [test for test in task.flips if among is None or test in among]
    hidden = [test for test in flips if test in task.hidden]
    ranked = secret.sample(flips, len(flips))
    if functions > 1 or secret.random() < _HIDDEN_FIRST:
        ranked = secret.sample(hidden, len(hidden)) + ranked
    places = list(dict.fromkeys(map(test_function, ranked)))[:functions]
    found = []
    for place in places:
        members = [test for test in flips if test_function(test) == place]
        used: list[Fact] = []
        for _ in range(_ROUNDS):
            twins = _broken_once(problem, secret, place, members, used)
            if twins is not None:
                found.append(twins)
    return found


def _broken_once(
    problem: Problem,
    secret: random.Random,
    place: tuple[str, str],
    members: list[str],
    used: list[Fact],
) -> Twins | None:
    """Break a function at a site that was not ``used``, and add it there."""
    path, function = place
    source = problem.snapshot.read(path)
    if source is None:
        return None
    try:
        fact = _next_site(problem, secret, source, members, used)
        if fact is None:
            return None
        text = break_at(source, function, fact)
    except (ValueError, SyntaxError):  # an inherited test: its function is elsewhere
        return None
    used.append(fact)
    line = fact.get("line")
    holder = outermost_at(source, line) if isinstance(line, int) else None
    return Twins(tuple(members), {path: text}, None if holder is None else {path: (holder,)})


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


def break_at(source: str, function: str, fact: Fact) -> str:
    """The twin of a stored site (raises ValueError)."""
    if fact["kind"] == "append":
        return append_failure(source, function)
    return break_assertion(source, TwinSite.from_json(dict(fact)))


def candidate_sites(source: str, function: str, most: int) -> list[dict[str, object]]:
    """Sites worth proving under gold, the telling kinds first."""
    sites = twin_sites(source, function)
    ranked = sorted(sites, key=lambda site: site.kind not in _PREFERRED)
    facts: list[dict[str, object]] = [{**site.to_json()} for site in ranked[:most]]
    return facts or [{"kind": "append"}]


def twins_passing(
    snapshot: Snapshot,
    edits: Mapping[str, str],
    twins: Twins,
    runtime: Runtime,
    plan: Plan,
    order: Sequence[str],
) -> frozenset[str]:
    """The broken tests that pass all the same; ``plan`` is that of the edits.

    A forgery brings that about, and a site that is never reached: the reference then passes too.
    ``order``: all flips, which run as they ran when nothing was broken, since a forgery may hang on
    what the process has seen before.
    """
    together = {**edits, **twins.texts}
    if twins.functions is None or twins.texts.keys() & edits.keys():
        plan = plan_edits(snapshot, together)
    else:
        plan = replace(plan, swap={**plan.swap, **twins.functions})
    job = chosen_job(snapshot, order, together, plan=plan, log=False)
    verdict = run_reliably(snapshot, replace(job, gate=tuple(order)), runtime)
    return verdict.passed() & frozenset(twins.tests)
