"""Tasks in which a new version stays and the source must change.

Their references are hunks of later releases or, where no release repairs the build with few of
them, line edits written for this catalogue.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gym_codefix.catalog import Dependency, Manifest, Task, hide_half, manifest
from gym_codefix.catalog.hunks import Hunk
from gym_codefix.grading.repair import Problem, prepare_task, task_snapshot
from gym_codefix.runtime import Runtime, Snapshot, Verdict, prepare

from ._dependency import MOST_FLIPS, spread
from ._release import Pair, load_pair
from ._trial import run_tests
from .slicing import BudgetSpent, minimise

_RUNS = 150
_PROBES = 8
_MOST_HUNKS = 60
_ROUNDS = 4


@dataclass(frozen=True)
class _Goal:
    """Tests that the reference must repair, and those that it must not break."""

    flips: tuple[str, ...]
    guards: frozenset[str]


def mine_migration(
    known: Manifest,
    moved: Manifest,
    release: str,
    facts: Dependency,
    lost: Sequence[str],
    later: Sequence[str],
    runtime: Runtime,
    *,
    seconds: float = 150.0,
    progress: Callable[[str], None] = lambda _: None,
) -> Task | None:
    """A task whose reference is the fewest hunks of the diff to one of the ``later`` releases.

    ``moved``: the repository under the versions of ``facts``, its environment built. The earliest
    release whose source brings back every test of ``lost`` is taken, else the one that brings back
    most; tests that it does not bring back are no part of the task. None when none brings back
    any. Raises PrepareError.
    """
    snapshot = prepare(
        moved, release=release, store=runtime.store, level=runtime.isolation, red=True
    )
    found = _best(known, snapshot, later, lost, runtime, progress)
    if found is None:
        return None
    version, pair, goal = found
    hunks = _fewest(pair, goal, time.monotonic() + seconds)
    if len(hunks) > _MOST_HUNKS:
        progress(f"{known.name} {release} -> {version}: {len(hunks)} hunks are too many")
        return None
    flips = spread(sorted(pair.run(hunks, goal.flips).passed), MOST_FLIPS)
    if not flips:
        return None
    progress(f"{known.name} {release} -> {version}: {len(hunks)} hunks, {len(flips)} flips")
    return Task(
        kind="dependency",
        repository=known.name,
        release=release,
        next_release=version,
        flips=flips,
        hidden=hide_half(flips),
        date=known.find_release(version).date,
        hunks=tuple(hunks),
        dependency=facts,
    )


@dataclass(frozen=True)
class HandRepair:
    """What line edits do to a red build.

    ``lost``: tests that the move of a version loses; ``regained``: those of them that pass with
    the edits; ``broken``: tests that pass without the edits only; ``verdict``: the run with them.
    """

    task: Task
    lost: frozenset[str]
    regained: frozenset[str]
    broken: frozenset[str]
    verdict: Verdict


def migration_by_hand(resolvable: Task, repair: str, runtime: Runtime) -> HandRepair:
    """The breakage of a ``resolve`` task as one that line edits of the source must mend.

    ``repair``: the reference, in the format ``path:LINE| new text``; empty to see what is lost.
    The flips of the task that comes back are tests that it regains. Raises ActionError for a
    repair that cannot be applied, ValueError for another kind of task, PrepareError.
    """
    facts = resolvable.dependency
    if facts is None or facts.goal != "resolve" or facts.stage == "resolve":
        raise ValueError(f"{resolvable.id} is no resolve task with versions that install")
    floors = (f"{facts.moved}>={facts.after}",)
    task = replace(
        resolvable,
        dependency=replace(facts, goal="migrate", floors=floors, solution={}),
        label=None,
        repair=repair or None,
        twins={},
        validation={},
    )
    prepare_task(task, runtime)
    snapshot = task_snapshot(task, runtime)
    own = prepare(
        manifest(task.repository),
        release=task.release,
        store=runtime.store,
        level=runtime.isolation,
    )
    passing = frozenset(snapshot.baseline.passing)
    lost = frozenset(own.baseline.passing) - passing
    edits = Problem(task, snapshot, {}, "", (), (), runtime.store).gold
    trial = run_tests(snapshot, runtime, edits, lost | passing)
    regained, broken = trial.passed & lost, passing - trial.passed
    flips = spread(sorted(regained), MOST_FLIPS)
    task = replace(task, flips=flips, hidden=hide_half(flips))
    return HandRepair(task, lost, regained, broken, trial.verdict)


def _best(
    known: Manifest,
    snapshot: Snapshot,
    later: Sequence[str],
    lost: Sequence[str],
    runtime: Runtime,
    progress: Callable[[str], None],
) -> tuple[str, Pair, _Goal] | None:
    passing = frozenset(snapshot.baseline.passing)
    wanted = frozenset(lost) - passing
    best: tuple[str, Pair, _Goal] | None = None
    for version in later if wanted else ():
        pair = load_pair(snapshot, known, version, runtime)
        if not pair.hunks:
            continue
        passed = pair.run(pair.hunks, wanted | passing).passed
        regained = tuple(sorted(passed & wanted))
        progress(
            f"{known.name} {snapshot.release} -> {version}: "
            f"{len(regained)} of {len(wanted)} regained, {len(passing - passed)} broken"
        )
        if regained and (best is None or len(regained) > len(best[2].flips)):
            best = (version, pair, _Goal(regained, passing & passed))
        if len(regained) == len(wanted):
            break
    return best


def _fewest(pair: Pair, goal: _Goal, deadline: float) -> Sequence[Hunk]:
    """Hunks that repair the flips and break nothing.

    A few tests steer the search; those that its answer fails join them for the next round.
    """
    everything = goal.guards | frozenset(goal.flips)
    needed = frozenset(spread(goal.flips, _PROBES))
    for _ in range(_ROUNDS):
        hunks = _minimal(pair, needed, deadline)
        failing = everything - pair.run(hunks, everything).passed
        if not failing:
            return hunks
        needed |= frozenset(spread(sorted(failing), _PROBES))
    return _minimal(pair, everything, deadline)


def _minimal(pair: Pair, needed: frozenset[str], deadline: float) -> Sequence[Hunk]:
    def passes(some: Sequence[Hunk]) -> bool:
        if len(some) == len(pair.hunks):
            return True
        if time.monotonic() > deadline:
            raise BudgetSpent
        try:
            return needed <= pair.run(some, needed).passed
        except ValueError:  # half of a change that does not parse
            return False

    return minimise(pair.hunks, passes, budget=_RUNS).kept
