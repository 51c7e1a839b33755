"""Running chosen tests, and telling our failures from the agent's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from gym_codefix.runtime import Job, Limits, Runtime, Snapshot, Start, Verdict, file_of

from ._plan import Plan

_CPU_FLOOR_S, _CPU_FACTOR = 2, 8
_WALL_FLOOR_S, _WALL_FACTOR = 10, 20
_COLLECT_FACTOR = 3
_IDLE_SHARE = 0.5
_TRACED_RESULT_BYTES = 256 << 20


class Infrastructure(RuntimeError):
    """A job failed for reasons that a no-op job shares: nobody's reward."""


def limits_for(
    snapshot: Snapshot, tests: Iterable[str], *, slow: bool = False, collects: bool = True
) -> Limits:
    """Generous bounds from what the tests took at baseline (``slow``: traced or whole runs;
    ``collects``: the job imports the repository and collects, as all but templates do)."""
    baseline = snapshot.baseline
    expected = sum(baseline.seconds.get(test, 0.05) for test in tests)
    if slow:
        expected += baseline.suite_seconds
    before_tests = 0.0
    if collects:
        before_tests = max(0.0, baseline.suite_seconds - sum(baseline.seconds.values()))
    return Limits(
        cpu_s=int(_CPU_FLOOR_S + _CPU_FACTOR * expected + _COLLECT_FACTOR * before_tests),
        wall_s=int(_WALL_FLOOR_S + _WALL_FACTOR * (expected + before_tests)),
    )


def chosen_job(
    snapshot: Snapshot,
    tests: Iterable[str],
    edits: Mapping[str, str],
    *,
    plan: Plan | None = None,
    coverage: str | None = None,
    log: bool = True,
) -> Job:
    """A job over these tests; from the template when ``plan`` allows it, else from base.

    ``log``: whether anybody will read how they fail.
    """
    job = _chosen_job(snapshot, tuple(tests), edits, plan, coverage)
    return job if log else replace(job, log_chars=0)


def _chosen_job(
    snapshot: Snapshot,
    chosen: tuple[str, ...],
    edits: Mapping[str, str],
    plan: Plan | None,
    coverage: str | None,
) -> Job:
    if plan is not None and plan.start is Start.TEMPLATE and coverage is None:
        limits = limits_for(snapshot, chosen, collects=False)
        return Job(edits=edits, swap=plan.swap, start=Start.TEMPLATE, tests=chosen, limits=limits)
    limits = limits_for(snapshot, chosen, slow=coverage is not None)
    if coverage is not None:
        limits = replace(limits, result_bytes=_TRACED_RESULT_BYTES)
    return Job(
        edits=edits,
        paths=files_of(snapshot, chosen),
        tests=chosen,
        coverage=coverage,
        limits=limits,
    )


def files_of(snapshot: Snapshot, tests: Collection[str]) -> tuple[str, ...] | None:
    """What a job collects to run these tests; None for everything."""
    if not snapshot.baseline.entangled.isdisjoint(tests):
        return None
    return tuple(dict.fromkeys(file_of(test) for test in tests))


def _from_base(snapshot: Snapshot, job: Job) -> Job:
    tests = job.tests or ()
    limits = limits_for(snapshot, tests)
    return replace(job, swap={}, start=Start.BASE, paths=files_of(snapshot, tests), limits=limits)


def run_reliably(snapshot: Snapshot, job: Job, runtime: Runtime) -> Verdict:
    """Run a job; refusals of a template and faults of ours are run again.

    Raises Infrastructure when a job without any edit fails as well.
    """
    verdict = runtime.run(snapshot, job)
    if verdict.refused is not None:
        job = _from_base(snapshot, job)
        verdict = runtime.run(snapshot, job)
    if verdict.killed == "wall" and verdict.cpu_s < _IDLE_SHARE * job.limits.cpu_s:
        verdict = runtime.run(snapshot, job)  # slept, or starved by other work: once more
    if verdict.failure is not None:
        probe = Job(tests=snapshot.baseline.passing[:1])
        if (reason := runtime.run(snapshot, probe).failure) is not None:
            raise Infrastructure(reason)
        verdict = runtime.run(snapshot, job)
    return verdict
