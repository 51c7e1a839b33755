"""How strongly this machine can confine a job, found by trying."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMESPACES, BUBBLEWRAP, PROCESS = "namespaces", "bubblewrap", "process"
LEVELS = (NAMESPACES, BUBBLEWRAP, PROCESS)
CHOICES = ("auto", "strict", *LEVELS)
_OUTER_ID_BASE = 1_600_000_000  # far above any id that a system hands out
_TRY_TIMEOUT_S = 20


class IsolationUnavailable(RuntimeError):
    """The asked isolation cannot be had on this machine."""


def outer_id(slot: int) -> int | None:
    """The unprivileged id that a server runs as when we are root (None: our own)."""
    return _OUTER_ID_BASE + slot % 1_000_000 if os.getuid() == 0 else None


@functools.cache
def _works(level: str) -> str | None:
    """None when the level works here, else why not."""
    if sys.platform != "linux":
        return f"needs Linux, this is {sys.platform}"
    from . import _spawn

    if level == BUBBLEWRAP and shutil.which("bwrap") is None:
        return "bwrap is not installed"
    if level == BUBBLEWRAP and os.getuid() == 0:
        return "bwrap as root maps root into the sandbox, where process limits do not bind it"
    environment = Path(sys.prefix)
    spec = _spawn.probe_spec(environment)
    command = _spawn.command(level, spec)
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_TRY_TIMEOUT_S, text=True, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0 and json.loads(done.stdout or "null") == "inside":
        return None
    return (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]


def explain() -> dict[str, str | None]:
    """Per level, None when it works here, else why not (for ``doctor``)."""
    return {NAMESPACES: _works(NAMESPACES), BUBBLEWRAP: _works(BUBBLEWRAP), PROCESS: None}


def choose(asked: str = "auto") -> str:
    """The level to use. ``auto`` takes the strongest that works, ``strict`` refuses ``process``.

    Raises ValueError for an unknown name, IsolationUnavailable when it cannot be had.
    """
    if asked not in CHOICES:
        raise ValueError(f"unknown isolation {asked!r}; valid: {', '.join(CHOICES)}")
    if asked == PROCESS:
        return PROCESS
    wanted = (NAMESPACES, BUBBLEWRAP) if asked in ("auto", "strict") else (asked,)
    reasons = []
    for level in wanted:
        reason = _works(level)
        if reason is None:
            return level
        reasons.append(f"{level}: {reason}")
    if asked == "auto":
        return PROCESS
    raise IsolationUnavailable(
        f"isolation={asked!r} cannot be had here ({'; '.join(reasons)}); "
        "run `gym-codefix doctor`, or pass isolation='process' to run without a sandbox"
    )
