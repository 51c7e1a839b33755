"""When each task can start, when it must, and who does it. Times are minutes from the start."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from taskgraph.graph import TaskGraph


@dataclass(frozen=True)
class Window:
    """The earliest and the latest start of a task that keep the whole plan as short as it is."""

    earliest: int
    latest: int
    minutes: int

    @property
    def slack(self) -> int:
        return self.latest - self.earliest

    @property
    def is_critical(self) -> bool:
        return self.slack == 0


@dataclass(frozen=True)
class Assignment:
    task: str
    worker: int
    start: int
    end: int


@dataclass(frozen=True)
class Schedule:
    """Assignments by start, then by worker."""

    assignments: tuple[Assignment, ...]
    workers: int

    @property
    def makespan(self) -> int:
        return max((assignment.end for assignment in self.assignments), default=0)

    @property
    def utilisation(self) -> float:
        """The share of the workers' time that is work, from 0 to 1."""
        available = self.makespan * self.workers
        if available == 0:
            return 0.0
        return sum(item.end - item.start for item in self.assignments) / available

    def of_worker(self, worker: int) -> list[Assignment]:
        """One worker's assignments. Raises ValueError for a worker that there is not."""
        if not 0 <= worker < self.workers:
            raise ValueError(f"workers are 0 to {self.workers - 1}, not {worker}")
        return [item for item in self.assignments if item.worker == worker]

    def render(self, *, minutes_per_column: int = 30) -> str:
        """A bar for each task: `#` where it runs, `.` before that."""
        if minutes_per_column < 1:
            raise ValueError("a column must be at least one minute")
        width = max((len(item.task) for item in self.assignments), default=0)
        lines: list[str] = []
        for item in self.assignments:
            before = item.start // minutes_per_column
            until = -(-item.end // minutes_per_column)
            bar = "." * before + "#" * max(until - before, 1)
            lines.append(f"{item.task:<{width}} |{bar}")
        return "\n".join(lines)


def analyse(graph: TaskGraph) -> dict[str, Window]:
    """The window of each task with as many workers as it takes, in a valid order of the tasks."""
    order = graph.order()
    earliest: dict[str, int] = {}
    for name in order:
        ends = [earliest[need] + graph[need].minutes for need in graph[name].needs]
        earliest[name] = max(ends, default=0)
    finish = max((earliest[name] + graph[name].minutes for name in order), default=0)
    latest: dict[str, int] = {}
    for name in reversed(order):
        deadline = min((latest[task] for task in graph.dependents(name)), default=finish)
        latest[name] = deadline - graph[name].minutes
    return {name: Window(earliest[name], latest[name], graph[name].minutes) for name in order}


def critical_path(graph: TaskGraph) -> list[str]:
    """A chain of tasks without slack from the start to the end of the plan; [] for no tasks.

    Of several such chains, the one whose tasks come first in the order.
    """
    windows = analyse(graph)
    path: list[str] = []
    clock = 0
    for name, window in windows.items():
        follows = not path or path[-1] in graph[name].needs
        if window.is_critical and window.earliest == clock and follows:
            path.append(name)
            clock += window.minutes
    return path


def schedule(graph: TaskGraph, *, workers: int) -> Schedule:
    """Share the tasks among workers, each task done by one without a break.

    Whenever a worker is free, the startable task of the highest priority goes to the one with the
    lowest number; equal priorities go by the latest start, then by name. Raises ValueError
    without a worker.
    """
    if workers < 1:
        raise ValueError("at least one worker is needed")
    windows = analyse(graph)
    open_needs = {task.name: len(task.needs) for task in graph}
    ready: list[tuple[int, int, str]] = []

    def make_ready(name: str) -> None:
        heapq.heappush(ready, (-graph[name].priority, windows[name].latest, name))

    for name, count in open_needs.items():
        if count == 0:
            make_ready(name)
    idle = list(range(workers))
    running: list[tuple[int, int, str]] = []
    done: list[Assignment] = []
    clock = 0
    while ready or running:
        while ready and idle:
            _, _, name = heapq.heappop(ready)
            worker = heapq.heappop(idle)
            end = clock + graph[name].minutes
            done.append(Assignment(name, worker, clock, end))
            heapq.heappush(running, (end, worker, name))
        clock = running[0][0]
        while running and running[0][0] == clock:
            _, worker, name = heapq.heappop(running)
            heapq.heappush(idle, worker)
            for dependent in graph.dependents(name):
                open_needs[dependent] -= 1
                if open_needs[dependent] == 0:
                    make_ready(dependent)
    done.sort(key=lambda item: (item.start, item.worker))
    return Schedule(tuple(done), workers)
