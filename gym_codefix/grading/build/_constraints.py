"""The constraint file of a dependency task: what the agent finds, and what the reference has."""

from __future__ import annotations

from gym_codefix.catalog import Manifest, Task
from gym_codefix.catalog.lock import pinned_versions
from gym_codefix.grading.repair import good_lock

CONSTRAINTS_FILE = "constraints.txt"


def constraints_of(known: Manifest, task: Task, *, solved: bool = False) -> str:
    """Every distribution at one version; ``solved``: those of the reference (raises CatalogError).

    For a task whose new version stays, both are the same.
    """
    assert task.dependency is not None
    versions = pinned_versions(good_lock(known, task.release)) | dict(task.dependency.pins)
    if solved:
        versions |= task.dependency.solution
    return "".join(f"{name}=={version}\n" for name, version in sorted(versions.items()))
