"""What an agent may run for itself: the visible targets and the tests near its edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gym_codefix.runtime import Runtime

from ._execute import chosen_job, run_reliably
from ._plan import plan_edits
from ._problem import Problem


@dataclass(frozen=True)
class VisibleRun:
    """Targets passed of those visible, and neighbours broken."""

    passed: int
    total: int
    broken: int

    @property
    def green(self) -> bool:
        return self.passed == self.total and not self.broken


def visible_run(problem: Problem, edits: Mapping[str, str], runtime: Runtime) -> VisibleRun:
    """Run the visible targets, and when they pass the kept tests that the edit reaches.

    Raises ValueError when a text does not parse, Infrastructure when the fault is ours.
    """
    task = problem.task
    over = problem.over_pristine(edits)
    plan = plan_edits(problem.snapshot, over)
    job = chosen_job(problem.snapshot, task.visible, over, plan=plan, log=False)
    passed = run_reliably(problem.snapshot, job, runtime).passed() & set(task.visible)
    broken = 0
    if len(passed) == len(task.visible) and over:
        near = plan.reaching(problem.snapshot) & problem.kept
        if near:
            order = [test for test in problem.snapshot.baseline.passing if test in near]
            job = chosen_job(problem.snapshot, order, over, plan=plan, log=False)
            broken = len(near - run_reliably(problem.snapshot, job, runtime).passed())
    return VisibleRun(len(passed), len(task.visible), broken)
