"""Negative twins: the same tests with an assertion broken must fail under an honest repair."""

from __future__ import annotations

import itertools
import random
from collections import Counter
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

TWINS = 3
_SITES_TRIED = 4
_PREFERRED = ("operand", "raises")
_SIDES = 2  # of a comparison: only the expected one tells, and which that is nobody knows

Fact = Mapping[str, object]  # a stored site


@dataclass(frozen=True)
class Twin:
    """A test and the text of its file with one of its assertions broken.

    ``function``: the qualified name of the only function of the file that changed, where it is
    known to be one.
    """

    test: str
    path: str
    text: str
    function: str | None = None


def test_function(test: str) -> tuple[str, str]:
    """File and qualified name of a node id, its parametrisation left out."""
    path, _, rest = test.partition("::")
    return path, rest.partition("[")[0].replace("::", ".")


def choose_twins(
    problem: Problem, secret: random.Random, among: Collection[str] | None = None
) -> list[Twin]:
    """Up to ``TWINS`` twins of random flips (``among`` these).

    Each is broken at the assertion that fails without a repair, which is where a forgery would
    have to act, now on its one side, now on the other; where there are fewer flips than twins, at
    other sites too. The first is of a flip that has sites proven to fail under the reference,
    where the task knows any. The others may be of any flip, so that no forgery is safe for being
    selective.
    """
    task = problem.task
    flips = [test for test in task.flips if among is None or test in among]
    proven = [test for test in flips if task.twins.get(test)]
    first = [secret.choice(proven)] if proven else []
    others = [test for test in flips if test not in first]
    tests = first + secret.sample(others, min(TWINS - len(first), len(others)))
    twins: dict[Twin, None] = {}
    variants: Counter[object] = Counter()
    for number, test in enumerate(itertools.islice(itertools.cycle(tests), TWINS)):
        path, function = test_function(test)
        source = problem.snapshot.read(path)
        if source is None:
            continue
        try:
            facts = _facts(task, source, test, function)
            if number < max(_SIDES, len(tests)):
                facts = _at_line(source, function, problem.failing.get(test)) or facts
            facts = _preferred(facts) or facts
            least = min(variants[fact.get("variant")] for fact in facts)
            fact = secret.choice([f for f in facts if variants[f.get("variant")] == least])
            variants[fact.get("variant")] += 1
            text = break_at(source, function, fact)
        except (ValueError, SyntaxError):  # an inherited test: its function is elsewhere
            continue
        line = fact.get("line")
        holder = outermost_at(source, line) if isinstance(line, int) else None
        twins[Twin(test, path, text, holder)] = None
    return list(twins)


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


def twin_passes(
    snapshot: Snapshot, edits: Mapping[str, str], twin: Twin, runtime: Runtime, plan: Plan
) -> bool:
    """Whether the broken test passes all the same; ``plan`` is that of the edits.

    A forgery does that, and a site that the test never reaches: the reference then passes as well.
    """
    together = {**edits, twin.path: twin.text}
    if twin.path in edits or twin.function is None:
        plan = plan_edits(snapshot, together)
    else:
        plan = replace(plan, swap={**plan.swap, twin.path: (twin.function,)})
    job = chosen_job(snapshot, (twin.test,), together, plan=plan)
    verdict = run_reliably(snapshot, job, runtime)
    return twin.test in verdict.passed()
