"""The build loop against the plain way: `python benchmarks/build_loop.py --tasks 20 --seed 0`.

A rebuild after a source edit is compared with what a developer would do from nothing: make a
virtual environment, install the lock, copy the tree, run the full suite. Both build the same states
(the broken one, the repaired one, one that breaks elsewhere) and must say the same of every one. A
swap of versions is timed alone. Episodes in parallel must give what they give alone.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plain import run_plainly
from uv import find_uv_bin

from gym_codefix.agents.loop import make_loop_agent
from gym_codefix.catalog import Task, select
from gym_codefix.envs.loop import Workbench, load_workbench
from gym_codefix.grading.build import constraints_of
from gym_codefix.grading.mutation import apply_mutation, enumerate_mutations
from gym_codefix.grading.repair import prepare_task
from gym_codefix.leaderboard import FULL, episodes_of
from gym_codefix.runtime import Snapshot, default_runtime

MOST_PER_REPOSITORY = 2


def states(bench: Workbench, rng: random.Random) -> dict[str, Mapping[str, str]]:
    """Edits of the snapshot's tree, by what they are."""
    assert bench.problem is not None
    found: dict[str, Mapping[str, str]] = {
        "broken": dict(bench.problem.broken),
        "repaired": dict(bench.problem.gold),
    }
    path = rng.choice(bench.snapshot.source_files())
    text = bench.snapshot.read(path) or ""
    try:
        mutations = enumerate_mutations(text)
    except ValueError:
        mutations = []
    if mutations:
        found["mutated elsewhere"] = {path: apply_mutation(text, rng.choice(mutations))}
    return found


def from_nothing(snapshot: Snapshot, edits: Mapping[str, str]) -> tuple[frozenset[str], float]:
    """Tests that pass, and seconds: a new environment from the lock, then the plain run."""
    started = time.perf_counter()
    known = snapshot.manifest
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "venv"
        uv = [find_uv_bin(), "--quiet", "--offline"]
        uv += ["--cache-dir", str(default_runtime().store.home / "uv")]
        subprocess.run([*uv, "venv", "--python", sys.executable, str(place)], check=True)
        install = [*uv, "pip", "install", "--python", str(place / "bin" / "python"), "--no-deps"]
        for lock in (known.requirements, known.runner):
            install += ["--requirement", str(known.place(lock))]
        subprocess.run(install, check=True)
        plain = run_plainly(dataclasses.replace(snapshot, environment=place), edits)
    return plain.passed, time.perf_counter() - started


def rebuilds(benches: list[Workbench], rng: random.Random) -> None:
    """Seconds and verdicts of both ways on the same states."""
    ratios, differing, count = [], 0, 0
    for bench in benches:
        builder = bench.builder()
        wanted = frozenset(bench.visible)
        builder.build({})  # the servers of the snapshot are warm, as they are in an episode
        for name, edits in states(bench, rng).items():
            started = time.perf_counter()
            build = builder.build(edits)
            ours = time.perf_counter() - started
            passed, plain = from_nothing(bench.snapshot, edits)
            same = build.passed == passed & wanted
            count += 1
            differing += not same
            ratios.append(plain / ours)
            print(
                f"{bench.task.id} {name}: {plain:.2f} s / {ours:.2f} s = {plain / ours:.1f}"
                + ("" if same else f", differs: {sorted(build.passed ^ passed & wanted)[:3]}"),
                flush=True,
            )
    print(
        f"rebuild after a source edit: {statistics.median(ratios):.1f} times faster (median of "
        f"{count} states), {differing} verdicts differ"
    )


def swaps(tasks: list[Task]) -> None:
    """Seconds to resolve and install another set of versions that was never installed."""
    runtime = default_runtime()
    seconds = []
    for task in tasks:
        bench = load_workbench(task, runtime)
        for solved in (False, True):
            text = constraints_of(bench.known, task, solved=solved)
            build = bench.builder().build({}, text, bench.floors if solved else ())
            if build.lock is not None:
                taken = build.seconds["resolve"] + build.seconds.get("install", 0.0)
                seconds.append(taken)
                print(f"{task.id}: {taken:.2f} s", flush=True)
    if seconds:
        print(f"swap of versions: {statistics.median(seconds):.2f} s (median of {len(seconds)})")


def parallel(tasks: list[Task], episodes: int, workers: int) -> None:
    """What episodes give side by side against what they give one after the other."""
    chosen = [tasks[number % len(tasks)] for number in range(episodes)]
    suite = select("lite")
    names = ("gold", "noop", "random")
    agents = [make_loop_agent(names[number % len(names)]) for number in range(episodes)]

    def play(pairs: list[tuple[Task, object]], threads: int) -> tuple[list[object], float]:
        player = episodes_of(FULL)(suite)
        started = time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            records = list(pool.map(lambda pair: player.play(pair[0], pair[1], 0), pairs))
        facts = [(record.task_id, record.reward, record.verdict) for record in records]
        return facts, time.perf_counter() - started

    pairs = list(zip(chosen, agents, strict=True))
    alone, slow = play(pairs, 1)
    together, quick = play(pairs, workers)
    differing = sum(one != other for one, other in zip(alone, together, strict=True))
    print(
        f"{episodes} episodes over {workers} workers: {slow:.0f} s alone, {quick:.0f} s together, "
        f"{differing} differ"
    )


def main() -> None:
    """Print every figure from one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print("$ python benchmarks/build_loop.py", *sys.argv[1:])
    rng, runtime = random.Random(arguments.seed), default_runtime()
    tasks: list[Task] = []
    per_repository: dict[str, int] = {}
    for task in select("lite").tasks:
        if not task.id.startswith(("ledgerbook", "pinsolve", "rowquery", "taskgraph")):
            per_repository[task.repository] = per_repository.get(task.repository, 0) + 1
            if per_repository[task.repository] <= MOST_PER_REPOSITORY:
                tasks.append(task)
    tasks = tasks[: arguments.tasks]
    for task in tasks:
        prepare_task(task, runtime)
    rebuilds([load_workbench(task, runtime) for task in tasks], rng)
    versions = [
        task
        for task in select("dependency").tasks
        if task.dependency is not None and task.dependency.goal == "resolve"
    ]
    chosen = rng.sample(versions, min(len(versions), arguments.tasks))
    for task in chosen:
        prepare_task(task, runtime)
    swaps(chosen)
    parallel(tasks, arguments.episodes, arguments.workers)


if __name__ == "__main__":
    main()
