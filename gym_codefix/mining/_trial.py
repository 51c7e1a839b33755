"""Running chosen tests of a snapshot with some files changed, the quickest sound way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from gym_codefix.grading.repair import Plan, chosen_job, plan_edits, run_reliably
from gym_codefix.runtime import Limits, Runtime, Snapshot, Start, Verdict

_FAILING = frozenset({"failed", "error"})


@dataclass(frozen=True)
class Trial:
    """What chosen tests did. ``other``: neither passed nor failed (skipped, expected to fail)."""

    passed: frozenset[str]
    failed: frozenset[str]
    other: frozenset[str]
    verdict: Verdict

    @property
    def clean(self) -> bool:
        """Whether every test had its say: no limit was hit, and the runner came to its end."""
        return self.verdict.ended and self.verdict.killed is None and not self.other


def run_tests(
    snapshot: Snapshot,
    runtime: Runtime,
    edits: Mapping[str, str],
    tests: Collection[str],
    *,
    plan: Plan | None = None,
    coverage: str | None = None,
    limits: Limits | None = None,
) -> Trial:
    """Run ``tests`` with ``edits`` over the snapshot's tree; ``limits`` in place of generous ones.

    Raises ValueError when an edit does not parse, Infrastructure when no job runs at all.
    """
    plan = plan or plan_edits(snapshot, edits)
    usable = plan if edits and plan.start is Start.TEMPLATE else None
    job = chosen_job(snapshot, sorted(tests), edits, plan=usable, coverage=coverage)
    if limits is not None:
        job = replace(job, limits=limits)
    return as_trial(tests, run_reliably(snapshot, job, runtime))


def as_trial(tests: Collection[str], verdict: Verdict) -> Trial:
    """Sort the outcomes; a test that is missing was lost with its module, and counts as failed."""
    passed = verdict.passed() & frozenset(tests)
    failed = frozenset(test for test in tests if verdict.outcomes.get(test, "error") in _FAILING)
    return Trial(passed, failed, frozenset(tests) - passed - failed, verdict)
