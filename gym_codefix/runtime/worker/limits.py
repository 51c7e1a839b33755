"""Bounds on a job: those that a process takes upon itself, and what its whole tree has used."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

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


class Use(NamedTuple):
    """What a tree of processes uses: bytes of memory, seconds of CPU time."""

    memory_bytes: int
    cpu_s: float


def _shared_bytes(pid: int) -> int:
    """Memory of a process, pages that it shares counted in proportion: slow with many mappings.

    A process that may not be looked into is counted whole.
    """
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith(b"Pss:")) * 1024
    except OSError:
        return _resident_bytes(pid)


def _resident_bytes(pid: int) -> int:
    with open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[1]) * _PAGE_BYTES


def _sum(count: Callable[[int], int], pids: Iterable[int]) -> int:
    total = 0
    for pid in pids:
        try:
            total += count(pid)
        except OSError:
            continue  # ended while we looked
    return total


def _descendants(roots: Iterable[int]) -> list[int]:
    """These processes and all below them."""
    found, todo = list[int](), list(roots)
    while todo:
        current = todo.pop()
        found.append(current)
        try:
            for thread in os.listdir(f"/proc/{current}/task"):
                with open(f"/proc/{current}/task/{thread}/children", "rb") as file:
                    todo += map(int, file.read().split())
        except OSError:
            continue  # ended while we looked
    return found


def _ticks(pid: int) -> int:
    """CPU time of a process and the children that it waited for; its name may be any bytes."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))


def tree_use(roots: Iterable[int], most_bytes: int) -> Use:
    """Of these processes and their descendants; exact where it could be over ``most_bytes``."""
    pids = _descendants(roots)
    memory = _sum(_resident_bytes, pids)
    if memory > most_bytes:
        memory = _sum(_shared_bytes, pids)
    return Use(memory, _sum(_ticks, pids) / _TICKS)


def passed_limit(use: Use, limits: Mapping[str, int], left: float) -> str | None:
    """The limit that a job has passed; ``left``: of its wall time, in seconds."""
    if left <= 0:
        return "wall"
    if use.memory_bytes > limits["memory_bytes"]:
        return "memory"
    return "cpu" if use.cpu_s > limits["cpu_s"] + 1 else None
