"""Proving tasks: the reference always passes, doing nothing never does, twins are seen to fail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gym_codefix.catalog import Task
from gym_codefix.grading.policy import refuse
from gym_codefix.grading.repair import (
    Infrastructure,
    Problem,
    chosen_job,
    files_of,
    limits_for,
    plan_edits,
    prepare_task,
    run_reliably,
    seeded_edits,
    task_snapshot,
)
from gym_codefix.runtime import Job, Runtime, Snapshot, Start

from ._proven_twins import proven_twins, twin_tests
from ._trial import Trial, as_trial
from ._validate_resolve import prove_resolve

RUNS = 5
_DATES = (
    None,
    "2027-02-28T23:59:30+00:00",
    "2031-07-04T03:00:00+00:00",
    None,
    None,
)
_CWD = (None, "/tmp/elsewhere", "/tmp/elsewhere", None, None)
_ORDERS = (None, 11, 12, 13, 14)
_CONDITIONS: dict[str, Any] = {
    "seeds": list(range(RUNS)),
    "orders": list(_ORDERS),
    "dates": [date or "today" for date in _DATES],
}
# A test of the kept set that the reference loses is left out of it, if it is one of very few.
_MOST_DROPPED = 8


@dataclass(frozen=True)
class Proof:
    """Outcome for one task: the task with its validation and twins, or why it was dropped."""

    task: Task
    reason: str | None = None


class Validator:
    """Validates tasks one after the other; runs that tasks share are made once."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._pristine: dict[tuple[str, int], Trial] = {}
        self._twins: dict[tuple[str, str], tuple[Mapping[str, Any], ...]] = {}

    def validate(self, task: Task) -> Proof:
        """Five runs of the reference and five of doing nothing, each under other conditions.

        Raises NotPrepared, PrepareError; what is wrong with the task itself is the proof's reason.
        """
        if task.dependency is not None:
            prepare_task(task, self._runtime)  # its environment is in no other command's hands
        snapshot = task_snapshot(task, self._runtime)
        try:
            if task.dependency is not None and task.dependency.goal == "resolve":
                return self._validate_versions(task)
            broken = seeded_edits(task, snapshot) if task.kind == "seeded" else {}
            problem = Problem(task, snapshot, broken, "", (), (), self._runtime.store)
            return self._validate(problem)
        except Infrastructure as error:
            return Proof(task, f"could not be run: {error}")
        except ValueError as error:  # hunks or mutations that no longer fit, CatalogError
            return Proof(task, str(error))

    def _validate(self, problem: Problem) -> Proof:
        task = problem.task
        if (reason := _not_allowed(problem)) is not None:
            return Proof(task, reason)
        dropped: frozenset[str] = frozenset()
        for run in range(RUNS):
            tests = self._gold_tests(problem, run)
            trial = self._gold_run(problem, tests, run)
            lost = tests - trial.passed
            if flips := sorted(lost & set(task.flips)):
                return Proof(task, f"reference run {run}: {flips[0]} does not pass")
            dropped |= lost
            if len(dropped) > _MOST_DROPPED:
                return Proof(task, f"reference run {run}: kept tests fail, {min(lost)} among them")
        for run in range(RUNS):
            if flips := sorted(self._noop_run(problem, run).passed):
                return Proof(task, f"no-op run {run}: {flips[0]} passes")
        twins = self._proven_twins(problem)
        if not twins:
            return Proof(task, "no test of it can be broken")
        kept = problem.kept - dropped
        validation: dict[str, Any] = {
            "gold": RUNS,
            "noop": RUNS,
            "kept": len(kept),
            **_CONDITIONS,
        }
        if dropped:
            validation["dropped"] = sorted(dropped)
        return Proof(replace(task, twins=twins, validation=validation))

    def _validate_versions(self, task: Task) -> Proof:
        found = prove_resolve(task, self._runtime, self._run, RUNS)
        if isinstance(found, str):
            return Proof(task, found)
        return Proof(replace(task, validation={**found, **_CONDITIONS}))

    def _gold_tests(self, problem: Problem, run: int) -> frozenset[str]:
        """The flips and what the reference can touch; in the first run all that is kept."""
        flips = frozenset(problem.task.flips)
        if run == 0 or not problem.gold:
            return problem.kept | flips
        reaching = plan_edits(problem.snapshot, problem.gold).reaching(problem.snapshot)
        near = reaching & problem.kept if len(reaching) < len(problem.kept) else frozenset()
        return near | flips

    def _gold_run(self, problem: Problem, tests: frozenset[str], run: int) -> Trial:
        snapshot = problem.snapshot
        if problem.gold:
            return self._run(snapshot, problem.gold, tests, run)
        # The snapshot itself is the reference of every seeded task: one whole run serves all.
        key = (snapshot.key, run)
        if key not in self._pristine:
            everything = frozenset(snapshot.baseline.passing)
            self._pristine[key] = self._run(snapshot, {}, everything, run)
        return self._pristine[key]

    def _noop_run(self, problem: Problem, run: int) -> Trial:
        snapshot, broken, flips = problem.snapshot, problem.broken, problem.task.flips
        if _DATES[run] or _CWD[run] or run == 0 or problem.gold:
            return self._run(snapshot, broken, flips, run)
        # Only order and hash seed differ: a template, which all seeded tasks share, has it at once.
        job = chosen_job(snapshot, sorted(flips), broken, plan=plan_edits(snapshot, broken))
        job = replace(job, hash_seed=run, order_seed=_ORDERS[run])
        return as_trial(flips, run_reliably(snapshot, job, self._runtime))

    def _run(
        self, snapshot: Snapshot, edits: Mapping[str, str], tests: Collection[str], run: int
    ) -> Trial:
        """One run under the conditions of its number; the first is in a fresh process."""
        job = Job(
            edits=edits,
            tests=tuple(sorted(tests)),
            paths=files_of(snapshot, sorted(tests)),
            start=Start.FRESH if run == 0 else Start.BASE,
            hash_seed=run,
            order_seed=_ORDERS[run],
            cwd=_CWD[run],
            date=_DATES[run],
            limits=limits_for(snapshot, tests, slow=True),
        )
        return as_trial(tests, run_reliably(snapshot, job, self._runtime))

    def _proven_twins(self, problem: Problem) -> dict[str, tuple[Mapping[str, Any], ...]]:
        tests = twin_tests(problem.task.flips)
        if problem.gold:
            return proven_twins(problem, tests, self._runtime)
        key = problem.snapshot.key
        unknown = [test for test in tests if (key, test) not in self._twins]
        found = proven_twins(problem, unknown, self._runtime)
        self._twins.update({(key, test): found.get(test, ()) for test in unknown})
        return {test: self._twins[key, test] for test in tests if self._twins[key, test]}


def _not_allowed(problem: Problem) -> str | None:
    """Why an agent could not hand in the reference."""
    reference = problem.reference_edits()
    for path in sorted(reference):
        if (reason := problem.editable(path)) is not None:
            return f"the reference edits {path}: {reason}"
    refusals = refuse({path: problem.read(path) for path in reference}, reference)
    if refusals:
        return f"the reference is refused: {refusals[0].path}: {refusals[0].code}"
    return None


def validate_tasks(
    tasks: Iterable[Task],
    runtime: Runtime,
    *,
    progress: Callable[[Proof], None] = lambda _: None,
) -> list[Proof]:
    """Prove tasks again from nothing, in their order. Raises NotPrepared, PrepareError."""
    validator = Validator(runtime)
    proofs = []
    for task in tasks:
        proof = validator.validate(replace(task, twins={}, validation={}))
        progress(proof)
        proofs.append(proof)
    return proofs
