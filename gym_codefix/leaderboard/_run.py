"""Run agents over a suite through ``gym.make`` and make their rows."""

from __future__ import annotations

import hashlib
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium

from gym_codefix.agents import Agent, make_agent
from gym_codefix.catalog import Suite, Task, manifests, repos_root
from gym_codefix.leaderboard._aggregate import aggregate
from gym_codefix.leaderboard._files import write_records, write_result
from gym_codefix.leaderboard._record import (
    REFERENCE_AGENT,
    REFERENCE_PREFIX,
    EpisodeRecord,
    task_facts,
)
from gym_codefix.leaderboard._result import Result, python_version

ENVIRONMENT = "gym_codefix:gym_codefix/CodeRepair-Simple-v0"
Progress = Callable[[int], None]


class Episodes:
    """Plays single episodes; every thread has an environment of its own."""

    def __init__(self, suite: Suite, isolation: str = "auto") -> None:
        self._suite, self._isolation = suite, isolation
        self._local = threading.local()

    def _environment(self) -> Any:
        if not hasattr(self._local, "environment"):
            self._local.environment = gymnasium.make(
                ENVIRONMENT,
                suite=self._suite.name,
                isolation=self._isolation,
                disable_env_checker=True,
            )
        return self._local.environment

    def play(self, task: Task, agent: Agent, seed: int) -> EpisodeRecord:
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
        return EpisodeRecord(
            env_id=ENVIRONMENT.partition(":")[2],
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
            },
            seconds=time.perf_counter() - started,
        )


def run_agent(
    suite: Suite,
    agent: Agent,
    out: Path,
    *,
    seed: int = 0,
    workers: int = 2,
    isolation: str = "auto",
    command: str,
    progress: Progress = lambda done: None,
) -> tuple[Result, list[EpisodeRecord]]:
    """Play every task of a suite once and write the row and its records into ``out``."""
    episodes = Episodes(suite, isolation)
    records: list[EpisodeRecord | None] = [None] * len(suite.tasks)
    done = 0
    lock = threading.Lock()

    def play(index: int) -> None:
        nonlocal done
        records[index] = episodes.play(suite.tasks[index], agent, seed)
        with lock:
            done += 1
            progress(done)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(play, range(len(suite.tasks))))
    played = [record for record in records if record is not None]
    name = agent.name.replace("@", "-")
    commit, dirty = git_state()
    result = aggregate(
        played,
        suite.tasks,
        agent=agent.name,
        parameters=agent.parameters,
        suite_name=suite.name,
        suite_hash=suite.hash,
        git_commit=commit,
        git_dirty=dirty,
        lock_sha256=lock_hash(task.repository for task in suite.tasks),
        python=python_version(),
        records_file=f"{name}.records.jsonl",
        command=command,
    )
    out.mkdir(parents=True, exist_ok=True)
    write_records(played, out / f"{name}.records.jsonl")
    write_result(result, out / f"{name}.json")
    return result, played


def lock_hash(repositories: Iterable[str]) -> str:
    """sha256 over every lock that these repositories use."""
    known = manifests()
    locks = {
        lock: known[name].place(lock)
        for name in repositories
        for lock in (known[name].requirements, known[name].runner)
        if lock
    }
    digest = hashlib.sha256()
    for lock in sorted(locks):
        digest.update(lock.encode() + b"\0" + locks[lock].read_bytes())
    return digest.hexdigest()


def git_state() -> tuple[str | None, bool]:
    """The commit of the checkout that holds the catalogue, and whether it has changes."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(repos_root()), *arguments],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    try:
        changes = git("status", "--porcelain", "--", "..", ":!../leaderboards")
        return git("rev-parse", "HEAD"), bool(changes)
    except (OSError, subprocess.CalledProcessError):
        return None, False
