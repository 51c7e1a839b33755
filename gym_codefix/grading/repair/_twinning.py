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
    """Up to ``TWINS`` twins of random flips, at random sites that are known to fail under gold."""
    known = [test for test in task.flips if task.twins.get(test)]
    twins = []
    for test in secret.sample(known, min(TWINS, len(known))):
        path, function = test_function(test)
        source = snapshot.read(path)
        if source is None:
            continue
        facts = task.twins[test]
        preferred = [fact for fact in facts if fact["kind"] in _PREFERRED]
        fact = secret.choice(preferred or list(facts))
        twins.append(Twin(test, path, break_at(source, function, fact)))
    return twins


def break_at(source: str, function: str, fact: Mapping[str, object]) -> str:
    """The twin of a stored site (raises ValueError)."""
    if fact["kind"] == "append":
        return append_failure(source, function)
    return break_assertion(source, TwinSite.from_json(dict(fact)))


def candidate_sites(source: str, function: str, most: int) -> list[dict[str, object]]:
    """Sites worth proving under gold, the telling kinds first."""
    sites = twin_sites(source, function)
    ranked = sorted(sites, key=lambda site: site.kind not in _PREFERRED)
    facts: list[dict[str, object]] = [site.to_json() for site in ranked[:most]]
    return facts or [{"kind": "append"}]


def twin_passes(snapshot: Snapshot, edits: Mapping[str, str], twin: Twin, runtime: Runtime) -> bool:
    """Whether the broken test passes all the same, which only a forgery does."""
    together = {**edits, twin.path: twin.text}
    job = chosen_job(snapshot, (twin.test,), together, plan=plan_edits(snapshot, together))
    verdict = run_reliably(snapshot, job, runtime)
    return twin.test in verdict.passed()
