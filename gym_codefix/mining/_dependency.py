"""Dependency tasks: a distribution moved, the build broke, and what mends it is known."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from packaging.version import Version

from gym_codefix.catalog import Dependency, Manifest, Task, hide_half
from gym_codefix.catalog.lock import pinned_versions, write_lock
from gym_codefix.runtime import Runtime, prepare

from ._breakage import Breakage, MovedBuild, Moves

MOST_FLIPS = 60


@dataclass(frozen=True)
class MinedDependencies:
    """Tasks that are not validated yet, and the locked entries of all that they can reach."""

    tasks: tuple[Task, ...]
    wheels: str


def mine_resolve(
    known: Manifest,
    release: str,
    as_of: datetime.date,
    today: datetime.date,
    runtime: Runtime,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[MinedDependencies, tuple[Breakage, ...]]:
    """Tasks of the goal ``resolve``, and the breakages that other versions alone do not mend.

    ``as_of``: the day of the release's lock. Each move of a distribution to ``today`` that breaks
    the build is a task, with the first version that does and with the newest where that breaks at
    another stage; a move that others must follow is one at the stage ``resolve``. A floor forbids
    to put the old version back where another answer is known. Raises PrepareError.
    """
    snapshot = prepare(known, release=release, store=runtime.store, level=runtime.isolation)
    moves = Moves(known, snapshot, runtime)
    tasks: list[Task] = []
    breakages: list[Breakage] = []
    for name, version in pinned_versions(moves.lock).items():
        newest = moves.build(name, today)
        if newest.version in ("", version):
            continue
        if newest.stage is None:
            tasks += _half_moved(moves, snapshot.baseline.passing, known, release, name, newest)
            progress(f"{name} {version} -> {newest.version}: green")
            continue
        for first in moves.breakages(name, as_of, today, progress, newest):
            breakages.append(first)
            if newest.version != first.after and newest.stage != first.stage:
                good = moves.build_lock(name, first.good_lock)
                breakages.append(moves.breakage(name, good, newest))
    inherent = []
    for breakage in breakages:
        name = breakage.moved
        red = {other.moved for other in breakages}
        upgraded = _mended_by_neighbours(moves, breakage, red, today)
        if upgraded is not None:
            progress(f"{name} {breakage.after}: its neighbours mend it")
            passing = snapshot.baseline.passing
            tasks.append(_with_floor(moves, breakage, upgraded.lock, breakage.after))
            tasks += _half_moved(moves, passing, known, release, name, upgraded)
            continue
        inherent.append(breakage)
        if Version(breakage.before) > Version(pinned_versions(moves.lock)[name]):
            tasks.append(_with_floor(moves, breakage, breakage.good_lock, breakage.before))
        else:
            tasks.append(_with_floor(moves, breakage, moves.lock, None))
    pins = write_lock(moves.seen.values())
    return MinedDependencies(tuple(tasks), pins), tuple(inherent)


def _mended_by_neighbours(
    moves: Moves, breakage: Breakage, red: Collection[str], today: datetime.date
) -> MovedBuild | None:
    """A green build with the new version, everything else as new as that allows.

    ``red``: distributions whose own moves break the build; in a second try the others of them stay.
    """
    floor = f"{breakage.moved}>={breakage.after}"
    versions = pinned_versions(moves.lock)
    held = [f"{name}=={versions[name]}" for name in sorted(red) if name != breakage.moved]
    for needs in ([floor], [floor, *held])[: 2 if held else 1]:
        build = moves.upgraded(breakage.moved, needs, today)
        if build is not None and build.stage is None:
            return build
    return None


def migrate_facts(breakage: Breakage, lock: str) -> Dependency:
    """The facts of a task in which the source must change. ``lock``: the release's own."""
    return Dependency(
        goal="migrate",
        moved=breakage.moved,
        before=breakage.before,
        after=breakage.after,
        stage=breakage.stage,
        pins=difference(lock, breakage.lock),
        floors=(f"{breakage.moved}>={breakage.after}",),
    )


def difference(before: str, after: str) -> dict[str, str]:
    """Versions of a lock that another has not."""
    old, new = pinned_versions(before), pinned_versions(after)
    return {name: version for name, version in new.items() if old.get(name) != version}


def _half_moved(
    moves: Moves,
    passing: Sequence[str],
    known: Manifest,
    release: str,
    name: str,
    newest: MovedBuild,
) -> Iterator[Task]:
    """The one pin moved alone, as a bot would: whether that resolves at all, validation finds."""
    changed = difference(moves.lock, newest.lock)
    before = pinned_versions(moves.lock)
    others = {other: version for other, version in changed.items() if other != name}
    if not any(other in before for other in others):
        return
    facts = Dependency(
        goal="resolve",
        moved=name,
        before=before[name],
        after=newest.version,
        stage="resolve",
        pins={name: newest.version},
        floors=(f"{name}>={newest.version}",),
        solution=others,
    )
    yield _task(known.name, release, passing, facts)


def _with_floor(moves: Moves, breakage: Breakage, solution: str, lowest: str | None) -> Task:
    """``solution``: the lock of the reference; ``lowest``: the least version that is allowed."""
    facts = Dependency(
        goal="resolve",
        moved=breakage.moved,
        before=breakage.before,
        after=breakage.after,
        stage=breakage.stage,
        pins=difference(moves.lock, breakage.lock),
        floors=(f"{breakage.moved}>={lowest}",) if lowest else (),
        solution=difference(breakage.lock, solution),
    )
    return _task(breakage.repository, breakage.release, breakage.lost, facts)


def _task(repository: str, release: str, lost: Sequence[str], facts: Dependency) -> Task:
    flips = spread(lost, MOST_FLIPS)
    return Task(
        kind="dependency",
        repository=repository,
        release=release,
        flips=flips,
        hidden=hide_half(flips),
        dependency=facts,
    )


def spread(tests: Sequence[str], most: int) -> tuple[str, ...]:
    """At most so many of them, of as many functions and files as can be, sorted."""
    if len(tests) <= most:
        return tuple(sorted(tests))
    first: dict[str, str] = {}
    for test in sorted(tests):
        first.setdefault(test.partition("[")[0], test)
    chosen = list(first.values())
    others = [test for test in sorted(tests) if first[test.partition("[")[0]] != test]
    step = max(1, len(chosen) // most)
    picked = chosen[::step][:most]
    return tuple(sorted((*picked, *others[: most - len(picked)])))
