"""Proving tasks whose answer is a set of versions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from gym_codefix.catalog import Manifest, Task, manifest
from gym_codefix.grading.build import constraints_of, resolve
from gym_codefix.grading.repair import task_snapshot, wheels_text
from gym_codefix.runtime import (
    PrepareError,
    Runtime,
    Snapshot,
    fetch_wheels,
    prepare_moved,
    under,
)

from ._trial import Trial

Run = Callable[[Snapshot, Mapping[str, str], Collection[str], int], Trial]


def prove_resolve(task: Task, runtime: Runtime, run: Run, runs: int) -> dict[str, Any] | str:
    """What was proven, or why it was not.

    ``run``: one run of tests under the conditions of its number. The reference's versions pass
    everything, those of the task resolve to nothing, or never pass a flip, and the stage at which
    they fail is the one that the task says.
    """
    known, facts = manifest(task.repository), task.dependency
    assert facts is not None
    snapshot = task_snapshot(task, runtime)
    solved = _installed(known, task, runtime, snapshot, solved=True)
    if isinstance(solved, str):
        return f"the reference does not come past the stage {solved}"
    everything = frozenset(snapshot.baseline.passing)
    flips = frozenset(task.flips)
    if not flips <= everything:
        return "a flip does not pass under the release's own lock"
    dropped: frozenset[str] = frozenset()
    for number in range(runs):
        tests = everything if number == 0 else flips
        lost = tests - run(solved, {}, tests, number).passed
        if lost & flips:
            return f"reference run {number}: {min(lost & flips)} does not pass"
        dropped |= lost
    broken = _installed(known, task, runtime, snapshot, solved=False)
    if isinstance(broken, str):
        if broken != facts.stage:
            return f"it fails at the stage {broken}, not {facts.stage}"
    else:
        if facts.stage in ("resolve", "install"):
            return f"it comes past the stage {facts.stage}"
        for number in range(runs):
            if passing := sorted(run(broken, {}, flips, number).passed):
                return f"no-op run {number}: {passing[0]} passes"
    proven: dict[str, Any] = {"gold": runs, "noop": runs, "kept": len(everything - dropped - flips)}
    if dropped:
        proven["dropped"] = sorted(dropped)
    return proven


def _installed(
    known: Manifest, task: Task, runtime: Runtime, snapshot: Snapshot, *, solved: bool
) -> Snapshot | str:
    """The snapshot under the constraints, or the stage at which that fails."""
    assert task.dependency is not None
    release, store = task.release, runtime.store
    text = constraints_of(known, task, solved=solved)
    floors = task.dependency.floors if solved else ()
    found = resolve(known, snapshot, text, floors, store)
    if found.lock is None:
        return "resolve"
    wheels = fetch_wheels(wheels_text(known, release), store)
    try:
        moved = prepare_moved(known, release, found.lock, wheels, store)
    except PrepareError:
        return "install"
    return under(snapshot, moved, store)
