"""Jobs where no namespaces can be had: a process group under resource limits."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any

from . import protocol, supervisor
from .limits import close_all_but, confine, passed_limit, tree_use


class Forks:
    """Forks of this process that run jobs, each below a supervisor of its own."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps supervisors

    def wait(self) -> None:
        """Return when there is a message to read, which reading waits for by itself."""

    def abandon(self) -> None:
        """In a fork: forget what the parent forked."""

    def fork(
        self,
        job: Mapping[str, Any],
        result_fd: int,
        status_fd: int,
        prepare: protocol.Prepare,
    ) -> bool:
        """Start a job; true in the process that is to run its tests, ready to."""
        prepare(job)
        if os.fork():
            os.close(result_fd)
            os.close(status_fd)
            return False
        self._channel.close()
        try:
            _enter(job, result_fd, status_fd)
        except BaseException:
            os._exit(1)  # a supervisor that fails must not serve; the driver sees no report
        return True


def _enter(job: Mapping[str, Any], result_fd: int, status_fd: int) -> None:
    """Returns in the suite process only; nothing of the job is left when it ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    on_linux = sys.platform == "linux"
    if on_linux:
        from . import linux

        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    suite = os.fork()
    if suite == 0:
        os.setsid()
        if on_linux:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        close_all_but(result_fd)
        confine(job["limits"])
        return
    os.close(result_fd)
    outcome = _watch(suite, job["limits"], status_fd)
    try:
        os.killpg(suite, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    _end_descendants()
    supervisor.report(status_fd, outcome)
    os._exit(0)


def _watch(pid: int, limits: Mapping[str, int], status_fd: int) -> dict[str, Any]:
    """Wait for ``pid``, killing it at a limit or when nobody waits for it; what it used."""
    started, killed = time.monotonic(), None
    deadline = started + limits["wall_s"]
    pause = supervisor.LOOK_S
    events = select.poll()
    events.register(status_fd, 0)  # tells when its reader is gone
    if sys.platform == "linux":
        events.register(os.pidfd_open(pid), select.POLLIN)
    else:
        pause = 0.01
    while True:
        left = deadline - time.monotonic()
        happened = events.poll(max(0.0, min(pause, left)) * 1000)
        found, raw, usage = os.wait4(pid, os.WNOHANG)
        if found:
            break
        given_up = any(descriptor == status_fd for descriptor, _ in happened)
        use = tree_use([pid], limits["memory_bytes"])
        killed = "driver" if given_up else passed_limit(use, limits, left)
        if killed is not None:
            os.kill(pid, signal.SIGKILL)
            _, raw, usage = os.wait4(pid, 0)
            break
    ended = supervisor.how_it_ended(raw, usage)
    return supervisor.outcome(ended, killed, limits, time.monotonic() - started)


def _end_descendants() -> None:
    """Kill what this process, the reaper of its descendants, still has."""
    while True:
        try:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:
                children = [int(word) for word in file.read().split()]
        except OSError:
            return
        if not children:
            return
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
