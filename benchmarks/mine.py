"""Make the tasks of the catalogue: `python benchmarks/mine.py sqlparse --seeded 14 --releases`.

Every candidate is validated. repos/tasks/NAME.jsonl is written after every repository and every pair of
releases; what was dropped and why goes to repos/tasks/dropped/NAME.jsonl. With --resume, a kind or a
pair that is already there is left alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from itertools import pairwise

from gym_codefix.catalog import Task, manifest, manifests, read_tasks, tasks_file, write_tasks
from gym_codefix.mining import DroppedCandidate, Validator, mine_release, mine_seeded
from gym_codefix.runtime import PrepareError, Runtime


class Repository:
    """The tasks of one repository and what was dropped on the way."""

    def __init__(self, name: str, runtime: Runtime) -> None:
        self.manifest, self.runtime = manifest(name), runtime
        self._place = tasks_file(name)
        self._log = self._place.parent / "dropped" / f"{name}.jsonl"
        self.tasks = read_tasks(self._place) if self._place.exists() else []
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        self._dropped: list[dict[str, str]] = [json.loads(line) for line in lines]
        self._validator = Validator(runtime)

    def seed(self, count: int) -> None:
        """Replace the seeded tasks."""
        self._forget("seeded")
        self.tasks = [task for task in self.tasks if task.kind != "seeded"]
        tasks = mine_seeded(self.manifest, self.runtime, count=count, progress=say)
        self._prove("seeded", tasks)

    def slice(self, earlier: str, later: str) -> None:
        """Replace the tasks between two releases."""
        group = f"{earlier} -> {later}"
        self._forget(group)
        self.tasks = [task for task in self.tasks if _pair_of(task) != (earlier, later)]
        try:
            found = mine_release(self.manifest, earlier, later, self.runtime, progress=say)
        except PrepareError as error:
            self._drop(group, group, f"{error.stage}: {error.message}")
            self._write()
            return
        for item in found.dropped:
            self._drop(group, item.candidate, item.reason)
        self._prove(group, found.tasks)

    def has(self, group: str) -> bool:
        """Whether tasks or dropped candidates of a group are recorded."""
        pairs = {" -> ".join(_pair_of(task)) for task in self.tasks} | {t.kind for t in self.tasks}
        return group in pairs or any(entry["group"] == group for entry in self._dropped)

    def _prove(self, group: str, tasks: Iterable[Task]) -> None:
        kept = 0
        for task in tasks:
            proof = self._validator.validate(task)
            if proof.reason is None:
                self.tasks.append(proof.task)
                kept += 1
            else:
                self._drop(group, task.id, proof.reason)
        self._write()
        say(f"{self.manifest.name} {group}: {kept} tasks; {len(self.tasks)} in all")

    def _drop(self, group: str, candidate: str, reason: str) -> None:
        self._dropped.append({"group": group, "candidate": candidate, "reason": reason[:300]})

    def _forget(self, group: str) -> None:
        self._dropped = [entry for entry in self._dropped if entry["group"] != group]

    def _write(self) -> None:
        write_tasks(self._place, self.tasks)
        self._log.parent.mkdir(exist_ok=True)
        lines = [json.dumps(entry, sort_keys=True) + "\n" for entry in self._dropped]
        self._log.write_text("".join(lines))


def _pair_of(task: Task) -> tuple[str, str]:
    return task.release, task.next_release or ""


def say(text: str) -> None:
    """One line with the time of day."""
    print(time.strftime("%H:%M:%S"), text, flush=True)


def main() -> None:
    """Mine the named repositories one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="repositories (default: all)")
    parser.add_argument("--seeded", type=int, default=0, metavar="N", help="seeded tasks to find")
    parser.add_argument("--releases", action="store_true", help="slice every pinned release pair")
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
                repository.slice(earlier, later)
    runtime.close()


if __name__ == "__main__":
    main()
