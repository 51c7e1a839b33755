"""The namespaces of a job, and what is given up on the way in.

    jailer ── init            small processes, which hold nothing of the repository
    server ── suite ┄┘        the fork that runs the tests: it joins what they made

Init is pid 1 of the job: when it ends, the kernel ends everything that the job started. A server
is large, so that to fork it costs more than all the rest: it is forked once a job.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from . import linux, protocol, seccomp
from .bytecode import bytecode_of
from .launch import INNER_ID, REPO
from .limits import close_all_but, confine

_EDITS = "/edits"
_READY = b"ready"
_NESTED, _FLAT = b"+", b"-"
_KINDS = {
    "mnt": linux.CLONE_NEWNS,
    "ipc": linux.CLONE_NEWIPC,
    "net": linux.CLONE_NEWNET,
    "user": linux.CLONE_NEWUSER,
    "pid": linux.CLONE_NEWPID,
}
_NEW = linux.CLONE_NEWPID | linux.CLONE_NEWNS | linux.CLONE_NEWIPC | linux.CLONE_NEWNET


class SandboxError(RuntimeError):
    """The namespaces could not be made: a fault of ours."""


class Jail(NamedTuple):
    """``init``: its pid 1, as seen from outside; ``nested``: it has a user namespace of its own."""

    init: int
    nested: bool


class Home:
    """The namespaces of the calling process, which it leaves to make others and comes back to."""

    def __init__(self) -> None:
        kinds = ("mnt", "ipc", "net", "pid")
        self._doors = {kind: os.open(f"/proc/self/ns/{kind}", os.O_RDONLY) for kind in kinds}

    def come_back(self) -> None:
        """Be in them again (raises OSError: they belong to a user namespace further out)."""
        for kind, door in self._doors.items():
            linux.setns(door, _KINDS[kind])

    def close(self) -> None:
        """Forget them."""
        for door in self._doors.values():
            os.close(door)

    def build(self, limits: Mapping[str, int]) -> Jail:
        """Make a jail (raises SandboxError, OSError); its init is a child of this process."""
        said_in, said_out = os.pipe()
        maps_in, maps_out = os.pipe()
        try:
            try:
                linux.unshare(_NEW)
                linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
                _furnish(limits)
                init = os.fork()
                if init == 0:
                    _settle(said_out, maps_in)
            finally:
                os.close(said_out)
                try:
                    self.come_back()
                except OSError:
                    os._exit(1)  # whatever it made from elsewhere would be no jail
            return _settled(init, said_in, maps_out)
        finally:
            for descriptor in (said_in, maps_in, maps_out):
                os.close(descriptor)


def own_a_home() -> None:
    """Have namespaces that this process may come back to, in a fork of it if need be.

    Bubblewrap, started by an ordinary user, makes those that it gives ahead of the user namespace.
    """
    given = Home()
    try:
        given.come_back()
        return
    except PermissionError:
        linux.unshare(_NEW)
    finally:
        given.close()
    child = os.fork()
    if child:
        close_all_but()
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    _mount_proc()
    _bring_loopback_up()


def _settled(init: int, said_in: int, maps_out: int) -> Jail:
    """Help an init along until it has settled."""
    try:
        stage = os.read(said_in, 1)
        if stage == _NESTED:
            _map_ids(init)
        os.write(maps_out, b"g")
        said = os.read(said_in, 4096)
        if said != _READY:
            words = (stage.strip(_NESTED + _FLAT) + said).decode(errors="replace")
            raise SandboxError(words or "init died")
    except (SandboxError, OSError):
        os.kill(init, signal.SIGKILL)
        os.waitpid(init, 0)
        raise
    return Jail(init, stage == _NESTED)


def _map_ids(pid: int) -> None:
    for kind in ("uid", "gid"):
        if kind == "gid":
            try:
                with open(f"/proc/{pid}/setgroups", "w") as file:
                    file.write("deny")
            except OSError:
                pass  # already denied further out
        with open(f"/proc/{pid}/{kind}_map", "w") as file:
            file.write(f"{INNER_ID} {INNER_ID} 1")


def _settle(said_out: int, maps_in: int) -> NoReturn:
    """Be init: have a user namespace, give up everything, reap."""
    try:
        try:
            linux.prctl(linux.PR_SET_DUMPABLE, 1)
            linux.unshare(linux.CLONE_NEWUSER)  # process counts of its own
            os.write(said_out, _NESTED)
        except OSError:
            os.write(said_out, _FLAT)  # none within another is allowed: the server's own will do
        os.read(maps_in, 1)
        _lock()
        # Init cannot be inspected, and goes when the jailer, who enforces the limits, goes.
        linux.prctl(linux.PR_SET_DUMPABLE, 0)
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # what pid 1 has no handler for, it ignores
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        os.write(said_out, _READY)
        close_all_but()
        while True:
            signal.sigwait({signal.SIGCHLD})
            _reap()
    except BaseException as error:
        os.write(said_out, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(1)


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _lock() -> None:
    """Give up every capability and what the filter refuses, for good."""
    linux.drop_capabilities()
    if seccomp.available():
        seccomp.install()


def _bring_loopback_up() -> None:
    import fcntl
    import struct

    set_flags, up = 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        fcntl.ioctl(probe, set_flags, struct.pack("16sH14x", b"lo", up))


def _furnish(limits: Mapping[str, int]) -> None:
    """Private /tmp, /dev/shm, terminals and network."""
    flags = linux.MS_NOSUID | linux.MS_NODEV
    size = f"size={limits['tmp_bytes']},nr_inodes={limits['tmp_files']}"
    linux.mount("tmpfs", "/tmp", "tmpfs", flags, f"{size},mode=1777")
    linux.mount("tmpfs", "/dev/shm", "tmpfs", flags, f"{size},mode=1777")
    try:
        options = "newinstance,ptmxmode=0666,mode=0600"
        linux.mount("devpts", "/dev/pts", "devpts", linux.MS_NOSUID | linux.MS_NOEXEC, options)
    except OSError:
        linux.mount("tmpfs", "/dev/pts", "tmpfs", flags | linux.MS_RDONLY, "size=4k")
    _bring_loopback_up()


def _mount_proc() -> None:
    """By a process of the pid namespace, before it joins the user namespace below its owner."""
    flags = linux.MS_NOSUID | linux.MS_NODEV
    try:
        linux.mount("proc", "/proc", "proc", flags | linux.MS_NOEXEC)
    except OSError:
        # some container engines forbid it: better none than one that shows other jobs
        linux.mount("tmpfs", "/proc", "tmpfs", flags | linux.MS_RDONLY, "size=4k")


def _write_edits(root: str, edits: Mapping[str, str]) -> None:
    for path, text in edits.items():
        place = os.path.join(root, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb", buffering=0) as file:
            file.write(text.encode())


def _lay_over(edits: Mapping[str, str]) -> None:
    """Show ``edits`` in the tree of this mount namespace only."""
    if not edits:
        return
    # Byte code of what was there before may be the answer.
    edits = {**edits, **dict.fromkeys(bytecode_of(REPO, edits), "")}
    linux.mount("tmpfs", _EDITS, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=32m,mode=755")
    _write_edits(_EDITS, edits)
    if all(os.path.isfile(os.path.join(REPO, path)) for path in edits):
        for path in edits:
            place = os.path.join(REPO, path)
            linux.mount(os.path.join(_EDITS, path), place, None, linux.MS_BIND)
            linux.make_read_only(place)
    else:
        linux.mount("overlay", REPO, "overlay", linux.MS_RDONLY, f"lowerdir={_EDITS}:{REPO}")
    linux.unmount(_EDITS)


def doors(jail: Jail) -> dict[str, int]:
    """Open a jail's namespaces: descriptors by kind (raises OSError when it is gone)."""
    opened: dict[str, int] = {}
    try:
        for kind in _KINDS:
            if kind != "user" or jail.nested:
                opened[kind] = os.open(f"/proc/{jail.init}/ns/{kind}", os.O_RDONLY)
    except OSError:
        for descriptor in opened.values():
            os.close(descriptor)
        raise
    return opened


def fork_inside(pid_namespace: int, own_pid_namespace: int) -> int:
    """``os.fork`` whose child belongs to a pid namespace that its parent stays out of."""
    linux.setns(pid_namespace, linux.CLONE_NEWPID)
    pid = -1
    try:
        pid = os.fork()
    finally:
        if pid:
            linux.setns(own_pid_namespace, linux.CLONE_NEWPID)
    return pid


def enter(
    doors: Mapping[str, int], job: Mapping[str, Any], result_fd: int, control: socket.socket
) -> None:
    """In the child of ``fork_inside``: join the other namespaces, give up all but the result pipe.

    What a server's fork holds until then, no line of the agent's code has seen.
    """
    for kind in ("mnt", "ipc", "net"):
        linux.setns(doors[kind], _KINDS[kind])
    _mount_proc()
    _lay_over(job["edits"])
    os.chdir(REPO)
    if "user" in doors:
        linux.setns(doors["user"], linux.CLONE_NEWUSER)
    os.setsid()  # a signal to its own group must not reach the server
    _lock()
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    linux.prctl(linux.PR_SET_DUMPABLE, 1)
    confine(job["limits"])
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass
    protocol.tell(control, {"ready": True})
    control.close()
    close_all_but(result_fd)
    # What it starts could else open its result pipe and its memory through /proc.
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
