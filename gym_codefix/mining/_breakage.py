"""Which later version of a dependency turns a repository's build red, and where."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Literal

from gym_codefix.catalog import Manifest
from gym_codefix.runtime import (
    Job,
    Limits,
    PrepareError,
    Runtime,
    Snapshot,
    Start,
    file_of,
    prepare,
    prepare_environment,
)

from ._lock import moved_lock, pinned_versions

Stage = Literal["resolve", "install", "import", "collect", "test"]
_PROBE = "test_gcf_import.py"
_SUITE_FACTOR = 10


@dataclass(frozen=True)
class Breakage:
    """A distribution whose move alone loses tests of a repository.

    ``before``: the last version with which the build is green, ``after``: the first with which it
    is not; ``stage``: where; ``lost``: tests that no longer pass; ``lock``: the
    requirements with the move, empty where there are none (``resolve``).
    """

    repository: str
    release: str
    moved: str
    before: str
    after: str
    stage: Stage
    lost: tuple[str, ...]
    lock: str


@dataclass(frozen=True)
class _Build:
    version: str
    stage: Stage | None = None  # None: green
    lost: tuple[str, ...] = ()
    lock: str = ""


def find_breakages(
    manifest: Manifest,
    as_of: datetime.date,
    today: datetime.date,
    runtime: Runtime,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Breakage]:
    """Move each dependency of a repository's lock, which is of the day ``as_of``, to ``today``.

    Where that loses tests, the first version that does is sought between the two days, whatever
    the distribution itself needs moving with it. Raises PrepareError.
    """
    if not manifest.requirements:
        raise PrepareError("lock", f"{manifest.name} has no lock of its own: nothing can move")
    snapshot = prepare(manifest, store=runtime.store, level=runtime.isolation)
    moves = _Moves(snapshot, runtime)
    for name, version in pinned_versions(moves.lock).items():
        newest = moves.build(name, today)
        if newest.version == version or newest.stage is None:
            progress(f"{name} {version} -> {newest.version}: green")
            continue
        good, bad = moves.first_red(name, _Build(version), newest, as_of, today)
        progress(f"{name} {good.version} -> {bad.version}: {bad.stage}, {len(bad.lost)} tests lost")
        assert bad.stage is not None
        yield Breakage(
            manifest.name,
            manifest.release,
            name,
            good.version,
            bad.version,
            bad.stage,
            bad.lost,
            bad.lock,
        )


class _Moves:
    """Builds of one snapshot with one distribution moved; each version is built once."""

    def __init__(self, snapshot: Snapshot, runtime: Runtime) -> None:
        self._snapshot, self._runtime = snapshot, runtime
        self._manifest = snapshot.manifest
        self.lock = self._manifest.place(self._manifest.requirements).read_text()
        self._built: dict[tuple[str, str], _Build] = {}

    def first_red(
        self, name: str, good: _Build, bad: _Build, first: datetime.date, last: datetime.date
    ) -> tuple[_Build, _Build]:
        """The neighbours between which the build turns red, by halving the time between."""
        while (last - first).days > 1:
            day = first + (last - first) / 2
            build = self.build(name, day)
            if build.stage is None:
                first, good = day, build
            else:
                last, bad = day, build
        return good, bad

    def build(self, name: str, day: datetime.date) -> _Build:
        """With what was the newest version of a distribution on a day."""
        runner = self._manifest.place(self._manifest.runner)
        tree, store = self._snapshot.tree, self._runtime.store
        try:
            lock = moved_lock(tree, runner, store, self.lock, name, day)
        except PrepareError:
            return _Build("", "resolve", self._snapshot.baseline.passing)
        version = pinned_versions(lock).get(name, "")
        if (name, version) not in self._built:
            self._built[name, version] = self._run(version, lock)
        return self._built[name, version]

    def _run(self, version: str, lock: str) -> _Build:
        baseline = self._snapshot.baseline
        if lock == self.lock:
            return _Build(version)
        with TemporaryDirectory() as folder:
            place = Path(folder, "lock.txt")
            place.write_text(lock)
            moved = replace(self._manifest, requirements=str(place))
            try:
                environment = prepare_environment(moved, self._runtime.store)
            except PrepareError:
                return _Build(version, "install", baseline.passing, lock)
        snapshot = replace(self._snapshot, environment=environment)
        limits = Limits(
            cpu_s=int(60 + _SUITE_FACTOR * baseline.suite_seconds),
            wall_s=int(120 + _SUITE_FACTOR * baseline.suite_seconds),
        )
        suite = Job(start=Start.FRESH, limits=limits, log_chars=0)
        verdict = self._runtime.run(snapshot, suite)
        passed = verdict.passed()
        lost = tuple(test for test in baseline.passing if test not in passed)
        if not lost:
            return _Build(version)
        stage: Stage
        if not self._imports(snapshot):
            stage = "import"
        elif any(file_of(test) in verdict.collect_errors for test in lost) or not verdict.outcomes:
            stage = "collect"
        else:
            stage = "test"
        return _Build(version, stage, lost, lock)

    def _imports(self, snapshot: Snapshot) -> bool:
        names = [PurePosixPath(path).stem for path in snapshot.layout.source]
        text = "".join(f"import {name}\n" for name in names) + "\n\ndef test_it(): pass\n"
        probe = Job(edits={_PROBE: text}, paths=(_PROBE,), start=Start.FRESH, log_chars=0)
        return bool(self._runtime.run(snapshot, probe).passed())
