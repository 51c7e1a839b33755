"""Installs repositories and runs their tests; knows nothing of tasks' answers or rewards."""

from ._borrowed import normal_name
from ._coverage_map import CoverageMap
from ._environment import RUNNER_LOCK, prepare_environment
from ._errors import NotPrepared, PrepareError
from ._fetch import run_uv
from ._isolation import CHOICES as ISOLATION_CHOICES
from ._isolation import LEVELS as ISOLATION_LEVELS
from ._isolation import IsolationUnavailable
from ._isolation import choose as choose_isolation
from ._isolation import explain as explain_isolation
from ._job import Job, Limits, Start, Verdict, file_of
from ._moved import moved_manifest, prepare_moved, under
from ._prepare import load_snapshot, prepare
from ._runtime import Runtime, default_runtime
from ._server import ServerDied
from ._snapshot import Baseline, Snapshot
from ._store import HOME_VARIABLE, ArtifactMismatch, Store, StoreError, read_json, write_json
from ._tree import files_below, release_tree
from ._wheels import fetch_wheels, wheel_folder

__all__ = [
    "HOME_VARIABLE",
    "ISOLATION_CHOICES",
    "ISOLATION_LEVELS",
    "RUNNER_LOCK",
    "ArtifactMismatch",
    "Baseline",
    "CoverageMap",
    "IsolationUnavailable",
    "Job",
    "Limits",
    "NotPrepared",
    "PrepareError",
    "Runtime",
    "ServerDied",
    "Snapshot",
    "Start",
    "Store",
    "StoreError",
    "Verdict",
    "choose_isolation",
    "default_runtime",
    "explain_isolation",
    "fetch_wheels",
    "file_of",
    "files_below",
    "load_snapshot",
    "moved_manifest",
    "normal_name",
    "prepare",
    "prepare_environment",
    "prepare_moved",
    "read_json",
    "release_tree",
    "run_uv",
    "under",
    "wheel_folder",
    "write_json",
]
