"""Suites: named, ordered, content-hashed sets of tasks."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ._errors import CatalogError
from ._location import repos_root
from ._manifest import SPLITS, manifests
from ._task import KINDS, Task, facts_digest

SUITES = {
    "embedded": "tasks of the libraries written here: offline, nothing to prepare",
    "lite": "60 tasks of the test split, balanced over kinds and repositories",
    "full": "every seeded and release task",
    "train": "every seeded and release task of the train split",
    "dependency": "every task about versions of dependencies",
    "dependency-lite": "40 of these, balanced over goals, stages and repositories",
}
LITE_TASKS = 60
DEPENDENCY_LITE_TASKS = 40


@dataclass(frozen=True)
class Suite:
    """Tasks in a fixed order; ``hash`` is the sha256 of their facts."""

    name: str
    tasks: tuple[Task, ...]

    @functools.cached_property
    def hash(self) -> str:
        return facts_digest(list(self.tasks))

    @functools.cached_property
    def by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks}

    def task(self, task_id: str) -> Task:
        """One task (raises CatalogError)."""
        if task_id not in self.by_id:
            near = [known for known in self.by_id if known.split("/")[0] == task_id.split("/")[0]]
            hint = ", ".join((near or list(self.by_id))[:3])
            raise CatalogError(
                f"unknown task {task_id!r} in suite {self.name!r} "
                f"({len(self.tasks)} tasks, for example {hint})"
            )
        return self.by_id[task_id]


def read_tasks(path: Path) -> list[Task]:
    """The tasks of one file (raises CatalogError with the line)."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"{path}: {error}") from None
    tasks: dict[str, Task] = {}
    for number, line in enumerate(lines, 1):
        try:
            task = Task.from_json(json.loads(line))
        except ValueError as error:
            raise CatalogError(f"{path}:{number}: {error}") from None
        if task.repository != path.stem:
            raise CatalogError(f"{path}:{number}: repository {task.repository!r} in this file")
        if tasks.setdefault(task.id, task) is not task:
            raise CatalogError(f"{path}:{number}: task {task.id} is there twice")
    return list(tasks.values())


def write_tasks(path: Path, tasks: Iterable[Task]) -> None:
    """Write tasks, sorted by id, one a line."""
    lines = [
        json.dumps({"id": task.id, **task.to_json()}, sort_keys=True, ensure_ascii=True)
        for task in sorted(tasks, key=lambda task: task.id)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    temporary.replace(path)


def tasks_file(repository: str) -> Path:
    """Where the tasks of a repository are kept."""
    return repos_root() / "tasks" / f"{repository}.jsonl"


@functools.cache
def _all_tasks(root: Path) -> tuple[Task, ...]:
    found: list[Task] = []
    for name in sorted(manifests()):
        path = root / "tasks" / f"{name}.jsonl"
        if path.exists():
            found += read_tasks(path)
    return tuple(found)


def _rank(task: Task) -> bytes:
    return hashlib.sha256(task.id.encode()).digest()


def _lite(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Turn by turn over kind and repository, so that none crowds out another."""
    strata: dict[tuple[str, str], list[Task]] = {}
    for task in sorted(tasks, key=_rank):
        strata.setdefault((task.kind, task.repository), []).append(task)
    kinds = ("seeded", "release")
    by_kind = {kind: [strata[key] for key in sorted(strata) if key[0] == kind] for kind in kinds}
    return _in_turn(by_kind.values(), LITE_TASKS)


def _dependency_lite(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Turn by turn over goal and stage, and within these over repositories."""
    strata: dict[tuple[str, str], dict[str, list[Task]]] = {}
    for task in sorted(tasks, key=_rank):
        assert task.dependency is not None
        stratum = strata.setdefault((task.dependency.goal, task.dependency.stage), {})
        stratum.setdefault(task.repository, []).append(task)
    queues = [[strata[key][name] for name in sorted(strata[key])] for key in sorted(strata)]
    return _in_turn(queues, DEPENDENCY_LITE_TASKS)


def _in_turn(strata: Collection[list[list[Task]]], most: int) -> tuple[Task, ...]:
    """One task of each stratum in turn, and of the queues in a stratum in turn."""
    chosen: list[Task] = []
    while len(chosen) < most and any(queue for queues in strata for queue in queues):
        for queues in strata:
            waiting = [queue for queue in queues if queue]
            if waiting and len(chosen) < most:
                queue = waiting[0]
                chosen.append(queue.pop(0))
                queues.remove(queue)
                queues.append(queue)
    return tuple(sorted(chosen, key=lambda task: task.id))


@functools.cache
def _suite(name: str, root: Path) -> Suite:
    everything = _all_tasks(root)
    tasks = tuple(task for task in everything if task.kind != "dependency")
    moved = tuple(task for task in everything if task.kind == "dependency")
    known = manifests()
    if name == "dependency":
        chosen = moved
    elif name == "dependency-lite":
        chosen = _dependency_lite([task for task in moved if task.split == "test"])
    elif name == "embedded":
        chosen = tuple(task for task in tasks if known[task.repository].embedded)
    elif name == "lite":
        chosen = _lite([task for task in tasks if task.split == "test"])
    elif name == "train":
        chosen = tuple(task for task in tasks if task.split == "train")
    else:
        chosen = tasks
    return Suite(name, chosen)


def suite(name: str) -> Suite:
    """A suite by name (raises CatalogError naming the known ones)."""
    if name not in SUITES:
        raise CatalogError(f"unknown suite {name!r}; known: {', '.join(SUITES)}")
    return _suite(name, repos_root())


def select(
    name: str,
    *,
    split: str | None = None,
    kinds: Collection[str] | None = None,
    repos: Collection[str] | None = None,
) -> Suite:
    """Part of a suite (raises CatalogError for unknown values and for an empty selection)."""
    whole = suite(name)
    if split is not None and split not in SPLITS:
        raise CatalogError(f"unknown split {split!r}; known: {', '.join(SPLITS)}")
    for label, given, valid in (("kind", kinds, KINDS), ("repository", repos, sorted(manifests()))):
        for value in given or ():
            if value not in valid:
                raise CatalogError(f"unknown {label} {value!r}; known: {', '.join(valid)}")
    if split is None and kinds is None and repos is None:
        return whole
    tasks = tuple(
        task
        for task in whole.tasks
        if (split is None or task.split == split)
        and (kinds is None or task.kind in kinds)
        and (repos is None or task.repository in repos)
    )
    if not tasks:
        raise CatalogError(
            f"no task of suite {name!r} is left with split={split!r}, kinds={kinds!r}, "
            f"repos={repos!r}"
        )
    return Suite(name, tasks)
