"""What whoever holds a job's status pipe does: keep its limits, and say what became of it."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Mapping
from typing import Any

from . import protocol
from .limits import passed_limit, tree_use

LOOK_S = 0.25


def report(status_fd: int, report: Mapping[str, Any]) -> None:
    """Say what became of the job: the one line that the driver waits for and trusts."""
    try:
        os.write(status_fd, json.dumps(report).encode() + b"\n")
    except BrokenPipeError:
        pass  # the driver gave this job up


def how_it_ended(status: int, usage: resource.struct_rusage) -> dict[str, Any]:
    """What waiting for it told: ``exit`` (negative: the signal), ``cpu_s``, ``peak_bytes``."""
    return {
        "exit": os.waitstatus_to_exitcode(status),
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
    }


def outcome(
    ended: Mapping[str, Any], killed: str | None, limits: Mapping[str, int], wall_s: float
) -> dict[str, Any]:
    """A report; ``killed``: the limit at which the supervisor ended the job."""
    if killed is None:
        at_hard_limit = ended["exit"] == -signal.SIGKILL and ended["cpu_s"] >= limits["cpu_s"]
        if ended["exit"] == -signal.SIGXCPU or at_hard_limit:
            killed = "cpu"
    return {**ended, "killed": killed, "wall_s": wall_s}


class Watch:
    """A job in a jail, as its supervisor follows it until it has ended.

    ``control``: where the server, and the suite until it is locked in, say what happens.
    """

    def __init__(
        self, init: int, control: socket.socket, limits: Mapping[str, int], status_fd: int
    ) -> None:
        self.control, self.status_fd = control, status_fd
        self.init, self._limits = init, limits
        self._roots = [init]
        self._started: float | None = None  # by then it holds nothing that it must not
        self._killed = False

    def left(self) -> float | None:
        """Seconds of wall time (None: it is killed already)."""
        if self._killed:
            return None
        used = 0.0 if self._started is None else time.monotonic() - self._started
        return self._limits["wall_s"] - used

    def look(self) -> None:
        """Kill a job that has passed a limit, and say so at once: large ones take long to die."""
        left = self.left()
        if left is None:
            return
        use = tree_use(self._roots, self._limits["memory_bytes"])
        passed = passed_limit(use, self._limits, left)
        if passed is None or select.select([self.control], [], [], 0)[0]:
            return  # it has ended meanwhile, perhaps
        self.kill()
        ended = {"exit": -signal.SIGKILL, "cpu_s": use.cpu_s, "peak_bytes": use.memory_bytes}
        wall_s = self._limits["wall_s"] - left
        report(self.status_fd, outcome(ended, passed, self._limits, wall_s))

    def kill(self) -> None:
        """End all processes of the job; the server will say that its suite is gone."""
        if not self._killed:
            self._killed = True
            os.kill(self.init, signal.SIGKILL)

    def follow(self) -> bool:
        """Take a message; whether the job has ended, and everything is said and closed."""
        try:
            message, _ = protocol.hear(self.control)
        except (protocol.Closed, OSError):
            message = {"failure": "the server is gone"}
        if "suite" in message:
            self._roots.append(message["suite"])
        elif "ready" in message:
            self._started = time.monotonic()
        else:
            self._end(message)
            return True
        return False

    def _end(self, message: Mapping[str, Any]) -> None:
        if not self._killed:
            self.kill()
            if "failure" not in message:
                if self._started is None:
                    message = {"failure": f"sandbox: its suite ended with {message['exit']}"}
                else:
                    wall_s = time.monotonic() - self._started
                    message = outcome(message, None, self._limits, wall_s)
            report(self.status_fd, message)
        os.close(self.status_fd)
        self.control.close()
