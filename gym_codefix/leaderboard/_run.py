"""Run agents over a suite and make their rows."""

from __future__ import annotations

import hashlib
import re
import subprocess
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gym_codefix.agents import Agent
from gym_codefix.agents.loop import LoopAgent
from gym_codefix.catalog import Suite, manifests, repos_root
from gym_codefix.leaderboard._aggregate import aggregate
from gym_codefix.leaderboard._episodes import SIMPLE, episodes_of
from gym_codefix.leaderboard._files import write_records, write_result
from gym_codefix.leaderboard._record import EpisodeRecord
from gym_codefix.leaderboard._result import Result, python_version

Progress = Callable[[int], None]


def run_agent(
    suite: Suite,
    agent: Agent | LoopAgent,
    out: Path,
    *,
    env_id: str = SIMPLE,
    seed: int = 0,
    workers: int = 2,
    isolation: str = "auto",
    command: str,
    progress: Progress = lambda done: None,
) -> tuple[Result, list[EpisodeRecord]]:
    """Play every task of a suite once and write the row and its records into ``out``.

    ``agent``: one of the environment that ``env_id`` names.
    """
    episodes = episodes_of(env_id)(suite, isolation)
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
    name = row_name(agent.name, env_id)
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


def row_name(agent: str, env_id: str) -> str:
    """The name of a row's file, without its ending: agents have a row in each environment."""
    plain = re.sub(r"[^A-Za-z0-9._]+", "-", agent).strip("-._") or "agent"
    return plain if env_id == SIMPLE else f"{plain}-{env_id.partition('/')[2].lower()}"


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
