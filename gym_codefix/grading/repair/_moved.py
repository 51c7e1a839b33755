"""The repository of a task under the versions that the task is about."""

from __future__ import annotations

import functools

from gym_codefix.catalog import CatalogError, Manifest, Task, manifest
from gym_codefix.catalog.lock import moved
from gym_codefix.runtime import Store, fetch_wheels, moved_manifest, prepare_moved


def _text(known: Manifest, name: str) -> str:
    try:
        return known.place(name).read_text(encoding="utf-8")
    except OSError as error:
        raise CatalogError(f"{known.name}: {error}") from None


@functools.cache
def good_lock(known: Manifest, release: str) -> str:
    """The lock with which a release is green (raises CatalogError)."""
    return _text(known, known.locked_for(release).requirements)


@functools.cache
def reachable_wheels(known: Manifest, release: str) -> str:
    """Locked entries of every version that a task of a release may reach (raises CatalogError)."""
    return _text(known, f"wheels/{known.name}-{release}.txt")


def wheels_text(known: Manifest, release: str) -> str:
    """`reachable_wheels`, and what runs the tests."""
    return reachable_wheels(known, release) + _text(known, known.runner)


def task_manifest(task: Task, store: Store) -> Manifest:
    """The repository as the task's tests run (nothing is built; raises CatalogError).

    A task whose answer is a set of versions runs under the release's own lock: its constraints
    need not resolve at all.
    """
    known = manifest(task.repository)
    if task.dependency is None or task.dependency.goal == "resolve":
        return known
    return moved_manifest(known, broken_lock(known, task), store)


def prepare_manifest(task: Task, store: Store) -> Manifest:
    """`task_manifest` with its environment built (raises PrepareError)."""
    known = manifest(task.repository)
    if task.dependency is None:
        return known
    wheels = fetch_wheels(wheels_text(known, task.release), store)
    if task.dependency.goal == "resolve":
        return known
    return prepare_moved(known, task.release, broken_lock(known, task), wheels, store)


def broken_lock(known: Manifest, task: Task) -> str:
    """The lock that the constraints of a dependency task mean (raises CatalogError)."""
    assert task.dependency is not None
    lock = good_lock(known, task.release)
    return moved(lock, task.dependency.pins, reachable_wheels(known, task.release))
