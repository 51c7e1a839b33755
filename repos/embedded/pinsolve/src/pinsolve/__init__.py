"""Version constraints, a backtracking resolver and lock files."""

from __future__ import annotations

from pinsolve.cache import TTLCache
from pinsolve.constraint import Constraint, ConstraintError, parse_constraint
from pinsolve.lock import LockError, diff_locks, read_lock, write_lock
from pinsolve.resolver import Index, ResolutionError, resolve
from pinsolve.version import Version, VersionError

__version__ = "0.2.0"

__all__ = [
    "Constraint",
    "ConstraintError",
    "Index",
    "LockError",
    "ResolutionError",
    "TTLCache",
    "Version",
    "VersionError",
    "diff_locks",
    "parse_constraint",
    "read_lock",
    "resolve",
    "write_lock",
]
