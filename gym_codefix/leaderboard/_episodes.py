"""Single episodes through ``gym.make``: played by an agent, or again from a record."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

from gym_codefix import ENVIRONMENT_IDS
from gym_codefix.agents import make_agent
from gym_codefix.agents.loop import Episode, LoopAgent, make_loop_agent, play_episode
from gym_codefix.catalog import Suite, Task
from gym_codefix.chat import ChatError
from gym_codefix.leaderboard._record import (
    REFERENCE_AGENT,
    REFERENCE_PREFIX,
    EpisodeRecord,
    task_facts,
)

SIMPLE, FULL = ENVIRONMENT_IDS


class Episodes:
    """Plays single episodes; every thread has an environment of its own."""

    env_id = SIMPLE

    def __init__(self, suite: Suite, isolation: str = "auto") -> None:
        self._suite, self._isolation = suite, isolation
        self._local = threading.local()

    def _environment(self) -> Any:
        if not hasattr(self._local, "environment"):
            self._local.environment = gymnasium.make(
                f"gym_codefix:{self.env_id}",
                suite=self._suite.name,
                isolation=self._isolation,
                disable_env_checker=True,
            )
        return self._local.environment

    def play(self, task: Task, agent: Any, seed: int) -> EpisodeRecord:
        """One episode of an agent."""
        started = time.perf_counter()
        environment = self._environment()
        observation, _ = environment.reset(seed=seed, options={"task_id": task.id})
        bare = environment.unwrapped
        action = agent.act(observation, bare.problem, bare.episodes.runtime)
        published = REFERENCE_PREFIX + task.id if agent.name == REFERENCE_AGENT else action
        return self._step(environment, task, seed, action, published, started)

    def replay(self, record: EpisodeRecord) -> EpisodeRecord:
        """The episode again from its recorded action, without the agent."""
        started = time.perf_counter()
        task = self._suite.task(record.task_id)
        environment = self._environment()
        observation, _ = environment.reset(seed=record.seed, options={"task_id": task.id})
        action = record.action
        if action == REFERENCE_PREFIX + task.id:
            bare = environment.unwrapped
            gold = make_agent(REFERENCE_AGENT)
            action = gold.act(observation, bare.problem, bare.episodes.runtime)
        return self._step(environment, task, record.seed, action, record.action, started)

    def _step(
        self,
        environment: Any,
        task: Task,
        seed: int,
        action: str,
        published: str,
        started: float,
    ) -> EpisodeRecord:
        log = environment.unwrapped.problem.log
        _, reward, _, _, info = environment.step(action)
        return self._record(task, seed, published, reward, info, log, started)

    def _record(
        self,
        task: Task,
        seed: int,
        published: str,
        reward: float,
        info: Mapping[str, Any],
        log: str,
        started: float,
        tokens: int | None = None,
        **facts: Any,
    ) -> EpisodeRecord:
        """``facts``: more of the verdict."""
        return EpisodeRecord(
            env_id=self.env_id,
            task_id=task.id,
            **task_facts(task),
            seed=seed,
            action=published,
            action_error=info.get("action_error"),
            reward=reward,
            reward_parts=info["reward_parts"],
            resolved=info.get("resolved", False),
            reward_valid=info["reward_valid"],
            failure_reason=info["failure_reason"],
            overfit=info.get("overfit", False),
            tampering=info.get("tampering", False),
            malformed="action_error" in info,
            refused=info.get("refused", False),
            isolation=info["isolation"],
            verdict={
                "log_sha256": hashlib.sha256(log.encode()).hexdigest(),
                "tests": {"flips": len(task.flips), "hidden": len(task.hidden)},
                **facts,
            },
            tokens=tokens,
            seconds=time.perf_counter() - started,
        )


class LoopEpisodes(Episodes):
    """Plays whole loops of CodeRepair-Full. An action is a JSON list of the calls."""

    env_id = FULL

    def play(self, task: Task, agent: Any, seed: int) -> EpisodeRecord:
        """One episode of an agent of the loop."""
        return self._loop(task, seed, agent, REFERENCE_PREFIX + task.id)

    def replay(self, record: EpisodeRecord) -> EpisodeRecord:
        """The episode again from its recorded calls, without the agent."""
        task = self._suite.task(record.task_id)
        if record.action == REFERENCE_PREFIX + task.id:
            return self._loop(task, record.seed, make_loop_agent(REFERENCE_AGENT), record.action)
        return self._loop(task, record.seed, _Recorded(json.loads(record.action)), "")

    def _loop(self, task: Task, seed: int, agent: LoopAgent, reference: str) -> EpisodeRecord:
        started = time.perf_counter()
        environment = self._environment()
        observation, info = environment.reset(seed=seed, options={"task_id": task.id})
        log = observation["log"]
        episode = agent.episode(observation, environment.unwrapped.bench)
        calls: list[str] = []
        reward = 0.0
        try:
            reward, last = play_episode(environment, episode, calls)
            info |= last
        except ChatError as error:
            info |= {"reward_valid": False, "failure_reason": str(error)}
        own = agent.name == REFERENCE_AGENT
        published = reference if own else json.dumps(calls, ensure_ascii=False)
        builds = environment.unwrapped.session.builds
        return self._record(
            task,
            seed,
            published,
            reward,
            info,
            log,
            started,
            tokens=getattr(episode, "tokens", None),
            steps=len(calls),
            builds=builds,
        )


class _Recorded:
    """Plays calls back."""

    name = "recorded"
    parameters: Mapping[str, Any] = {}

    def __init__(self, calls: Sequence[str]) -> None:
        self._calls = calls

    def episode(self, observation: Mapping[str, Any], bench: Any) -> Episode:
        for action in self._calls:  # noqa: UP028 - nothing can be sent to a list
            yield action


def episodes_of(env_id: str) -> type[Episodes]:
    """What plays an environment (raises ValueError naming the valid ids)."""
    known = {kind.env_id: kind for kind in (Episodes, LoopEpisodes)}
    if env_id not in known:
        raise ValueError(f"unknown environment {env_id!r}; valid: {', '.join(known)}")
    return known[env_id]
