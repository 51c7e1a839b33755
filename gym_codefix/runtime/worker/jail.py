"""What a job's process tree is, and what it gives up before an agent's code runs.

    server ── supervisor ── init ── suite
              (J1)          (J2)    (J3)

The supervisor stays outside the job's pid namespace and holds the status pipe; init is pid 1
inside: when it ends, the kernel ends everything that the job started. The suite runs the tests.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

from . import linux, seccomp
from .bytecode import bytecode_of
from .launch import INNER_ID, REPO

_EDITS = "/edits"
_LOOK_S = 0.25
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
READY = b"ready"
NESTED, FLAT = b"+", b"-"  # whether a job has a user namespace of its own


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


def _write_edits(root: str, edits: Mapping[str, str]) -> None:
    for path, text in edits.items():
        place = os.path.join(root, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8", newline="") as file:
            file.write(text)


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
        os.chdir(REPO)  # the working directory was below the overlay, where nothing is edited
    linux.unmount(_EDITS)


def _bring_loopback_up() -> None:
    import fcntl
    import socket
    import struct

    set_flags, up = 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        fcntl.ioctl(probe, set_flags, struct.pack("16sH14x", b"lo", up))


def _furnish(job: Mapping[str, Any]) -> None:
    """Private /tmp, /dev/shm, /proc and network, and the edits, in this job's namespaces."""
    limits = job["limits"]
    flags = linux.MS_NOSUID | linux.MS_NODEV
    size = f"size={limits['tmp_bytes']},nr_inodes={limits['tmp_files']}"
    linux.mount("tmpfs", "/tmp", "tmpfs", flags, f"{size},mode=1777")
    linux.mount("tmpfs", "/dev/shm", "tmpfs", flags, f"{size},mode=1777")
    try:
        options = "newinstance,ptmxmode=0666,mode=0600"
        linux.mount("devpts", "/dev/pts", "devpts", linux.MS_NOSUID | linux.MS_NOEXEC, options)
    except OSError:
        linux.mount("tmpfs", "/dev/pts", "tmpfs", flags | linux.MS_RDONLY, "size=4k")
    try:
        linux.mount("proc", "/proc", "proc", flags | linux.MS_NOEXEC)
    except OSError:
        # some container engines forbid it: better none than one that shows other jobs
        linux.mount("tmpfs", "/proc", "tmpfs", flags | linux.MS_RDONLY, "size=4k")
    _bring_loopback_up()
    _lay_over(job["edits"])


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


def _init(job: Mapping[str, Any], setup_out: int, maps_in: int, result_fd: int) -> None:
    """Pid 1 of the job: furnish the namespaces, start the suite, reap. Returns in the suite."""
    linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWIPC | linux.CLONE_NEWNET)
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    # Before the user namespace: only the owner of the pid namespace may mount its /proc.
    _furnish(job)
    try:
        linux.prctl(linux.PR_SET_DUMPABLE, 1)
        linux.unshare(linux.CLONE_NEWUSER)  # process counts of its own
        os.write(setup_out, NESTED)
        os.read(maps_in, 1)
    except OSError:
        os.write(setup_out, FLAT)  # nested user namespaces are refused: the server's own will do
        os.read(maps_in, 1)
    linux.drop_capabilities()
    if seccomp.available():
        seccomp.install()
    # Init cannot be inspected, and goes when the supervisor, who enforces the limits, goes.
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    suite = os.fork()
    if suite == 0:
        linux.prctl(linux.PR_SET_DUMPABLE, 1)
        confine(job["limits"])
        try:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write("1000")
        except OSError:
            pass
        os.write(setup_out, READY)
        close_all_but(result_fd)
        # What it starts could else open its result pipe and its memory through /proc.
        linux.prctl(linux.PR_SET_DUMPABLE, 0)
        return
    close_all_but()
    while True:
        pid, status = os.wait()
        if pid == suite:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _own_bytes(pid: int) -> int:
    """Memory of a process, pages that it shares counted in proportion."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024
    except OSError:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * _PAGE_BYTES


def _tree_use(pid: int) -> tuple[int, float]:
    """Memory (bytes) and CPU time (s) of ``pid`` and all its descendants."""
    total, ticks, todo = 0, 0, [pid]
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


def _passed_limit(pid: int, limits: Mapping[str, int], left: float) -> str | None:
    if left <= 0:
        return "wall"
    used_bytes, used_s = _tree_use(pid)
    if used_bytes > limits["memory_bytes"]:
        return "memory"
    return "cpu" if used_s > limits["cpu_s"] + 1 else None


def _watch(pid: int, limits: Mapping[str, int], status_fd: int) -> dict[str, Any]:
    """Wait for ``pid``, killing it at a limit or when nobody waits for it; what it used."""
    started, killed = time.monotonic(), None
    deadline = started + limits["wall_s"]
    pause = _LOOK_S
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
        killed = "driver" if given_up else _passed_limit(pid, limits, left)
        if killed is not None:
            os.kill(pid, signal.SIGKILL)
            _, raw, usage = os.wait4(pid, 0)
            break
    status = os.waitstatus_to_exitcode(raw)
    cpu = usage.ru_utime + usage.ru_stime
    if killed is None and status in (128 + signal.SIGXCPU, -signal.SIGXCPU):
        killed = "cpu"
    if killed is None and status in (137, -9) and cpu >= limits["cpu_s"]:
        killed = "cpu"
    return {
        "exit": status,
        "killed": killed,
        "cpu_s": cpu,
        "wall_s": time.monotonic() - started,
        "peak_bytes": usage.ru_maxrss * 1024,
    }


def _report(status_fd: int, report: Mapping[str, Any]) -> None:
    try:
        os.write(status_fd, json.dumps(report).encode() + b"\n")
    except BrokenPipeError:
        pass  # the driver gave this job up
    os._exit(0)


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


def _enter_unconfined(job: Mapping[str, Any], result_fd: int, status_fd: int) -> None:
    """``enter`` without namespaces: limits, and nothing of the job left when it ends."""
    on_linux = sys.platform == "linux"
    if on_linux:
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
    report = _watch(suite, job["limits"], status_fd)
    try:
        os.killpg(suite, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    _end_descendants()
    _report(status_fd, report)


def enter(job: Mapping[str, Any], result_fd: int, status_fd: int, *, isolated: bool) -> None:
    """Called in a server's fork: returns in the suite process only, ready to run tests."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if not isolated:
        _enter_unconfined(job, result_fd, status_fd)
        return
    setup_in, setup_out = os.pipe()
    maps_in, maps_out = os.pipe()
    try:
        linux.unshare(linux.CLONE_NEWPID)
        init = os.fork()
    except OSError as error:
        _report(status_fd, {"failure": f"no process for the job: {error}"})
    if init == 0:
        os.close(status_fd)
        os.close(setup_in)
        os.close(maps_out)
        try:
            _init(job, setup_out, maps_in, result_fd)
        except BaseException as error:
            try:
                os.write(setup_out, f"sandbox: {type(error).__name__}: {error}".encode())
            finally:
                os._exit(1)
        return
    os.close(setup_out)
    os.close(maps_in)
    os.close(result_fd)
    stage = os.read(setup_in, 1)
    if stage == NESTED:
        try:
            _map_ids(init)
        except OSError as error:
            os.kill(init, signal.SIGKILL)
            _report(status_fd, {"failure": f"sandbox: id map: {error}"})
    os.write(maps_out, b"g")
    os.close(maps_out)
    said = os.read(setup_in, 4096)
    if said != READY:
        os.kill(init, signal.SIGKILL)
        words = (stage.strip(NESTED + FLAT) + said).decode(errors="replace")
        _report(status_fd, {"failure": words or "sandbox: init died"})
    _report(status_fd, _watch(init, job["limits"], status_fd))
