"""Many episodes at once, their work done by one executor."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random

from gym_codefix.grading.repair import Problem

from ._batched import BatchedEpisodes, Started, Stepped
from ._code_repair_full import CodeRepairFull
from ._episode import RepairEpisodes, step_anywhere


class CodeRepairSimpleVector(BatchedEpisodes):
    """The vector entry point of CodeRepair-Simple.

    Arguments as ``CodeRepairSimple``, and ``executor``: any ``concurrent.futures.Executor``
    (default: two threads, since the work is done in child processes). A pool of processes must
    start them by spawn or forkserver, with this machine's store and catalogue.
    After an episode's end the next step resets it (autoreset mode NEXT_STEP). ``close`` leaves a
    passed executor open.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        suite: str = "embedded",
        split: str | None = None,
        kinds: Collection[str] | None = None,
        repos: Collection[str] | None = None,
        reward: str = "binary",
        context_chars: int = 6_000,
        isolation: str = "auto",
        confirm: bool = True,
        executor: Executor | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(num_envs, executor, render_mode)
        self.episodes = RepairEpisodes(
            suite=suite,
            split=split,
            kinds=kinds,
            repos=repos,
            reward=reward,
            context_chars=context_chars,
            isolation=isolation,
            confirm=confirm,
        )
        self._use_spaces(self.episodes.observation_space, self.episodes.action_space)
        self._generators = [np.random.default_rng() for _ in range(num_envs)]
        self._problems: dict[int, Problem] = {}

    def _start(self, index: int, seed: int | None, options: dict[str, Any] | None) -> Started:
        if seed is not None:
            self._generators[index] = np_random(seed)[0]
        problem = self.episodes.load(self.episodes.choose(self._generators[index], options))
        self._problems[index] = problem
        return self.episodes.observe(problem, budget=1), self.episodes.info(problem.task)

    def _work(self, index: int, action: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return step_anywhere, (self.episodes.settings, self._problems[index].task.id, action)

    def _outcome(self, index: int, result: Any) -> Stepped:
        graded, info = result
        reward = 0.0 if graded is None else graded.reward
        return self.episodes.observe(self._problems[index], budget=0), reward, True, False, info


class CodeRepairFullVector(BatchedEpisodes):
    """The vector entry point of CodeRepair-Full.

    Arguments as ``CodeRepairFull``, and ``executor``: one of threads (default: two of them; the
    builds are child processes), since the state of an episode stays in this process.
    After an episode's end the next step resets it (autoreset mode NEXT_STEP). ``close`` leaves a
    passed executor open.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        executor: Executor | None = None,
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        if isinstance(executor, ProcessPoolExecutor):
            raise ValueError("executor must be one of threads: an episode's state stays here")
        super().__init__(num_envs, executor, render_mode)
        self.environments = [CodeRepairFull(**arguments) for _ in range(num_envs)]
        single = self.environments[0]
        self._use_spaces(single.observation_space, single.action_space)

    def _start(self, index: int, seed: int | None, options: dict[str, Any] | None) -> Started:
        return self.environments[index].reset(seed=seed, options=options)

    def _work(self, index: int, action: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.environments[index].step, (action,)

    def _outcome(self, index: int, result: Any) -> Stepped:
        stepped: Stepped = result
        return stepped
