"""Builds: resolve, install, compile, import, collect, test, with a log of each stage."""

from ._build import BUILD_STAGES, Build, Builder, compile_fault
from ._constraints import CONSTRAINTS_FILE, constraints_of
from ._resolve import (
    CONSTRAINTS_CHARS,
    ConstraintError,
    Resolution,
    check_constraints,
    direct_requirements,
    resolve,
)

__all__ = [
    "BUILD_STAGES",
    "CONSTRAINTS_CHARS",
    "CONSTRAINTS_FILE",
    "Build",
    "Builder",
    "ConstraintError",
    "Resolution",
    "check_constraints",
    "compile_fault",
    "constraints_of",
    "direct_requirements",
    "resolve",
]
