"""Which later version of a dependency turns a repository's build red, and where."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gym_codefix.catalog import Manifest
from gym_codefix.catalog.lock import Pin, parse_lock, pinned_versions
from gym_codefix.grading.build import Builder
from gym_codefix.runtime import (
    PrepareError,
    Runtime,
    Snapshot,
    Start,
    prepare,
    prepare_moved,
    under,
)

from ._lock import moved_lock, upgraded_lock


@dataclass(frozen=True)
class Breakage:
    """A distribution whose move alone loses tests of a repository.

    ``before``: the last version with which the build is green, ``after``: the first with which it
    is not; ``stage``: where; ``lost``: tests that no longer pass; ``lock``: the requirements with
    the move, empty where there are none (``resolve``); ``good_lock``: those with ``before``.
    """

    repository: str
    release: str
    moved: str
    before: str
    after: str
    stage: str
    lost: tuple[str, ...]
    lock: str
    good_lock: str


@dataclass(frozen=True)
class MovedBuild:
    """A build with one distribution moved to ``version``; ``stage``: None when it is green."""

    version: str
    stage: str | None = None
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
    moves = Moves(manifest, snapshot, runtime)
    for name in pinned_versions(moves.lock):
        yield from moves.breakages(name, as_of, today, progress)


class Moves:
    """Builds of one snapshot with one distribution moved; each version is built once.

    ``seen``: every pin that a lock of these builds had.
    """

    def __init__(self, known: Manifest, snapshot: Snapshot, runtime: Runtime) -> None:
        self._known, self._snapshot, self._runtime = known, snapshot, runtime
        own = known.locked_for(snapshot.release)
        self._runner = own.place(own.runner)
        self.lock = own.place(own.requirements).read_text()
        self._built: dict[str, MovedBuild] = {}
        self.seen: dict[tuple[str, str], Pin] = {}
        self._see(self.lock)

    def breakages(
        self,
        name: str,
        as_of: datetime.date,
        today: datetime.date,
        progress: Callable[[str], None] = lambda _: None,
        newest: MovedBuild | None = None,
    ) -> Iterator[Breakage]:
        """The first version that turns the build red, if any does.

        ``newest``: the build of ``today``, where it is known.
        """
        version = pinned_versions(self.lock)[name]
        newest = newest or self.build(name, today)
        if newest.version == version or newest.stage is None:
            progress(f"{name} {version} -> {newest.version}: green")
            return
        start = MovedBuild(version, lock=self.lock)
        good, bad = self._first_red(name, start, newest, as_of, today)
        progress(f"{name} {good.version} -> {bad.version}: {bad.stage}, {len(bad.lost)} tests lost")
        yield self.breakage(name, good, bad)

    def breakage(self, name: str, good: MovedBuild, bad: MovedBuild) -> Breakage:
        """What a green and a red build of a distribution say together."""
        assert bad.stage is not None
        known, release = self._known.name, self._snapshot.release
        facts = (name, good.version, bad.version, bad.stage, bad.lost, bad.lock, good.lock)
        return Breakage(known, release, *facts)

    def _first_red(
        self,
        name: str,
        good: MovedBuild,
        bad: MovedBuild,
        first: datetime.date,
        last: datetime.date,
    ) -> tuple[MovedBuild, MovedBuild]:
        """The neighbours between which the build turns red, by halving the time between."""
        while (last - first).days > 1:
            day = first + (last - first) / 2
            build = self.build(name, day)
            if build.stage is None:
                first, good = day, build
            else:
                last, bad = day, build
        return good, bad

    def build(self, name: str, day: datetime.date) -> MovedBuild:
        """With what was the newest version of a distribution on a day."""
        try:
            lock = moved_lock(
                self._snapshot.tree, self._runner, self._runtime.store, self.lock, name, day
            )
        except PrepareError:
            return MovedBuild("", "resolve", self._snapshot.baseline.passing)
        return self.build_lock(name, lock)

    def upgraded(self, name: str, needs: Sequence[str], day: datetime.date) -> MovedBuild | None:
        """With everything at what was the newest on a day that ``needs``, requirements, allow.

        None when nothing satisfies these.
        """
        try:
            lock = upgraded_lock(
                self._snapshot.tree, self._runner, self._runtime.store, self.lock, needs, day
            )
        except PrepareError:
            return None
        return self.build_lock(name, lock)

    def build_lock(self, name: str, lock: str) -> MovedBuild:
        """With this lock; ``name`` is the distribution whose version is told."""
        self._see(lock)
        version = pinned_versions(lock).get(name, "")
        if lock not in self._built:
            self._built[lock] = self._run(lock)
        stage, lost = self._built[lock].stage, self._built[lock].lost
        return MovedBuild(version, stage, lost, lock)

    def _see(self, lock: str) -> None:
        self.seen.update({(pin.name, pin.version): pin for pin in parse_lock(lock)})

    def _run(self, lock: str) -> MovedBuild:
        passing = self._snapshot.baseline.passing
        if pinned_versions(lock) == pinned_versions(self.lock):
            return MovedBuild("")
        release, store = self._snapshot.release, self._runtime.store
        try:
            moved = prepare_moved(self._known, release, lock, None, store)
        except PrepareError:
            return MovedBuild("", "install", passing)
        snapshot = under(self._snapshot, moved, store)
        builder = Builder(self._known, snapshot, passing, frozenset(), self._runtime)
        build = builder.build({}, start=Start.FRESH)
        return MovedBuild("", build.stage, tuple(t for t in passing if t not in build.passed))
