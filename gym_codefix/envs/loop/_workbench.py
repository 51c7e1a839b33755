"""One task made ready for a loop: what is built, what may be seen, and what was found first."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import parse_wheel_filename
from packaging.version import Version

from gym_codefix.catalog import Manifest, Task, manifest
from gym_codefix.catalog.lock import parse_lock
from gym_codefix.grading.build import CONSTRAINTS_FILE, Build, Builder, constraints_of
from gym_codefix.grading.repair import (
    Problem,
    load_problem,
    task_snapshot,
    test_function,
    wheels_text,
)
from gym_codefix.runtime import Runtime, Snapshot, fetch_wheels, read_json, write_json

from ._api import api_documents
from ._history import history_documents, name_history, public_names
from ._masked import without_functions
from ._retrieve import Document, Index
from ._source import source_documents

_FORMAT = "2"


@dataclass(frozen=True)
class Workbench:
    """A task for the loop.

    ``problem``: where the source may be edited, else None. ``constraints``: where the versions may
    be changed, else None. ``floors``: what an answer must satisfy besides. ``first``: the build of
    the untouched state.
    """

    task: Task
    known: Manifest
    snapshot: Snapshot
    runtime: Runtime
    problem: Problem | None
    constraints: str | None
    floors: tuple[str, ...]

    @functools.cached_property
    def wanted(self) -> tuple[str, ...]:
        """The tests that the repository must pass in the end, in their order."""
        dropped = set(self.task.validation.get("dropped", ()))
        if self.problem is None:
            return tuple(t for t in self.snapshot.baseline.passing if t not in dropped)
        wanted = self.problem.kept | set(self.task.flips)
        order = dict.fromkeys((*self.snapshot.baseline.collected, *self.task.flips))
        return tuple(test for test in order if test in wanted)

    @property
    def visible(self) -> tuple[str, ...]:
        """Those of them that an agent may run and read."""
        hidden = set(self.task.hidden)
        return tuple(test for test in self.wanted if test not in hidden)

    def builder(self, *, everything: bool = False) -> Builder:
        """``everything``: with the hidden tests, for grading only."""
        wanted = self.wanted if everything else self.visible
        masks = {} if everything else self._masks
        shown = frozenset(self.visible)
        return Builder(self.known, self.snapshot, wanted, shown, self.runtime, masks)

    @functools.cached_property
    def _masks(self) -> dict[str, str]:
        """Test files without the functions that are hidden altogether: an edit could read them."""
        seen = set(map(test_function, self.visible))
        unseen: dict[str, list[str]] = {}
        for path, function in set(map(test_function, self.task.hidden)) - seen:
            unseen.setdefault(path, []).append(function)
        return {
            path: without_functions(text, functions, stand_in="pass")
            for path, functions in sorted(unseen.items())
            if (text := self.snapshot.read(path)) is not None
        }

    @functools.cached_property
    def first(self) -> Build:
        """The build as the agent finds it (measured once, kept in the store)."""
        name = f"{self.task.id.split('/')[-1]}-build-{_FORMAT}.json"
        place = self.runtime.store.path("problems", self.snapshot.key, name)
        document = read_json(place)
        if document is None:
            broken = self.problem.broken if self.problem is not None else {}
            build = self.builder().build(dict(broken), self.constraints, self.floors)
            document = {
                "stage": build.stage,
                "logs": dict(build.logs),
                "passed": sorted(build.passed),
                "lock": build.lock,
            }
            write_json(place, document)
        return Build(**{**document, "passed": frozenset(document["passed"])})

    def read(self, path: str) -> str | None:
        """A file as the agent finds it: hidden tests are blank lines."""
        if path == CONSTRAINTS_FILE:
            return self.constraints
        source = self.problem.read if self.problem is not None else self.snapshot.read
        text = source(path)
        hidden = [
            function for file, function in map(test_function, self.task.hidden) if file == path
        ]
        return without_functions(text, hidden) if text is not None and hidden else text

    def editable(self, path: str) -> str | None:
        """None when the agent may edit the file, else why not."""
        if path == CONSTRAINTS_FILE:
            return None if self.constraints is not None else "the versions of this task are fixed"
        if self.problem is None:
            return f"this task is solved by versions alone: edit {CONSTRAINTS_FILE}"
        return self.problem.editable(path)

    @functools.cached_property
    def versions(self) -> Mapping[str, tuple[str, ...]]:
        """Versions of each distribution that can be installed here, oldest first."""
        if self.task.dependency is None:
            locks = [self.known.locked_for(self.task.release).requirements]
            texts = [self.known.place(lock).read_text("utf-8") for lock in locks if lock]
            return {pin.name: (pin.version,) for text in texts for pin in parse_lock(text)}
        found: dict[str, set[str]] = {}
        for place in self._wheels.glob("*.whl"):
            name, version, _, _ = parse_wheel_filename(place.name)
            found.setdefault(name, set()).add(str(version))
        ours = {pin.name for pin in parse_lock(self.known.place(self.known.runner).read_text())}
        return {
            name: tuple(sorted(versions, key=Version))
            for name, versions in sorted(found.items())
            if name not in ours
        }

    @functools.cached_property
    def _wheels(self) -> Path:
        return fetch_wheels(wheels_text(self.known, self.task.release), self.runtime.store)

    @functools.cached_property
    def index(self) -> Index:
        """The repository's source, what is installed offers, and when names came and went."""
        return Index((*self._sources(), *self._interfaces(), *self._histories()))

    def _sources(self) -> tuple[Document, ...]:
        return source_documents(self.read, self.snapshot.source_files())

    def _interfaces(self) -> tuple[Document, ...]:
        (site,) = self.snapshot.environment.glob("lib/python3*/site-packages")
        return api_documents(site, self.versions)

    def _histories(self) -> tuple[Document, ...]:
        if self.task.dependency is None:
            return ()
        documents: list[Document] = []
        names = self._public_names()
        for name, versions in self.versions.items():
            known = {version: frozenset(names[f"{name}=={version}"]) for version in versions}
            documents += history_documents(name, name_history(known))
        return tuple(documents)

    def _public_names(self) -> Mapping[str, list[str]]:
        """Of every wheel, by ``name==version`` (read once, kept in the store)."""
        place = self.runtime.store.path("names", f"{self._wheels.name}-{_FORMAT}.json")
        document: dict[str, list[str]] | None = read_json(place)
        if document is None:
            document = {}
            for wheel in sorted(self._wheels.glob("*.whl")):
                name, version, _, _ = parse_wheel_filename(wheel.name)
                document[f"{name}=={version}"] = sorted(public_names(wheel))
            write_json(place, document)
        return document


def load_workbench(task: Task, runtime: Runtime) -> Workbench:
    """Raises NotPrepared, CatalogError, PrepareError."""
    facts, known = task.dependency, manifest(task.repository)
    versions_only = facts is not None and facts.goal == "resolve"
    problem = None if versions_only else load_problem(task, runtime)
    return Workbench(
        task=task,
        known=known,
        snapshot=problem.snapshot if problem is not None else task_snapshot(task, runtime),
        runtime=runtime,
        problem=problem,
        constraints=constraints_of(known, task) if versions_only else None,
        floors=facts.floors if facts is not None else (),
    )
