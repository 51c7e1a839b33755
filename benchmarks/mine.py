"""Make the tasks of the catalogue: `python benchmarks/mine.py sqlparse --seeded 14 --releases`.

Every candidate is validated. repos/tasks/NAME.jsonl is written after every repository and every
pair of releases; what was dropped and why goes to repos/tasks/dropped/NAME.jsonl. With --resume, a
kind or a pair that is already there is left alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from itertools import pairwise

from gym_codefix.catalog import Task, manifest, manifests, read_tasks, tasks_file, write_tasks
from gym_codefix.mining import Validator, mine_release, mine_seeded
from gym_codefix.runtime import PrepareError, Runtime


class Repository:
    """The tasks of one repository and what was dropped on the way, as they are on disk.

    A *group* is what one search yields: ``seeded``, or ``1.0 -> 1.1``. Two processes may mine
    different groups of a repository.
    """

    def __init__(self, name: str, runtime: Runtime) -> None:
        self.manifest, self.runtime = manifest(name), runtime
        self._place = tasks_file(name)
        self._log = self._place.parent / "dropped" / f"{name}.jsonl"
        self._validator = Validator(runtime)

    def seed(self, count: int) -> None:
        """Replace the seeded tasks."""
        self._prove("seeded", mine_seeded(self.manifest, self.runtime, count=count, progress=say))

    def slice(self, earlier: str, later: str, seconds: float) -> None:
        """Replace the tasks between two releases."""
        group = f"{earlier} -> {later}"
        try:
            found = mine_release(
                self.manifest, earlier, later, self.runtime, seconds=seconds, progress=say
            )
        except PrepareError as error:
            say(f"{self.manifest.name} {group}: {error.stage}: {error.message}")
            self._replace(group, [], [(group, f"{error.stage}: {error.message}")])
            return
        dropped = [(entry.candidate, entry.reason) for entry in found.dropped]
        self._prove(group, found.tasks, dropped)

    def has(self, group: str) -> bool:
        """Whether tasks or dropped candidates of a group are recorded."""
        groups = {_group_of(task) for task in self._tasks()}
        return group in groups | {entry["group"] for entry in self._dropped()}

    def _prove(
        self, group: str, tasks: Iterable[Task], dropped: Iterable[tuple[str, str]] = ()
    ) -> None:
        kept, gone = [], list(dropped)
        for task in tasks:
            proof = self._validator.validate(task)
            if proof.reason is None:
                kept.append(proof.task)
            else:
                gone.append((task.id, proof.reason))
        self._replace(group, kept, gone)
        say(f"{self.manifest.name} {group}: {len(kept)} tasks, {len(gone)} dropped")

    def _replace(self, group: str, tasks: list[Task], dropped: list[tuple[str, str]]) -> None:
        write_tasks(self._place, [t for t in self._tasks() if _group_of(t) != group] + tasks)
        entries = [entry for entry in self._dropped() if entry["group"] != group]
        entries += [{"group": group, "candidate": c, "reason": r[:300]} for c, r in dropped]
        self._log.parent.mkdir(exist_ok=True)
        self._log.write_text("".join(json.dumps(e, sort_keys=True) + "\n" for e in entries))

    def _tasks(self) -> list[Task]:
        return read_tasks(self._place) if self._place.exists() else []

    def _dropped(self) -> list[dict[str, str]]:
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return [json.loads(line) for line in lines]


def _group_of(task: Task) -> str:
    return "seeded" if task.kind == "seeded" else f"{task.release} -> {task.next_release}"


def say(text: str) -> None:
    """One line with the time of day."""
    print(time.strftime("%H:%M:%S"), text, flush=True)


def main() -> None:
    """Mine the named repositories one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="repositories (default: all)")
    parser.add_argument("--seeded", type=int, default=0, metavar="N", help="seeded tasks to find")
    parser.add_argument("--releases", action="store_true", help="slice every pinned release pair")
    parser.add_argument("--seconds", type=float, default=240.0, help="for one pair of releases")
    parser.add_argument("--resume", action="store_true", help="leave alone what is already there")
    arguments = parser.parse_args()
    runtime = Runtime(max_servers=6)
    for name in arguments.names or sorted(manifests()):
        repository = Repository(name, runtime)
        if arguments.seeded and not (arguments.resume and repository.has("seeded")):
            repository.seed(arguments.seeded)
        versions = [release.version for release in repository.manifest.releases]
        for earlier, later in pairwise(versions) if arguments.releases else ():
            if not (arguments.resume and repository.has(f"{earlier} -> {later}")):
                repository.slice(earlier, later, arguments.seconds)
    runtime.close()


if __name__ == "__main__":
    main()
