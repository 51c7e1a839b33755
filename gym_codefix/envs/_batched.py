"""What vector environments share: an executor, seeds, batches, resets a step after an end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

_WORKERS = 2

Started = tuple[dict[str, Any], dict[str, Any]]
Stepped = tuple[dict[str, Any], float, bool, bool, dict[str, Any]]


class BatchedEpisodes(VectorEnv[dict[str, Any], Any, Any]):
    """A subclass says how one episode starts, what an action's work is, and what came of it."""

    metadata: dict[str, Any] = {  # noqa: RUF012 - gymnasium declares it so
        "render_modes": [],
        "render_fps": 1,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(self, num_envs: int, executor: Executor | None, render_mode: str | None) -> None:
        if render_mode is not None:
            raise ValueError("the vector environment does not render; render_mode must be None")
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, not {num_envs}")
        self.num_envs = num_envs
        self.render_mode = None
        self._own_executor = executor is None
        self._executor = executor or ThreadPoolExecutor(_WORKERS)
        self._started = False
        self._ended = np.zeros(num_envs, bool)

    def _use_spaces(self, observation: spaces.Space[Any], action: spaces.Space[Any]) -> None:
        self.single_observation_space = observation
        self.single_action_space = action
        self.observation_space = batch_space(observation, self.num_envs)
        self.action_space = batch_space(action, self.num_envs)

    @abstractmethod
    def _start(self, index: int, seed: int | None, options: dict[str, Any] | None) -> Started:
        """Start one episode."""

    @abstractmethod
    def _work(self, index: int, action: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """What the executor calls for an action."""

    @abstractmethod
    def _outcome(self, index: int, result: Any) -> Stepped:
        """What a step gives, by what the executor returned."""

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
        started = [self._start(index, value, options) for index, value in enumerate(seeds)]
        self._started = True
        self._ended[:] = False
        infos: dict[str, Any] = {}
        for index, (_, info) in enumerate(started):
            infos = self._add_info(infos, info, index)
        return self._batch([observation for observation, _ in started]), infos

    def step(
        self, actions: Any
    ) -> tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Carry out the whole batch; ended episodes are reset instead."""
        if len(actions) != self.num_envs:
            raise ValueError(f"{self.num_envs} actions are needed, not {len(actions)}")
        if not self._started:
            raise RuntimeError("call reset() before step()")
        jobs = {}
        for index in range(self.num_envs):
            if not self._ended[index]:
                function, arguments = self._work(index, actions[index])
                jobs[index] = self._executor.submit(function, *arguments)
        observations: list[dict[str, Any]] = []
        infos: dict[str, Any] = {}
        rewards = np.zeros(self.num_envs)
        terminated = np.zeros(self.num_envs, bool)
        truncated = np.zeros(self.num_envs, bool)
        for index in range(self.num_envs):
            if index in jobs:
                outcome = self._outcome(index, jobs[index].result())
                observation, rewards[index], terminated[index], truncated[index], info = outcome
            else:
                observation, info = self._start(index, None, None)
            observations.append(observation)
            infos = self._add_info(infos, info, index)
        self._ended = terminated | truncated
        return self._batch(observations), rewards, terminated, truncated, infos

    def _batch(self, observations: list[dict[str, Any]]) -> dict[str, Any]:
        assert isinstance(self.single_observation_space, spaces.Dict)
        batched: dict[str, Any] = {}
        for key, space in self.single_observation_space.spaces.items():
            values = [observation[key] for observation in observations]
            batched[key] = np.stack(values) if space.shape is not None else tuple(values)
        return batched

    def close_extras(self, **_: Any) -> None:
        """End the threads of our own executor."""
        if self._own_executor:
            self._executor.shutdown()
