"""A task made concrete on this machine: broken tree, reference, log and suspicious lines."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from gym_codefix.catalog import CatalogError, Manifest, Task
from gym_codefix.catalog.hunks import apply_hunks
from gym_codefix.grading.mutation import Mutation, apply_mutations
from gym_codefix.grading.patch import parse_action
from gym_codefix.runtime import (
    Runtime,
    Snapshot,
    Store,
    file_of,
    load_snapshot,
    prepare,
    read_json,
    release_tree,
    write_json,
)

from ._excerpt import Span, rank_spans
from ._execute import chosen_job, run_reliably
from ._hash import sha256_text
from ._localise import Suspect, localise
from ._log import build_log
from ._moved import prepare_manifest, task_manifest
from ._plan import Plan, plan_edits

_FORMAT = "9"
_REACHING_TESTS = 200


@dataclass(frozen=True)
class Problem:
    """One repair problem.

    ``broken``: edits from the snapshot's tree to what the agent gets; ``log``: the failing build
    log of the visible tests; ``suspects``: lines of the broken tree, most suspicious first;
    ``spans``: the functions around them; ``failing``: the line of its test file at which each flip
    fails before a repair.
    """

    task: Task
    snapshot: Snapshot
    broken: Mapping[str, str]
    log: str
    suspects: tuple[Suspect, ...]
    spans: tuple[Span, ...]
    store: Store
    failing: Mapping[str, int] = field(default_factory=dict)

    @functools.cached_property
    def kept(self) -> frozenset[str]:
        """The tests that pass before the repair and must still pass after it."""
        dropped = self.task.validation.get("dropped", ())
        return frozenset(self.snapshot.baseline.passing) - set(self.task.flips) - set(dropped)

    @functools.cached_property
    def gold(self) -> dict[str, str]:
        """Edits from the snapshot's tree to the reference repair (empty: the tree is it)."""
        if self.task.repair is not None:
            return parse_action(self.task.repair, self.snapshot.read, editable=self.editable)
        if self.task.next_release is None:
            return {}
        tree = release_tree(self.snapshot.manifest, self.task.next_release, self.store)
        old, new = {}, {}
        for path in {hunk.path for hunk in self.task.hunks}:
            if (text := self.snapshot.read(path)) is not None:
                old[path] = text
            if (tree / path).is_file():
                with open(tree / path, encoding="utf-8", newline="") as file:
                    new[path] = file.read()
        return apply_hunks(old, new, self.task.hunks)

    def read(self, path: str) -> str | None:
        """A file of the broken tree."""
        return self.broken[path] if path in self.broken else self.snapshot.read(path)

    def editable(self, path: str) -> str | None:
        """None when an agent may edit or create the file, else why not."""
        layout = self.snapshot.layout
        if layout.is_test(path):
            return "tests and their configuration belong to the task"
        if not layout.is_source(path):
            return f"only Python files below {', '.join(layout.source)} may be edited"
        place = self.snapshot.tree / path
        if place.is_symlink():
            return "is a symbolic link"
        if not place.exists():
            folder = place.parent
            if not (folder / "__init__.py").is_file():
                return "a new file must lie in an existing package"
            if str(PurePosixPath(path).parent) in self.snapshot.layout.import_paths:
                return "a new top-level module could hide another one"
        return None

    def over_pristine(self, edits: Mapping[str, str]) -> dict[str, str]:
        """An agent's edits of the broken tree as edits of the snapshot's tree."""
        merged = {**self.broken, **edits}
        return {path: text for path, text in merged.items() if text != self.snapshot.read(path)}

    def reference_edits(self) -> dict[str, str]:
        """The reference as an agent would give it: edits of the broken tree."""
        texts = {**{path: self.snapshot.read(path) or "" for path in self.broken}, **self.gold}
        return {path: text for path, text in texts.items() if text != self.read(path)}


def task_snapshot(task: Task, runtime: Runtime) -> Snapshot:
    """The snapshot that a task runs on (embedded ones are prepared; raises NotPrepared)."""
    known = task_manifest(task, runtime.store)
    return _snapshot(known, task.release, task.tests_release, runtime.store, runtime.isolation)


@functools.lru_cache(maxsize=512)
def _snapshot(
    known: Manifest, release: str, tests_release: str | None, store: Store, level: str
) -> Snapshot:
    """Kept, since to find a snapshot's key costs more than a whole reset may."""
    if known.embedded:
        return prepare(
            known, store=store, release=release, tests_release=tests_release, level=level
        )
    return load_snapshot(known, store=store, release=release, tests_release=tests_release)


def prepare_task(task: Task, runtime: Runtime) -> None:
    """Fetch and measure all that a task needs; afterwards it runs offline (raises PrepareError)."""
    known = prepare_manifest(task, runtime.store)
    prepare(
        known,
        store=runtime.store,
        release=task.release,
        tests_release=task.tests_release,
        level=runtime.isolation,
        red=task.kind == "dependency",
    )
    if task.next_release is not None:
        release_tree(known, task.next_release, runtime.store)


def seeded_edits(task: Task, snapshot: Snapshot) -> dict[str, str]:
    """The file with its mutations put in (raises CatalogError when a hash differs)."""
    assert task.path is not None
    text = snapshot.read(task.path)
    if text is None or sha256_text(text) != task.sha256_before:
        raise CatalogError(f"task {task.id}: {task.path} is not the file it was made from")
    mutations = [Mutation.from_json(fact) for fact in task.mutations]
    broken = apply_mutations(text, mutations)
    if sha256_text(broken) != task.sha256_after:
        raise CatalogError(f"task {task.id}: the mutated {task.path} has another sha256")
    return {task.path: broken}


def load_problem(task: Task, runtime: Runtime) -> Problem:
    """Rebuild a problem from facts; what is costly is kept in the store.

    Raises NotPrepared, CatalogError, PrepareError.
    """
    snapshot = task_snapshot(task, runtime)
    place = _observations(task, snapshot, runtime)
    document = read_json(place)
    if document is None:
        broken = seeded_edits(task, snapshot) if task.kind == "seeded" else {}
        document = _observe(task, snapshot, broken, runtime)
        write_json(place, document)
    return Problem(
        task=task,
        snapshot=snapshot,
        broken=document["broken"],
        log=document["log"],
        suspects=tuple(Suspect(*entry) for entry in document["suspects"]),
        spans=tuple(Span(*entry) for entry in document["spans"]),
        store=runtime.store,
        failing=document["failing"],
    )


def _observations(task: Task, snapshot: Snapshot, runtime: Runtime) -> Path:
    """Where they are kept: named after what the agent may see too, which a task's id leaves out."""
    seen = sha256_text("\0".join((*task.flips, "", *task.hidden)))[:12]
    name = f"{task.id.split('/')[-1]}-{seen}-{_FORMAT}.json"
    return runtime.store.path("problems", snapshot.key, name)


def _observe(
    task: Task, snapshot: Snapshot, broken: Mapping[str, str], runtime: Runtime
) -> dict[str, Any]:
    plan = plan_edits(snapshot, broken)
    passing = frozenset(snapshot.baseline.passing) - set(task.flips)
    if broken:
        near = sorted(plan.reaching(snapshot) & passing)[:_REACHING_TESTS]
    else:
        near = _near_failures(task, snapshot, passing)
    job = chosen_job(snapshot, (*task.visible, *near), broken, coverage="contexts")
    verdict = run_reliably(snapshot, job, runtime)
    suspects = localise(task, snapshot, broken, verdict)
    spans = rank_spans(suspects, lambda path: broken.get(path) or snapshot.read(path))
    return {
        "broken": dict(broken),
        "log": build_log(task, verdict),
        "suspects": [list(suspect) for suspect in suspects],
        "spans": [list(span) for span in spans],
        "failing": _failing_lines(task, snapshot, broken, plan, runtime),
    }


def _failing_lines(
    task: Task, snapshot: Snapshot, broken: Mapping[str, str], plan: Plan, runtime: Runtime
) -> dict[str, int]:
    """From a run of its own: the hidden flips must not be seen in what the agent is shown."""
    job = chosen_job(snapshot, task.flips, broken, plan=plan)
    verdict = run_reliably(snapshot, job, runtime)
    found = {}
    for test in task.flips:
        path = file_of(test)
        lines = re.findall(
            rf"^{re.escape(path)}:(\d+): ", verdict.texts.get(test, ""), re.MULTILINE
        )
        if lines:
            found[test] = int(lines[-1])
    return found


def _near_failures(task: Task, snapshot: Snapshot, passing: frozenset[str]) -> list[str]:
    """Passing tests of the files that hold the failing ones."""
    files = {file_of(test) for test in task.visible}
    return [
        test for test in snapshot.baseline.passing if test in passing and file_of(test) in files
    ][:_REACHING_TESTS]
