"""What single and vector environments share: tasks chosen, observations made, actions graded."""

from __future__ import annotations

import functools
import os
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from gym_codefix.catalog import CatalogError, Suite, Task, select
from gym_codefix.grading.patch import ACTION_FORMATS, ActionError, parse_action
from gym_codefix.grading.repair import REWARDS, Grade, Problem, excerpt, grade, load_problem
from gym_codefix.runtime import ISOLATION_CHOICES, Runtime, default_runtime
from gym_codefix.spaces import Unicode

INSTRUCTION_CHARS = 4_000
LOG_CHARS = 12_000
ACTION_CHARS = 100_000
_LEAST_CONTEXT, _MOST_CONTEXT = 200, 200_000
_OPTIONS = ("task_id",)
_IMPORTED_IN = os.getpid()

Settings = tuple[tuple[str, Any], ...]


class RepairEpisodes:
    """Loads problems and grades actions; has no episode state of its own.

    Raises ValueError (CatalogError among them) for every wrong argument, naming the valid values,
    and IsolationUnavailable.
    """

    def __init__(
        self,
        *,
        suite: str,
        split: str | None,
        kinds: Collection[str] | None,
        repos: Collection[str] | None,
        reward: str,
        context_chars: int,
        isolation: str,
        confirm: bool,
        versions: bool = False,
    ) -> None:
        """``versions``: whether an action can change these; else tasks that ask for it are left."""
        if reward not in REWARDS:
            raise ValueError(f"unknown reward {reward!r}; valid: {', '.join(REWARDS)}")
        if isolation not in ISOLATION_CHOICES:
            valid = ", ".join(ISOLATION_CHOICES)
            raise ValueError(f"unknown isolation {isolation!r}; valid: {valid}")
        if not isinstance(context_chars, int) or not (
            _LEAST_CONTEXT <= context_chars <= _MOST_CONTEXT
        ):
            raise ValueError(
                f"context_chars must be an integer from {_LEAST_CONTEXT} to {_MOST_CONTEXT}, "
                f"not {context_chars!r}"
            )
        for name, given in (("kinds", kinds), ("repos", repos)):
            if isinstance(given, str):
                raise ValueError(f"{name} must be a collection of names, not the string {given!r}")
        self.suite: Suite = select(suite, split=split, kinds=kinds, repos=repos)
        if not versions and not all(map(_asks_for_source, self.suite.tasks)):
            self.suite = Suite(suite, tuple(filter(_asks_for_source, self.suite.tasks)))
        if not self.suite.tasks:
            raise CatalogError(f"suite {suite!r} holds no task")
        self.settings: Settings = (
            ("suite", suite),
            ("split", split),
            ("kinds", None if kinds is None else tuple(kinds)),
            ("repos", None if repos is None else tuple(repos)),
            ("reward", reward),
            ("context_chars", context_chars),
            ("isolation", isolation),
            ("confirm", confirm),
        )
        self.reward, self.confirm, self.context_chars = reward, confirm, context_chars
        self.runtime: Runtime = default_runtime(isolation)

    @property
    def observation_space(self) -> spaces.Dict:
        """Texts, and counts that a policy without text can use."""
        return spaces.Dict(
            {
                "instruction": Unicode(INSTRUCTION_CHARS),
                "log": Unicode(LOG_CHARS),
                "source": Unicode(self.context_chars),
                "budget": spaces.Box(0, 1, (1,), np.int64),
                "counts": spaces.Box(0, np.iinfo(np.int64).max, (4,), np.int64),
            }
        )

    @property
    def action_space(self) -> Unicode:
        """The text of a patch."""
        return Unicode(ACTION_CHARS)

    def choose(self, rng: np.random.Generator, options: Mapping[str, Any] | None) -> Task:
        """The named task, or a random one (raises ValueError for unknown options)."""
        for key in options or {}:
            if key not in _OPTIONS:
                raise ValueError(f"unknown reset option {key!r}; valid: {', '.join(_OPTIONS)}")
        if options and "task_id" in options:
            return self.suite.task(options["task_id"])
        return self.suite.tasks[int(rng.integers(len(self.suite.tasks)))]

    def load(self, task: Task) -> Problem:
        """The problem of a task (raises NotPrepared with the command that mends it)."""
        return load_problem(task, self.runtime)

    def observe(self, problem: Problem, *, budget: int) -> dict[str, Any]:
        """An observation with new objects at every call."""
        task = problem.task
        instruction = (
            f"Repair the repository {task.repository}: make the failing tests in the log pass "
            "and break none that passes. Tests, and what belongs to them, cannot be edited. Hidden "
            f"tests of the same behaviour count too.\n\nAnswer with one patch.\n{ACTION_FORMATS}"
        )
        counts = (
            len(task.visible),
            len(problem.kept),
            len({suspect.path for suspect in problem.suspects}),
            len(problem.snapshot.source_files()),
        )
        return {
            "instruction": instruction[:INSTRUCTION_CHARS],
            "log": problem.log[:LOG_CHARS],
            "source": excerpt(problem, self.context_chars)[: self.context_chars],
            "budget": np.array([budget], np.int64),
            "counts": np.array(counts, np.int64),
        }

    def info(self, task: Task) -> dict[str, Any]:
        """What every step's info carries, before a grade."""
        return {
            "task_id": task.id,
            "suite_hash": self.suite.hash,
            "reward_parts": {},
            "reward_valid": True,
            "failure_reason": None,
            "isolation": self.runtime.isolation,
        }

    def step(self, problem: Problem, action: str | bytes) -> tuple[Grade | None, dict[str, Any]]:
        """Grade one action: the grade (None when it cannot be read) and the step's info."""
        info = self.info(problem.task)
        try:
            edits = parse_action(
                action, problem.read, editable=problem.editable, max_chars=ACTION_CHARS
            )
        except ActionError as error:
            info["action_error"] = str(error)
            return None, info
        graded = grade(problem, edits, self.runtime, reward=self.reward, confirm=self.confirm)
        return graded, info | info_of(graded)


def info_of(graded: Grade) -> dict[str, Any]:
    """What an info carries of a grade."""
    return {
        "reward_parts": dict(graded.parts),
        "reward_valid": graded.reward_valid,
        "failure_reason": graded.failure_reason,
        "resolved": graded.resolved,
        "refused": graded.refused,
        "tampering": graded.tampering,
        "overfit": graded.overfit,
        "explanation": graded.explanation,
    }


def _asks_for_source(task: Task) -> bool:
    return task.dependency is None or task.dependency.goal == "migrate"


@functools.lru_cache(maxsize=16)
def _episodes(settings: Settings) -> RepairEpisodes:
    return RepairEpisodes(**dict(settings))


def step_anywhere(
    settings: Settings, task_id: str, action: str | bytes
) -> tuple[Grade | None, dict[str, Any]]:
    """``RepairEpisodes.step`` where an executor may run it: only plain data goes in and out.

    Raises RuntimeError in a forked worker, which would talk to its parent's sandboxes.
    """
    if os.getpid() != _IMPORTED_IN:
        raise RuntimeError(
            "a process pool must start its workers with the spawn or forkserver method, not fork"
        )
    episodes = _episodes(settings)
    return episodes.step(episodes.load(episodes.suite.task(task_id)), action)
