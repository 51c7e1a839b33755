"""Tasks and what they need first."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


class GraphError(ValueError):
    """The tasks do not make a graph that can be planned."""


class CircleError(GraphError):
    """Tasks need each other in a circle; `circle` names them, the first again at the end."""

    def __init__(self, circle: list[str]) -> None:
        super().__init__(" -> ".join(circle))
        self.circle = circle


@dataclass(frozen=True)
class Task:
    """`minutes` of work; among tasks that could start, a higher `priority` goes first."""

    name: str
    minutes: int = 0
    priority: int = 0
    needs: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.name:
            raise GraphError("a task needs a name")
        if self.minutes < 0:
            raise GraphError(f"{self.name} takes {self.minutes} minutes")
        if self.name in self.needs:
            raise CircleError([self.name, self.name])


class TaskGraph:
    """Tasks by name, in the order in which they were added."""

    def __init__(self, tasks: Iterable[Task] = ()) -> None:
        self._tasks: dict[str, Task] = {}
        for task in tasks:
            self.add(task)

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self._tasks.values())

    def __contains__(self, name: str) -> bool:
        return name in self._tasks

    def __getitem__(self, name: str) -> Task:
        try:
            return self._tasks[name]
        except KeyError:
            raise GraphError(f"no task {name!r}") from None

    def add(self, task: Task) -> None:
        """Add a task; what it needs may come later. Raises GraphError for a name in use."""
        if task.name in self._tasks:
            raise GraphError(f"two tasks are named {task.name!r}")
        self._tasks[task.name] = task

    def dependents(self, name: str) -> list[str]:
        """The tasks that need this one directly, in the order in which they were added."""
        self[name]
        return [task.name for task in self if name in task.needs]

    def order(self) -> list[str]:
        """Every task after those it needs; where there is a choice, in the order of adding.

        Raises GraphError for a need that is no task, and CircleError for a circle.
        """
        rank = {name: index for index, name in enumerate(self._tasks)}
        open_needs: dict[str, int] = {}
        for task in self:
            for need in sorted(task.needs):
                if need not in self:
                    raise GraphError(f"{task.name} needs {need!r}, which is no task")
            open_needs[task.name] = len(task.needs)
        ready = [(rank[name], name) for name, count in open_needs.items() if count == 0]
        ordered: list[str] = []
        while ready:
            _, name = heapq.heappop(ready)
            ordered.append(name)
            for dependent in self.dependents(name):
                open_needs[dependent] -= 1
                if open_needs[dependent] == 0:
                    heapq.heappush(ready, (rank[dependent], dependent))
        if len(ordered) < len(self):
            raise CircleError(self._circle(set(self._tasks) - set(ordered)))
        return ordered

    def ancestors(self, name: str) -> set[str]:
        """Everything that has to be done before a task."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for need in self[waiting.pop()].needs:
                if need not in found:
                    found.add(need)
                    waiting.append(need)
        return found

    def without_shortcuts(self) -> TaskGraph:
        """The same graph without needs that follow from other needs of the same task."""
        self.order()
        reduced = TaskGraph()
        for task in self:
            implied = {above for need in task.needs for above in self.ancestors(need)}
            reduced.add(Task(task.name, task.minutes, task.priority, task.needs - implied))
        return reduced

    def _circle(self, stuck: set[str]) -> list[str]:
        """A circle among tasks each of which needs another one of them."""
        path = [min(stuck)]
        while True:
            following = min(need for need in self[path[-1]].needs if need in stuck)
            if following in path:
                return [*path[path.index(following) :], following]
            path.append(following)
