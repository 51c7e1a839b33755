"""Manifests, tasks, suites and splits: data only, nothing is run."""

from ._dependency import GOALS, STAGES, Dependency
from ._errors import CatalogError
from ._location import repos_root
from ._manifest import (
    SPLITS,
    Layout,
    Manifest,
    Release,
    forget_manifests,
    manifest,
    manifests,
    parse_manifest,
    read_manifest,
)
from ._suite import (
    SUITES,
    Suite,
    read_tasks,
    select,
    suite,
    tasks_file,
    write_tasks,
)
from ._task import KINDS, LABELS, LEVELS, Task, facts_digest, hide_half

__all__ = [
    "GOALS",
    "KINDS",
    "LABELS",
    "LEVELS",
    "SPLITS",
    "STAGES",
    "SUITES",
    "CatalogError",
    "Dependency",
    "Layout",
    "Manifest",
    "Release",
    "Suite",
    "Task",
    "facts_digest",
    "forget_manifests",
    "hide_half",
    "manifest",
    "manifests",
    "parse_manifest",
    "read_manifest",
    "read_tasks",
    "repos_root",
    "select",
    "suite",
    "tasks_file",
    "write_tasks",
]
