"""How fast and how right: `python benchmarks/throughput.py --tasks 60 --patches 480`.

On the same patches and in one run: our grading, unconfirmed and confirmed, against copying the tree
and running `python -m pytest` on the full suite in a fresh process. Prints medians of the ratios,
resets, two workers against one, memory and leaks; exits 1 when a single decision differs. With
`--rows` every patch's figures are kept, and a run that was killed goes on where it was; with
`--processes` tasks are shared out, and what is compared runs beside the same kind of work.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from plain import run_plainly

from gym_codefix.catalog import Task, select
from gym_codefix.grading.mutation import apply_mutation, enumerate_mutations
from gym_codefix.grading.repair import Problem, excerpt, grade, load_problem
from gym_codefix.runtime import NotPrepared, Runtime

_SUBPROCESS_SHARE = 0.3
_PROGRESS_EVERY_S = 60


@dataclass(frozen=True)
class Patch:
    """Edits of the broken tree. ``kind``: gold, wrong, near (a right patch and a second mutation),
    import (breaks at import time), subprocess (breaks only where a process is started)."""

    problem: Problem
    kind: str
    edits: dict[str, str]


def mutated(problem: Problem, base: dict[str, str], rng: random.Random) -> dict[str, str] | None:
    """``base`` with one more mutation in a file that tests run."""
    coverage = problem.snapshot.baseline.coverage
    paths = [path for path in problem.snapshot.source_files() if coverage.lines(path)]
    path = rng.choice(paths)
    text = base.get(path) or problem.read(path)
    if text is None:
        return None
    mutations = [m for m in enumerate_mutations(text) if m.line in coverage.lines(path)]
    if not mutations:
        return None
    return {**base, path: apply_mutation(text, rng.choice(mutations))}


def patches_of(problem: Problem, count: int, rng: random.Random) -> Iterator[Patch]:
    gold = problem.reference_edits()
    yield Patch(problem, "gold", gold)
    path, text = next(iter(gold.items()))
    yield Patch(problem, "import", {**gold, path: text + "\nraise RuntimeError('at import')\n"})
    # Where tests wait for what they start, the plain run takes a minute and more.
    if problem.snapshot.baseline.coverage.always and rng.random() < _SUBPROCESS_SHARE:
        stop = (
            "\nimport sys as _sys\nif 'pytest' not in _sys.modules:\n    raise RuntimeError('no')\n"
        )
        yield Patch(problem, "subprocess", {**gold, path: text + stop})
    for index in range(count):
        if index % 2:
            edits = mutated(problem, gold, rng)
            kind = "near"
        else:
            edits = mutated(problem, {}, rng)
            kind = "wrong"
        if edits is not None:
            yield Patch(problem, kind, edits)


@dataclass(frozen=True)
class Row:
    """What was measured on one patch. Seconds; ``right``: what the plain run decides."""

    patch: int
    task: str
    kind: str
    right: bool
    plain_s: float
    ours_s: float
    confirmed_s: float
    differs: bool
    why: str

    @property
    def name(self) -> str:
        return f"{self.kind}/{'right' if self.right else 'wrong'}"


class Rows:
    """Measured rows by the number of their patch, kept in a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.touch()

    def read(self) -> dict[int, Row]:
        rows = [Row(**json.loads(line)) for line in self._path.read_text().splitlines()]
        return {row.patch: row for row in rows}

    def add(self, row: Row) -> None:
        with open(self._path, "a") as file:  # short lines are appended whole
            file.write(json.dumps(vars(row)) + "\n")


def measure(numbered: list[tuple[int, Patch]], rows: Rows) -> None:
    """Grade patches, those of a task together, and run them plainly."""
    runtime = Runtime()
    warm: set[str] = set()
    for number, patch in numbered:
        task = patch.problem.task.id
        if task not in warm:  # as in training: a known task, an unseen patch
            warm.add(task)
            edits = patch.problem.reference_edits()
            other = mutated(patch.problem, edits, random.Random(task)) or {}
            timed_grade(replace(patch, edits=other), runtime, confirm=False)
        ours, passes, why = timed_grade(patch, runtime, confirm=False)
        sure, passes_confirmed, why_confirmed = timed_grade(patch, runtime, confirm=True)
        plain = run_plainly(patch.problem.snapshot, patch.problem.over_pristine(patch.edits))
        right = plain.decides(patch.problem.kept | set(patch.problem.task.flips))
        differs = not why.startswith("refused") and {passes, passes_confirmed} != {right}
        both = f"{why} | {why_confirmed}"
        row = Row(number, task, patch.kind, right, plain.seconds, ours, sure, differs, both)
        rows.add(row)
        if differs:
            print("DIFFERENT", row, flush=True)
    runtime.close()


def measure_all(patches: list[Patch], rows: Rows, processes: int) -> list[Row]:
    """Every patch once; tasks are dealt out to so many processes."""
    tasks = list(dict.fromkeys(patch.problem.task.id for patch in patches))
    done = rows.read()
    for number, row in done.items():
        if number >= len(patches) or row.task != patches[number].problem.task.id:
            sys.exit("the rows are those of a run with other arguments")
    left = [(n, patch) for n, patch in enumerate(patches) if n not in done]
    shares: list[list[tuple[int, Patch]]] = [[] for _ in range(processes)]
    for number, patch in left:
        shares[tasks.index(patch.problem.task.id) % processes].append((number, patch))
    workers = [
        multiprocessing.get_context("fork").Process(target=measure, args=(share, rows))
        for share in shares
    ]
    for worker in workers:
        worker.start()
    while alive := [worker for worker in workers if worker.is_alive()]:
        alive[0].join(_PROGRESS_EVERY_S)
        done = rows.read()
        print(f"{len(done)}/{len(patches)}", json.dumps(medians_by_kind(done.values())), flush=True)
    if any(worker.exitcode for worker in workers):
        sys.exit("a measuring process failed")
    return [rows.read()[number] for number in range(len(patches))]


def timed_grade(patch: Patch, runtime: Runtime, *, confirm: bool) -> tuple[float, bool, str]:
    started = time.perf_counter()
    graded = grade(patch.problem, patch.edits, runtime, confirm=confirm)
    return time.perf_counter() - started, graded.tests_pass, graded.explanation


def medians_by_kind(rows: Iterable[Row]) -> dict[str, tuple[float, int]]:
    kinds: dict[str, list[float]] = {}
    for row in rows:
        kinds.setdefault(row.name, []).append(row.plain_s / row.ours_s)
    return {
        kind: (round(statistics.median(ratios), 1), len(ratios))
        for kind, ratios in sorted(kinds.items())
    }


def report_resets(tasks: list[Task], runtime: Runtime) -> dict[str, float]:
    """Milliseconds from a task to its observation, everything prepared."""
    for task in tasks:
        load_problem(task, runtime)
    times: dict[str, list[float]] = {}
    for _ in range(10):
        for task in tasks:
            started = time.perf_counter()
            excerpt(load_problem(task, runtime), 6_000)
            times.setdefault(task.repository, []).append(1e3 * (time.perf_counter() - started))
    every = sorted(value for values in times.values() for value in values)
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {
        "median_ms": statistics.median(every),
        "p99_ms": every[int(0.99 * (len(every) - 1))],
        "fastest_repository_ms": min(medians.values()),
        "slowest_repository_ms": max(medians.values()),
    }


def report_workers(patches: list[Patch], runtime: Runtime) -> float:
    """Wall time of one worker over that of two, on the same gradings."""

    def run(workers: int) -> float:
        started = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda patch: timed_grade(patch, runtime, confirm=False), patches))
        return time.perf_counter() - started

    run(2)
    return statistics.median(run(1) / run(2) for _ in range(3))


def tree_usage(pid: int) -> tuple[int, int]:
    """Processes below ``pid`` and their proportional memory in bytes."""
    count, total, todo = 0, 0, [pid]
    while todo:
        current = todo.pop()
        try:
            for task in os.listdir(f"/proc/{current}/task"):
                text = Path(f"/proc/{current}/task/{task}/children").read_text()
                todo += map(int, text.split())
            lines = Path(f"/proc/{current}/smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
            count += 1
        except (OSError, StopIteration):
            continue
    return count, total


def state() -> dict[str, float]:
    """What must not grow."""
    processes, memory = tree_usage(os.getpid())
    return {
        "processes": processes,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "memory_mib": round(memory / 2**20, 1),
        "temporary_files": len(os.listdir("/tmp")),
    }


def report_leaks(patch: Patch, runtime: Runtime, episodes: int) -> dict[str, dict[str, float]]:
    for _ in range(20):
        timed_grade(patch, runtime, confirm=False)
    gc.collect()
    before = state()
    for _ in range(episodes):
        timed_grade(patch, runtime, confirm=False)
    gc.collect()
    return {"before": before, "after": state()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", default="lite")
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--patches", type=int, default=500)
    parser.add_argument("--episodes", type=int, default=2000, help="for the leak check; 0: none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=Path, help="keep every patch's figures, and go on from them")
    parser.add_argument("--processes", type=int, default=1, help="measure so many tasks at once")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    arguments = parser.parse_args()
    print("$", " ".join(["python", *sys.argv]), flush=True)
    rng = random.Random(arguments.seed)
    runtime = Runtime()
    tasks = rng.sample(
        list(select(arguments.suite).tasks),
        min(arguments.tasks, len(select(arguments.suite).tasks)),
    )
    problems = []
    for task in tasks:
        try:
            problems.append(load_problem(task, runtime))
        except NotPrepared as error:
            sys.exit(str(error))
    figures: dict[str, object] = {"isolation": runtime.isolation, "tasks": len(tasks)}
    figures["reset"] = report_resets(tasks, runtime)
    print("reset", json.dumps(figures["reset"]), flush=True)
    each = max(1, arguments.patches // len(problems))
    patches = [patch for p in problems for patch in patches_of(p, each, rng)][
        : arguments.patches + 3 * len(problems)
    ]
    with tempfile.TemporaryDirectory() as folder:
        kept = Rows(arguments.rows or Path(folder, "rows.jsonl"))
        rows = measure_all(patches, kept, arguments.processes)
    right, wrong = ([row for row in rows if row.right is side] for side in (True, False))
    differences = [row for row in rows if row.differs]
    figures |= {
        "patches": len(rows),
        "speedup_median_and_count_by_kind": medians_by_kind(rows),
        "decisions_that_differ": len(differences),
        "wrong_patch_speedup_median": statistics.median(r.plain_s / r.ours_s for r in wrong),
        "right_patch_speedup_median": statistics.median(r.plain_s / r.ours_s for r in right),
        "right_patch_confirmed_speedup_median": statistics.median(
            r.plain_s / r.confirmed_s for r in right
        ),
    }
    sample = [patch for patch in patches if patch.kind in ("gold", "wrong")][:60]
    figures["two_workers_over_one"] = report_workers(sample, runtime)
    pids = runtime.server_pids()
    figures["memory_mib_per_idle_server"] = round(
        statistics.mean(tree_usage(pid)[1] for pid in pids) / 2**20, 1
    )
    if arguments.episodes:
        figures["leaks"] = report_leaks(patches[0], runtime, arguments.episodes)
    figures["disk_gib"] = round(runtime.store.disk_bytes() / 2**30, 3)
    runtime.close()
    text = json.dumps(figures, indent=1)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n")
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
