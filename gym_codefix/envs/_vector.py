"""Many repair episodes at once, graded through one executor."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from gym_codefix.grading.repair import Problem

from ._episode import RepairEpisodes, step_anywhere

_WORKERS = 2


class CodeRepairSimpleVector(VectorEnv[dict[str, Any], Any, Any]):
    """The vector entry point of CodeRepair-Simple.

    Arguments as ``CodeRepairSimple``, and ``executor``: any ``concurrent.futures.Executor``
    (default: two threads, since the work is done in child processes). A pool of processes must
    start them by spawn or forkserver, with this machine's store and catalogue.
    After an episode's end the next step resets it (autoreset mode NEXT_STEP). ``close`` leaves a
    passed executor open.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - gymnasium declares it so
        "render_modes": [],
        "render_fps": 1,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

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
        if render_mode is not None:
            raise ValueError("the vector environment does not render; render_mode must be None")
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, not {num_envs}")
        self.num_envs = num_envs
        self.render_mode = None
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
        self.single_observation_space = self.episodes.observation_space
        self.single_action_space = self.episodes.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._own_executor = executor is None
        self._executor = executor or ThreadPoolExecutor(_WORKERS)
        self._generators = [np.random.default_rng() for _ in range(num_envs)]
        self._problems: list[Problem | None] = [None] * num_envs
        self._ended = np.zeros(num_envs, bool)

    def _batch(self, observations: list[dict[str, Any]]) -> dict[str, Any]:
        batched: dict[str, Any] = {}
        for key, space in self.episodes.observation_space.spaces.items():
            values = [observation[key] for observation in observations]
            batched[key] = np.stack(values) if space.shape is not None else tuple(values)
        return batched

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start every episode; environment i is seeded like a single one with ``seed + i``."""
        seeds = (
            seed
            if isinstance(seed, list)
            else [None if seed is None else seed + i for i in range(self.num_envs)]
        )
        if len(seeds) != self.num_envs:
            raise ValueError(f"{self.num_envs} seeds are needed, not {len(seeds)}")
        for index, value in enumerate(seeds):
            if value is not None:
                self._generators[index] = _generator(value)
        started = [self._start(index, options) for index in range(self.num_envs)]
        self._ended[:] = False
        infos: dict[str, Any] = {}
        for index, (_, info) in enumerate(started):
            infos = self._add_info(infos, info, index)
        return self._batch([observation for observation, _ in started]), infos

    def _start(
        self, index: int, options: dict[str, Any] | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        problem = self.episodes.load(self.episodes.choose(self._generators[index], options))
        self._problems[index] = problem
        return self.episodes.observe(problem, budget=1), self.episodes.info(problem.task)

    def step(
        self, actions: Any
    ) -> tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Grade the whole batch; ended episodes are reset instead."""
        if len(actions) != self.num_envs:
            raise ValueError(f"{self.num_envs} actions are needed, not {len(actions)}")
        jobs = {}
        for index, problem in enumerate(self._problems):
            if problem is None:
                raise RuntimeError("call reset() before step()")
            if not self._ended[index]:
                jobs[index] = self._executor.submit(
                    step_anywhere, self.episodes.settings, problem.task.id, actions[index]
                )
        observations: list[dict[str, Any]] = []
        infos: dict[str, Any] = {}
        rewards = np.zeros(self.num_envs)
        terminated = np.zeros(self.num_envs, bool)
        for index, problem in enumerate(self._problems):
            if index in jobs:
                graded, info = jobs[index].result()
                rewards[index] = 0.0 if graded is None else graded.reward
                terminated[index] = True
                assert problem is not None
                observations.append(self.episodes.observe(problem, budget=0))
            else:
                observation, info = self._start(index, None)
                observations.append(observation)
            infos = self._add_info(infos, info, index)
        self._ended = terminated.copy()
        truncated = np.zeros(self.num_envs, bool)
        return self._batch(observations), rewards, terminated, truncated, infos

    def close_extras(self, **_: Any) -> None:
        """End the threads of our own executor."""
        if self._own_executor:
            self._executor.shutdown()


def _generator(seed: int) -> np.random.Generator:
    from gymnasium.utils.seeding import np_random

    return np_random(seed)[0]
