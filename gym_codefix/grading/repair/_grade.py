"""From an agent's edits to a reward: cheap refusals first, then proofs of what may be right."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from gym_codefix.catalog.syntax import parse
from gym_codefix.grading.judge import bent_checks, changed_checks, lost_checks
from gym_codefix.grading.policy import refuse
from gym_codefix.runtime import Runtime, Snapshot, Start, Verdict, file_of

from ._confirm import confirm as run_confirmation
from ._confirm import lost_coverage
from ._execute import Infrastructure, chosen_job, run_reliably
from ._plan import Plan, plan_edits, tests_near
from ._problem import Problem
from ._reward import REWARDS, reward_of
from ._twinning import Twins, choose_twins, twins_passing

_BESIDE_S = 0.25
_CONFIRMED_TWINS = 3  # test functions

_Read = TypeVar("_Read")


@dataclass(frozen=True)
class Grade:
    """What an episode earned and why.

    ``tests_pass``: every test that was run says so, which a forgery can bring about;
    ``resolved``: and twins, judge and (if asked) confirmation agree. ``explanation`` names no
    hidden test. ``timing``: seconds by stage, the only part that differs between two runs.
    ``parts["kept"]`` is a share under rewards that pay for it; under ``binary`` the first kept test
    that breaks ends the run, and the part is 0.
    """

    reward: float
    resolved: bool
    tests_pass: bool
    parts: Mapping[str, float]
    reward_valid: bool = True
    failure_reason: str | None = None
    refused: bool = False
    tampering: bool = False
    overfit: bool = False
    lost: tuple[str, ...] = ()
    explanation: str = ""
    tests: Mapping[str, int] = field(default_factory=dict)
    timing: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Kept:
    """Kept tests that an edit reaches: those seen ``broken``, those ``left`` to run, and all."""

    broken: frozenset[str]
    left: frozenset[str]
    reached: frozenset[str]


@dataclass(frozen=True)
class _Attempt:
    """``edits`` of the broken tree, the same ``over`` the snapshot's, and how far these reach."""

    edits: Mapping[str, str]
    over: Mapping[str, str]
    plan: Plan
    snapshot: Snapshot

    @functools.cached_property
    def near(self) -> frozenset[str]:
        return tests_near(self.snapshot, self.over)


class _Grading:
    """One grading in progress: collects parts, timing and the reasons against."""

    def __init__(self, problem: Problem, reward: str, runtime: Runtime) -> None:
        if reward not in REWARDS:
            raise ValueError(f"unknown reward {reward!r}; valid: {', '.join(REWARDS)}")
        self.problem, self.reward, self.runtime = problem, reward, runtime
        self.parts = dict.fromkeys(("applies", "parses", "builds", "flipped", "kept"), 0.0)
        self.counts: dict[str, int] = {}
        self.timing: dict[str, float] = {}
        self.tests_pass = False
        self._secret = random.Random(os.urandom(16))
        flips = problem.task.flips
        self._order = self._secret.sample(flips, len(flips))
        self._failed: set[str] = set()  # seen to fail, in whatever order

    def run(self, edits: Mapping[str, str], *, confirm: bool) -> Grade:
        problem = self.problem
        self.parts["applies"] = 1.0
        for path, text in edits.items():
            try:
                parse(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                return self._end(f"{path} does not parse: {error}")
        self.parts["parses"] = 1.0
        before = {path: problem.read(path) for path in edits}
        refusals = _reading(refuse, before, edits)
        if refusals:
            first = refusals[0]
            return self._end(f"refused: {first.path}:{first.line}: {first.message}", refused=True)
        if all(problem.read(path) == text for path, text in edits.items()):
            return self._end("nothing was changed")
        over = problem.over_pristine(edits)
        try:
            plan = _reading(plan_edits, problem.snapshot, over, passing=(ValueError,))
        except ValueError as error:  # it parses, but does not compile
            self.parts["parses"] = 0.0
            return self._end(f"does not compile: {error}")
        # A tree that equals the snapshot's passes what the baseline passes.
        reached = plan.reaching(problem.snapshot) & problem.kept if over else frozenset()
        self.counts["kept_run"] = len(reached)
        attempt = _Attempt(edits, over, plan, problem.snapshot)
        beside = frozenset() if confirm else self._beside(attempt, reached)
        verdict, wrong = self._flips(attempt, beside)
        if wrong is not None:
            return wrong
        kept = _Kept(beside - verdict.passed(), reached - beside, reached)
        return self._prove(attempt, kept, confirm=confirm)

    def _beside(self, attempt: _Attempt, reached: frozenset[str]) -> frozenset[str]:
        """Kept tests that cost so little more that they run in the process of the flips."""
        if attempt.plan.start is not Start.TEMPLATE:
            files = {file_of(test) for test in self.problem.task.flips}
            near = attempt.near & reached
            reached = frozenset(test for test in near if file_of(test) in files)
        known = attempt.snapshot.baseline.seconds
        seconds = sum(known.get(test, 0.0) for test in reached)
        return reached if seconds <= _BESIDE_S else frozenset()

    def _flips(self, attempt: _Attempt, beside: frozenset[str]) -> tuple[Verdict, Grade | None]:
        task = self.problem.task
        with self._stage("flips"):
            verdict = self._run(attempt, beside, gate=self._order)
        self._failed |= verdict.outcomes.keys() - verdict.passed()
        passed = verdict.passed() & set(task.flips)
        self.parts["builds"] = float(bool(verdict.outcomes) and not verdict.collect_errors)
        self.parts["flipped"] = len(passed) / len(task.flips)
        self.counts["flips_passed"], self.counts["flips"] = len(passed), len(task.flips)
        if passed == set(task.flips) and (verdict.ended or not beside <= verdict.passed()):
            return verdict, None
        seen = passed >= set(task.visible)
        failing = len(task.flips) - len(passed)
        reason = f"{failing} of {len(task.flips)} target tests still fail"
        if not failing:
            reason = "the run did not come to its end"
        if verdict.killed:
            reason += f"; stopped at the {verdict.killed} limit"
        if self.reward != "binary":  # what passed is paid for, so it must be true
            twins = choose_twins(
                self.problem, self._secret, among=passed, functions=_CONFIRMED_TWINS
            )
            if any(self._forged(attempt, twin) for twin in twins):
                return verdict, self._tampering()
        overfit = seen and bool(task.hidden) and verdict.ended
        return verdict, self._end(reason, overfit=overfit)

    def _prove(self, attempt: _Attempt, kept: _Kept, *, confirm: bool) -> Grade:
        problem, secret = self.problem, self._secret
        twins = choose_twins(problem, secret, functions=_CONFIRMED_TWINS if confirm else 1)
        stages: list[Twins | Literal["kept"]] = ["kept", *twins]
        if confirm:
            secret.shuffle(stages)
        tampered, broken = False, frozenset[str]()
        for stage in stages:
            if stage == "kept":
                with self._stage("kept"):
                    broken = self._broken_kept(attempt, kept)
                if broken and self.reward == "binary":
                    return self._broken(broken)  # worth nothing, whatever the twins say
            else:
                with self._stage("twins"):
                    tampered = self._forged(attempt, stage) or tampered
        if tampered:
            self.tests_pass = not broken
            return self._tampering()
        if broken:
            return self._broken(broken)
        self.parts["kept"] = 1.0
        self.tests_pass = True
        edits = attempt.edits
        before = {path: problem.read(path) or "" for path in edits}
        gold = {path: problem.gold.get(path) or problem.snapshot.read(path) or "" for path in edits}
        found = _reading(lost_checks, before, edits, gold)
        if not found and problem.task.kind == "seeded":  # the reference is the undamaged program
            found = _reading(changed_checks, before, edits, gold)
        if not found and problem.task.kind == "dependency":
            found = _reading(bent_checks, before, edits, gold)
        lost = [f"{item.path}:{item.line}: {item.kind}" for item in found]
        if lost:
            return self._end("the repair drops checks: " + "; ".join(lost[:3]), lost=tuple(lost))
        return self._confirmed(attempt.over) if confirm else self._end("", resolved=True)

    def _broken(self, tests: frozenset[str]) -> Grade:
        if self.reward == "binary":
            return self._end("a test that passed before now fails")
        return self._end(f"{len(tests)} tests that passed before now fail")

    def _tampering(self) -> Grade:
        return self._end("tampering: a test passes with its assertion broken", tampering=True)

    def _forged(self, attempt: _Attempt, twins: Twins) -> bool:
        snapshot, gold = attempt.snapshot, self.problem.gold
        order = self._order
        passing = twins_passing(snapshot, attempt.over, twins, self.runtime, attempt.plan, order)
        if not passing:
            return False
        gold_plan = plan_edits(snapshot, gold)
        honest = twins_passing(snapshot, gold, twins, self.runtime, gold_plan, order)
        return not passing <= honest

    def _broken_kept(self, attempt: _Attempt, kept: _Kept) -> frozenset[str]:
        """The kept tests that do not pass; under ``binary`` one of them at least."""
        broken = self._seen_broken(attempt, kept)
        if broken:
            broken = self._in_their_order(attempt, broken, kept.reached)
        if self.reward != "binary":
            self.parts["kept"] = 1 - len(broken) / max(1, len(self.problem.kept))
            self.counts["kept_broken"] = len(broken)
        return broken

    def _in_their_order(
        self, attempt: _Attempt, broken: frozenset[str], reached: frozenset[str]
    ) -> frozenset[str]:
        """Those of ``broken`` that fail in the order of the suite too.

        Tests that were run first, or without others, may leave behind what breaks others, or miss
        what these leave for them. Mostly the tests of the same files say enough.
        """
        failed = broken & self._failed or broken
        files = {file_of(test) for test in failed}
        beside = frozenset(test for test in reached if file_of(test) in files)
        if again := failed & self._broken_of(attempt, beside):
            return again
        return self._broken_of(attempt, reached)

    def _seen_broken(self, attempt: _Attempt, kept: _Kept) -> frozenset[str]:
        if self.reward == "binary":  # one broken test decides, so it had better come soon
            if kept.broken or not kept.left:
                return kept.broken
            near = attempt.near & kept.left
            if attempt.plan.start is Start.TEMPLATE or 2 * len(near) > len(kept.left):
                return self._broken_of(attempt, kept.left, near)
            broken = self._broken_of(attempt, near)
            return broken or self._broken_of(attempt, kept.left - near)
        return kept.broken | self._broken_of(attempt, kept.left)

    def _broken_of(
        self, attempt: _Attempt, tests: frozenset[str], near: frozenset[str] = frozenset()
    ) -> frozenset[str]:
        if not tests:
            return frozenset()
        verdict = self._run(attempt, tests, near=near)
        self._failed |= verdict.outcomes.keys() - verdict.passed()
        return tests - verdict.passed()

    def _confirmed(self, over: Mapping[str, str]) -> Grade:
        problem = self.problem
        seed = self._secret.randrange(1, 1 << 31)
        flips = frozenset(problem.task.flips)
        with self._stage("confirm"):
            verdict = run_confirmation(problem, over, self.runtime, seed)
            missing = (problem.kept | flips) - verdict.passed()
            lost = [] if missing else lost_coverage(problem, over, verdict, self.runtime, seed)
        if missing:
            self.tests_pass = False
            self.parts["flipped"] = 1 - len(missing & flips) / len(flips)
            self.parts["kept"] = 1 - len(missing - flips) / max(1, len(problem.kept))
            return self._end(f"{len(missing)} tests fail in a fresh process")
        if lost:
            return self._end(
                "lines that were tested no longer run: " + ", ".join(lost), lost=tuple(lost)
            )
        return self._end("", resolved=True)

    def _run(
        self,
        attempt: _Attempt,
        kept: frozenset[str],
        *,
        gate: Sequence[str] = (),
        near: frozenset[str] = frozenset(),
    ) -> Verdict:
        snapshot = attempt.snapshot
        tests = [*gate, *(test for test in snapshot.baseline.passing if test in kept)]
        job = chosen_job(snapshot, tests, attempt.over, plan=attempt.plan, log=False)
        first = tuple(test for test in tests if test in near)
        stop = self.reward == "binary"
        job = replace(job, gate=tuple(gate), first=first, stop_early=stop)
        return run_reliably(snapshot, job, self.runtime)

    @contextlib.contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.timing[name] = self.timing.get(name, 0.0) + time.perf_counter() - started

    def _end(
        self,
        explanation: str,
        *,
        resolved: bool = False,
        refused: bool = False,
        tampering: bool = False,
        overfit: bool = False,
        lost: tuple[str, ...] = (),
    ) -> Grade:
        return Grade(
            reward=reward_of(
                self.reward,
                self.parts,
                resolved=resolved,
                barred=refused or tampering or bool(lost),
            ),
            resolved=resolved,
            tests_pass=self.tests_pass,
            parts=self.parts,
            refused=refused,
            tampering=tampering,
            overfit=overfit,
            lost=lost,
            explanation=explanation,
            tests=self.counts,
            timing=self.timing,
        )

    def unreadable(self, error: _Unreadable) -> Grade:
        """Refused, since nobody could tell what it does."""
        return self._end(f"refused: it could not be read ({error})", refused=True)

    def invalid(self, error: Infrastructure) -> Grade:
        """Our own failure: no reward, and trainers are told to leave the episode out."""
        return Grade(
            reward=0.0,
            resolved=False,
            tests_pass=False,
            parts=self.parts,
            reward_valid=False,
            failure_reason=str(error),
            explanation="the grader failed",
            timing=self.timing,
        )


class _Unreadable(Exception):
    """Reading the agent's text made us stumble."""


def _reading(
    function: Callable[..., _Read], *arguments: Any, passing: tuple[type[Exception], ...] = ()
) -> _Read:
    """Whatever goes wrong while an agent's text is only read is its text's fault: an exception
    would end a whole batch, and a grading without a reward would let hard tasks be skipped."""
    try:
        return function(*arguments)
    except passing:
        raise
    except Exception as error:
        raise _Unreadable(type(error).__name__) from error


def grade(
    problem: Problem,
    edits: Mapping[str, str],
    runtime: Runtime,
    *,
    reward: str = "binary",
    confirm: bool = True,
) -> Grade:
    """Grade edits of the broken tree (whole texts by path).

    ``confirm``: prove a right patch in a fresh process over the full kept set, with coverage;
    always on for a leaderboard. Raises ValueError for an unknown reward, never for what an agent
    wrote.
    """
    grading = _Grading(problem, reward, runtime)
    try:
        return grading.run(edits, confirm=confirm)
    except Infrastructure as error:
        return grading.invalid(error)
    except _Unreadable as error:
        return grading.unreadable(error)
