"""The main job: prepare, run the reference agents on a suite, rank them, write the board.

`python benchmarks/run.py` runs the quick references on `lite`, within ten minutes from nothing;
`make benchmark-full` adds `search@10` and `search@100`, and the suite `full`.
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
from gym_codefix.agents.loop import LOOP_AGENTS, make_loop_agent
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
    render_table,
    run_agent,
)
from gym_codefix.runtime import PrepareError, StoreError, default_runtime

ROOT = Path(__file__).resolve().parent.parent
AGENTS = ("noop", "random", "search@1", "gold")


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
    out: Path, suite_hash: str, names: Container[str]
) -> list[tuple[Result, list[EpisodeRecord]]]:
    """Rows of the same tasks that earlier runs left on the board, such as that of a slow agent."""
    found = []
    for path in sorted(out.glob("*.json")):
        try:
            result, records = read_run(path)
        except (LeaderboardError, OSError) as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        if result.suite.hash == suite_hash and result.agent not in names:
            found.append((result, records))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", choices=(SIMPLE, FULL), default=SIMPLE)
    parser.add_argument("--suite", help="default: lite, of the build loop dependency-lite")
    parser.add_argument(
        "--agents", nargs="+", metavar="AGENT", help="default: the quick references"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, help="default: leaderboards/SUITE")
    arguments = parser.parse_args()
    try:
        loop = arguments.env == FULL
        suite = select(arguments.suite or ("dependency-lite" if loop else "lite"))
        names = arguments.agents or (LOOP_AGENTS if loop else AGENTS)
        make: Callable[..., Any] = make_loop_agent if loop else make_agent
        agents = [make(name, seed=arguments.seed) for name in names]
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
                if loop:
                    assert load_workbench(task, runtime).first.stage
                else:
                    load_problem(task, runtime)
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
        for agent in agents:
            tell = steps.start(agent.name, len(suite.tasks))
            runs.append(
                run_agent(
                    suite,
                    agent,
                    out,
                    env_id=arguments.env,
                    seed=arguments.seed,
                    workers=arguments.workers,
                    command=command,
                    progress=tell,
                )
            )
    by_name = {result.agent: result for result, _ in runs}
    runs += _rows_beside(out, suite.hash, by_name)
    console.print(render_table([result for result, _ in runs]))
    page = out / "index.html"
    build_page(runs, page, title=f"gym_codefix: {suite.name}")
    console.print(
        f"{page} and the rows and records beside it; {time.monotonic() - started:.0f} s",
        markup=False,
    )
    for name, wanted in (("gold", 1.0), ("noop", 0.0)):
        if name in by_name and by_name[name].metrics.resolved_at_1.value != wanted:
            value = by_name[name].metrics.resolved_at_1.value
            sys.exit(f"error: {name} resolves {value}, not {wanted}")


if __name__ == "__main__":
    main()
