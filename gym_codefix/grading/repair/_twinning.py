"""Negative twins: the same tests with an assertion broken must fail under an honest repair."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from gym_codefix.catalog import Task
from gym_codefix.grading.twins import TwinSite, append_failure, break_assertion, twin_sites
from gym_codefix.runtime import Runtime, Snapshot

from ._execute import chosen_job, run_reliably
from ._plan import plan_edits

TWINS = 3
_SITES_TRIED = 4
_PREFERRED = ("operand", "raises")  # these expose values that equal everything


@dataclass(frozen=True)
class Twin:
    """A test and the text of its file with one of its assertions broken."""

    test: str
    path: str
    text: str


def test_function(test: str) -> tuple[str, str]:
    """File and qualified name of a node id, its parametrisation left out."""
    path, _, rest = test.partition("::")
    return path, rest.partition("[")[0].replace("::", ".")


def choose_twins(task: Task, snapshot: Snapshot, secret: random.Random) -> list[Twin]:
    """Up to ``TWINS`` twins of random flips at random sites.

    One is at a site that is proven to fail under the reference, where the task knows any. The
    others may be of any flip, so that no forgery is safe for being selective.
    """
    proven = [test for test in task.flips if task.twins.get(test)]
    first = [secret.choice(proven)] if proven else []
    others = [test for test in task.flips if test not in first]
    twins = []
    for test in first + secret.sample(others, min(TWINS - len(first), len(others))):
        path, function = test_function(test)
        source = snapshot.read(path)
        if source is None:
            continue
        try:
            facts = _facts(task, source, test, function)
            preferred = [fact for fact in facts if fact["kind"] in _PREFERRED]
            fact = secret.choice(preferred or facts)
            twins.append(Twin(test, path, break_at(source, function, fact)))
        except (ValueError, SyntaxError):  # an inherited test: its function is elsewhere
            continue
    return twins


def _facts(task: Task, source: str, test: str, function: str) -> list[Mapping[str, object]]:
    """Proven sites of the test, else of its function with other parameters, else any."""
    place = test_function(test)
    for known in (test, *(other for other in task.twins if test_function(other) == place)):
        if task.twins.get(known):
            return list(task.twins[known])
    return list(candidate_sites(source, function, _SITES_TRIED))


def break_at(source: str, function: str, fact: Mapping[str, object]) -> str:
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


def twin_passes(snapshot: Snapshot, edits: Mapping[str, str], twin: Twin, runtime: Runtime) -> bool:
    """Whether the broken test passes all the same.

    A forgery does that, and a site that the test never reaches: the reference then passes as well.
    """
    together = {**edits, twin.path: twin.text}
    job = chosen_job(snapshot, (twin.test,), together, plan=plan_edits(snapshot, together))
    verdict = run_reliably(snapshot, job, runtime)
    return twin.test in verdict.passed()
