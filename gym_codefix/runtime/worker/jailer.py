"""Who makes jails and watches them, and how a server puts its forks into them."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from . import jail, linux, protocol, supervisor

_WORDS = 1_000


class Jailer(NamedTuple):
    """``life``: a descriptor of its process; ``requests``: what to ask it by."""

    life: int
    requests: socket.socket


def start(channel: socket.socket) -> Jailer:
    """Fork the jailer of a server that is still small.

    ``channel``: the server's own, which the jailer has no business with.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        ours.close()
        channel.close()
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        gc.freeze()
        try:
            _Office(theirs).run()
        finally:
            os._exit(0)
    theirs.close()
    return Jailer(os.pidfd_open(pid), ours)


class _Office:
    """Makes jails and supervises them, all in one process, which outlives no server."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._home = jail.Home()
        self._watches: dict[int, supervisor.Watch] = {}  # by both of their descriptors
        self._dying: set[int] = set()  # inits
        self._events = select.poll()
        self._events.register(requests, select.POLLIN)

    def run(self) -> None:
        """Serve until no server is left."""
        looked = time.monotonic()
        while True:
            happened = [descriptor for descriptor, _ in self._events.poll(self._pause())]
            for descriptor in happened:
                if descriptor in self._watches:
                    self._attend(self._watches[descriptor], descriptor)
            self._reap()
            pause = self._pause()
            if pause == 0 or time.monotonic() - looked >= supervisor.LOOK_S:
                for watch in set(self._watches.values()):
                    watch.look()
                looked = time.monotonic()
            # Last, since new descriptors take the numbers of those that were closed.
            if self._requests.fileno() in happened:
                try:
                    self._take()
                except protocol.Closed:
                    return

    def _reap(self) -> None:
        """Of those who are to die only: until then a pid must mean nobody else.

        They die when the server has waited for the suite: to wait for them could be for ever.
        """
        self._dying = {pid for pid in self._dying if not os.waitpid(pid, os.WNOHANG)[0]}

    def _pause(self) -> float | None:
        """Milliseconds until somebody has to be looked at."""
        if not self._watches and not self._dying:
            return None
        left = [left for w in self._watches.values() if (left := w.left()) is not None]
        return max(0.0, 1e3 * min([supervisor.LOOK_S, *left]))

    def _take(self) -> None:
        request, (control_fd, status_fd) = protocol.hear(self._requests)
        control = socket.socket(fileno=control_fd)
        try:
            made = self._home.build(request["limits"])
            protocol.tell(control, made._asdict())
        except (jail.SandboxError, OSError) as error:
            supervisor.report(status_fd, {"failure": f"sandbox: {error}"})
            os.close(status_fd)
            control.close()
            return
        watch = supervisor.Watch(made.init, control, request["limits"], status_fd)
        self._watches[control_fd] = self._watches[status_fd] = watch
        self._events.register(control_fd, select.POLLIN)
        self._events.register(status_fd, 0)  # tells when its reader is gone

    def _attend(self, watch: supervisor.Watch, descriptor: int) -> None:
        if descriptor == watch.status_fd:
            watch.kill()
            self._forget(descriptor)
            return
        status_fd = watch.status_fd
        if watch.follow():
            self._dying.add(watch.init)
            self._forget(descriptor)
            if status_fd in self._watches:
                self._forget(status_fd)

    def _forget(self, descriptor: int) -> None:
        self._events.unregister(descriptor)
        del self._watches[descriptor]


class Forks:
    """Forks of this process that run jobs, each in a jail; the process is told when they end."""

    def __init__(self, channel: socket.socket, office: Jailer) -> None:
        self._channel, self._office = channel, office
        self._own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._running: dict[int, tuple[int, socket.socket]] = {}  # pid: its descriptor, supervisor
        self._events = select.poll()
        self._events.register(channel, select.POLLIN)
        self._events.register(office.life, select.POLLIN)

    def wait(self) -> None:
        """Return when there is a message to read; until then tell supervisors who has ended."""
        while True:
            happened = [descriptor for descriptor, _ in self._events.poll()]
            self._reap()
            if self._office.life in happened:
                os._exit(1)  # nobody holds jobs to their limits any more
            if self._channel.fileno() in happened:
                return

    def abandon(self) -> None:
        """In a fork: forget what the parent forked."""
        for descriptor, control in self._running.values():
            os.close(descriptor)
            control.close()
        os.close(self._own_pid_namespace)

    def fork(
        self,
        job: Mapping[str, Any],
        result_fd: int,
        status_fd: int,
        prepare: protocol.Prepare,
    ) -> bool:
        """Start a job; true in the process that is to run its tests, ready to.

        ``prepare`` is called while the jail is made. What fails, the supervisor tells the driver.
        """
        control = self._ask(job["limits"], status_fd)
        prepare(job)
        try:
            made, _ = protocol.hear(control)
            pid = self._fork_into(jail.Jail(**made), job, result_fd, control)
        except (protocol.Closed, OSError) as error:
            _fail(control, error)
            control.close()
        else:
            if pid == 0:
                return True
            descriptor = os.pidfd_open(pid)
            self._running[pid] = descriptor, control
            self._events.register(descriptor, select.POLLIN)
            _tell(control, {"suite": pid})
        os.close(result_fd)
        return False

    def _ask(self, limits: Mapping[str, int], status_fd: int) -> socket.socket:
        """Order a jail; the supervisor at the other end holds the status pipe from now on."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            protocol.tell(self._office.requests, {"limits": limits}, (theirs.fileno(), status_fd))
        os.close(status_fd)
        return ours

    def _fork_into(
        self, made: jail.Jail, job: Mapping[str, Any], result_fd: int, control: socket.socket
    ) -> int:
        doors = jail.doors(made)
        pid = -1
        try:
            pid = jail.fork_inside(doors["pid"], self._own_pid_namespace)
        finally:
            if pid:
                for descriptor in doors.values():
                    os.close(descriptor)
        if pid == 0:
            self.abandon()
            self._channel.close()
            self._office.requests.close()
            try:
                jail.enter(doors, job, result_fd, control)
            except BaseException as error:
                _fail(control, error)
                os._exit(1)
        return pid

    def _reap(self) -> None:
        """Wait for all that has ended: also tiers, and orphans where this is pid 1."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._running:
                descriptor, control = self._running.pop(pid)
                self._events.unregister(descriptor)
                os.close(descriptor)
                with control:
                    _tell(control, supervisor.how_it_ended(status, usage))


def _fail(control: socket.socket, error: BaseException) -> None:
    _tell(control, {"failure": f"sandbox: {type(error).__name__}: {error}"[:_WORDS]})


def _tell(control: socket.socket, message: dict[str, Any]) -> None:
    try:
        protocol.tell(control, message)
    except OSError:
        pass  # the supervisor is gone: the driver has its report, or sees that there is none
