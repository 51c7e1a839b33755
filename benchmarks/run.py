"""The main job: prepare, run the reference agents on a suite, rank them, write the board.

`python benchmarks/run.py` runs the quick references on `lite`, in both environments and within ten
minutes from nothing; `make benchmark-full` adds the slow ones and the other suites.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import threading
import time
from collections.abc import Callable, Container, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console

from gym_codefix.agents import make_agent
from gym_codefix.agents.loop import make_loop_agent
from gym_codefix.catalog import Task, select
from gym_codefix.console import Steps
from gym_codefix.envs.loop import load_workbench
from gym_codefix.grading.repair import load_problem, prepare_task
from gym_codefix.leaderboard import (
    FULL,
    SIMPLE,
    EpisodeRecord,
    LeaderboardError,
    Result,
    build_page,
    read_run,
    render_columns,
    render_table,
    run_agent,
)
from gym_codefix.runtime import PrepareError, StoreError, default_runtime

ROOT = Path(__file__).resolve().parent.parent
AGENTS = {SIMPLE: ("noop", "random", "search@1", "gold"), FULL: ("noop", "random", "gold")}
_CHOICES = {"simple": (SIMPLE,), "full": (FULL,), "both": (SIMPLE, FULL)}


def _each_snapshot_first(tasks: Iterable[Task]) -> list[Task]:
    """So that no worker waits while another prepares the snapshot that both need."""
    seen: set[tuple[str, str, str | None]] = set()
    first, others = [], []
    for task in tasks:
        snapshot = (task.repository, task.release, task.tests_release)
        (others if snapshot in seen else first).append(task)
        seen.add(snapshot)
    return first + others


def _rows_beside(
    out: Path, suite_hash: str, made: Container[tuple[str, str]]
) -> list[tuple[Result, list[EpisodeRecord]]]:
    """Rows of the same tasks that earlier runs left on the board, such as that of a slow agent."""
    found = []
    for path in sorted(out.glob("*.json")):
        try:
            result, records = read_run(path)
        except (LeaderboardError, OSError) as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        if result.suite.hash == suite_hash and _key(result) not in made:
            found.append((result, records))
    return found


def _key(result: Result) -> tuple[str, str]:
    return result.agent, result.board[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", choices=tuple(_CHOICES), default="both")
    parser.add_argument("--suite", default="lite")
    parser.add_argument("--agents", nargs="+", metavar="AGENT", help="of CodeRepair-Simple")
    parser.add_argument("--loop-agents", nargs="+", metavar="AGENT", help="of CodeRepair-Full")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, help="default: leaderboards/SUITE")
    arguments = parser.parse_args()
    env_ids = _CHOICES[arguments.env]
    agents: list[tuple[str, Any]] = []
    try:
        suite = select(arguments.suite)
        for env_id in env_ids:
            given = arguments.loop_agents if env_id == FULL else arguments.agents
            make: Callable[..., Any] = make_loop_agent if env_id == FULL else make_agent
            for name in given or AGENTS[env_id]:
                agents.append((env_id, make(name, seed=arguments.seed)))
    except ValueError as error:
        sys.exit(f"error: {error}")
    if not suite.tasks:
        sys.exit(f"error: suite {suite.name} holds no task; `gym-codefix tasks list` shows them")
    out = arguments.out or ROOT / "leaderboards" / suite.name
    command = f"python benchmarks/run.py {shlex.join(sys.argv[1:])}".strip()
    console = Console()
    console.print(f"$ {command}", markup=False)
    console.print(f"suite {suite.name}: {len(suite.tasks)} tasks, hash {suite.hash[:16]}")
    started = time.monotonic()
    runtime = default_runtime()
    console.print(f"isolation {runtime.isolation}, store {runtime.store.home}", markup=False)
    runs = []
    with Steps(console) as steps:
        tell, prepared, lock = steps.start("prepare", len(suite.tasks)), 0, threading.Lock()

        def ready(task: Task) -> None:
            try:
                prepare_task(task, runtime)
                if SIMPLE in env_ids:
                    load_problem(task, runtime)
                if FULL in env_ids:
                    assert load_workbench(task, runtime).first.stage
            except (PrepareError, StoreError) as error:
                raise SystemExit(
                    f"error: {task.repository} {task.release} cannot be prepared\n{error}"
                ) from error
            nonlocal prepared
            with lock:
                prepared += 1
                tell(prepared, task.repository)

        with ThreadPoolExecutor(arguments.workers) as pool:
            list(pool.map(ready, _each_snapshot_first(suite.tasks)))
        console.print(f"prepared: {time.monotonic() - started:.0f} s")
        for env_id, agent in agents:
            name = agent.name if env_id == SIMPLE else f"{agent.name} in the loop"
            runs.append(
                run_agent(
                    suite,
                    agent,
                    out,
                    env_id=env_id,
                    seed=arguments.seed,
                    workers=arguments.workers,
                    command=command,
                    progress=steps.start(name, len(suite.tasks)),
                )
            )
    made = {_key(result): result for result, _ in runs}
    runs += _rows_beside(out, suite.hash, made)
    results = [result for result, _ in runs]
    console.print(render_table(results), *render_columns(results))
    page = out / "index.html"
    build_page(runs, page, title=f"gym_codefix: {suite.name}")
    console.print(
        f"{page} and the rows and records beside it; {time.monotonic() - started:.0f} s",
        markup=False,
    )
    for (name, environment), result in made.items():
        wanted = {"gold": 1.0, "noop": 0.0}.get(name)
        found = result.metrics.resolved_at_1.value
        if wanted is not None and found != wanted:
            sys.exit(f"error: {name} resolves {found} in {environment}, not {wanted}")


if __name__ == "__main__":
    main()
