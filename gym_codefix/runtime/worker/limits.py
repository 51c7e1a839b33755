"""Bounds on a job: those that a process takes upon itself, and what its whole tree has used."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterable, Mapping

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


def confine(limits: Mapping[str, int]) -> None:
    """Bind this process, and all that it starts, to the job's limits."""
    cpu = limits["cpu_s"]
    for kind, value, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, cpu, cpu + 1),
        (resource.RLIMIT_FSIZE, limits["file_bytes"], limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"], limits["open_files"]),
        (resource.RLIMIT_NPROC, limits["processes"], limits["processes"]),
        (resource.RLIMIT_AS, limits["memory_bytes"], limits["memory_bytes"]),
    ):
        ceiling = resource.getrlimit(kind)[1]
        if ceiling != resource.RLIM_INFINITY:
            value, hard = min(value, ceiling), min(hard, ceiling)
        try:
            resource.setrlimit(kind, (value, hard))
        except (ValueError, OSError):
            if sys.platform == "linux":
                raise
            # elsewhere some limits cannot be lowered below what is in use


def close_all_but(*kept: int) -> None:
    """Close every descriptor but 0-2 and ``kept``; 0-2 become /dev/null."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    low = 3
    for descriptor in (*sorted(kept), 1 << 20):
        os.closerange(low, descriptor)
        low = descriptor + 1


def _own_bytes(pid: int) -> int:
    """Memory of a process, pages that it shares counted in proportion."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024
    except OSError:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * _PAGE_BYTES


def _tree_use(roots: Iterable[int]) -> tuple[int, float]:
    """Memory (bytes) and CPU time (s) of these processes and all their descendants."""
    total, ticks, todo = 0, 0, list(roots)
    while todo:
        current = todo.pop()
        try:
            with open(f"/proc/{current}/stat") as file:
                times = file.read().rpartition(")")[2].split()[11:15]
            ticks += sum(map(int, times))
            for thread in os.listdir(f"/proc/{current}/task"):
                with open(f"/proc/{current}/task/{thread}/children") as file:
                    todo += map(int, file.read().split())
            total += _own_bytes(current)
        except (OSError, ValueError, IndexError):
            continue  # ended while we looked
    return total, ticks / _TICKS


def passed_limit(roots: Iterable[int], limits: Mapping[str, int], left: float) -> str | None:
    """The limit that the trees below ``roots`` passed; ``left``: of the wall time, in seconds."""
    if left <= 0:
        return "wall"
    used_bytes, used_s = _tree_use(roots)
    if used_bytes > limits["memory_bytes"]:
        return "memory"
    return "cpu" if used_s > limits["cpu_s"] + 1 else None
