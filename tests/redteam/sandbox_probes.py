"""Runs inside a job, as the tests of an attacker: each passes when the sandbox holds.

``HOST``: facts of the driver's machine.
"""

from __future__ import annotations

import ctypes
import errno
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import pytest

HOST: dict = {}  # the driver fills this in
LIBC = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"


def refused(result):
    """Whether a system call failed, not for being called wrongly."""
    return result == -1 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS, errno.EACCES)


def test_network_outside():
    for address in (("192.0.2.1", 80), ("1.1.1.1", 53)):
        with pytest.raises(OSError), socket.create_connection(address, timeout=3):
            pass


def test_names_do_not_resolve():
    with pytest.raises(OSError):
        socket.getaddrinfo("example.org", 80)


def test_loopback_of_the_host():
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", HOST["port"]), timeout=3)


def test_own_loopback_works():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=3).close()


def test_abstract_socket_of_the_host():
    with socket.socket(socket.AF_UNIX) as one, pytest.raises(OSError):
        one.connect("\0" + HOST["abstract"])


def test_raw_sockets():
    for family, kind in ((socket.AF_INET, socket.SOCK_RAW), (socket.AF_PACKET, socket.SOCK_RAW)):
        with pytest.raises(OSError):
            socket.socket(family, kind)


@pytest.mark.parametrize("place", ["/root", "/home", "/work", "/var", "/boot", "/sys", "/mnt"])
def test_folders_of_the_host(place):
    inside = sys.base_prefix.startswith(place + "/")
    assert inside or not os.path.exists(place)


def test_files_of_the_host():
    for place in HOST["files"]:
        assert not os.path.exists(place)
        with pytest.raises(OSError):
            os.open("/proc/self/root" + place, os.O_RDONLY)
        link = pathlib.Path("/tmp/link")
        link.symlink_to(place)
        with pytest.raises(OSError):
            link.read_text()
        link.unlink()


def test_passwords_and_temporary_files_of_the_host():
    assert not os.path.exists("/etc/shadow")
    assert "root" not in os.listdir("/tmp")
    assert set(os.listdir("/tmp")) <= {f"pytest-of-{name}" for name in ("user", "root")}


def test_root_has_no_parent():
    up = os.open("/", os.O_PATH)
    for _ in range(8):
        below, up = up, os.open("..", os.O_PATH, dir_fd=up)
        os.close(below)
    assert os.path.samestat(os.fstat(up), os.stat("/"))
    os.close(up)


def test_only_own_processes_are_seen():
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    assert len(pids) <= 3 and max(pids) < 1000
    assert os.getpid() in pids or not pids


@pytest.mark.parametrize("name", ["environ", "mem", "fd", "root", "cwd", "maps", "exe"])
def test_init_cannot_be_inspected(name):
    place = f"/proc/1/{name}"
    with pytest.raises(OSError):
        if name == "fd":
            os.listdir(place)
        elif name in ("root", "cwd", "exe"):
            os.readlink(place)
        else:
            with open(place, "rb") as file:
                file.read(1)


def test_signals_to_its_group_stay_inside():
    assert os.getpgrp() == os.getsid(0) == os.getpid()


def test_descriptors():
    pipes = []
    for name in os.listdir("/proc/self/fd"):
        try:
            place = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if place.startswith(("pipe:", "socket:")):
            pipes.append(int(name))
        else:
            assert place == "/dev/null" or place.startswith("/proc/"), place
    assert len(pipes) == 1, "only the result pipe: no status pipe, no server's socket"
    with pytest.raises(OSError):
        os.read(pipes[0], 1)


@pytest.mark.parametrize(
    "place",
    ["/", "/repo", "/repo/tests", "/env", "/env/bin", "/usr", "/usr/bin", "/etc", "/dev", "/run",
     "/edits", "/proc", "/bin"],
)  # fmt: skip
def test_writing_outside(place):
    with pytest.raises(OSError):
        (pathlib.Path(place) / "planted").write_text("x")


def test_files_of_the_tree_stay():
    for place in ("/repo/pk/__init__.py", "/repo/tests/test_probes.py", "/env/pyvenv.cfg"):
        with pytest.raises(OSError):
            os.open(place, os.O_WRONLY)
        with pytest.raises(OSError):
            os.unlink(place)
        with pytest.raises(OSError):
            os.chmod(place, 0o777)
        with pytest.raises(OSError):
            os.rename(place, place + ".old")


def test_kernel_settings_stay():
    for place in ("kernel/hostname", "kernel/core_pattern", "vm/overcommit_memory"):
        with pytest.raises(OSError):
            pathlib.Path("/proc/sys", place).write_text("x")


def test_no_capabilities():
    status = dict(
        line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines()
    )
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name], 16) == 0, name
    assert int(status["NoNewPrivs"]) == 1
    assert int(status["Seccomp"]) == 2


def test_becoming_somebody_else():
    for call in (
        lambda: os.setuid(0),
        lambda: os.setresuid(0, 0, 0),
        lambda: os.setgid(0),
        lambda: os.setgroups([0]),
        lambda: os.chroot("/tmp"),
        lambda: os.nice(-5),
    ):
        with pytest.raises(OSError):
            call()


def test_setuid_programs_gain_nothing():
    for program in ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd"):
        if os.path.exists(program):
            flags = os.statvfs(program).f_flag
            assert flags & os.ST_NOSUID


@pytest.mark.parametrize(
    "flag", [0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
)
def test_new_namespaces(flag):
    assert refused(LIBC.unshare(flag))
    if X86:
        pid = LIBC.syscall(56, flag | signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        assert refused(pid)


def test_children_of_others_are_refused():
    """A child of the suite's parent would be outside of what its limits count."""
    parent = 0x8000
    child = LIBC.syscall(56 if X86 else 220, parent | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    assert child < 0 and ctypes.get_errno() == errno.EPERM


def test_clone3_is_absent():
    assert refused(LIBC.syscall(435, ctypes.create_string_buffer(88), 88))


def test_mounts():
    for source, place, kind, flags in (
        (b"tmpfs", b"/tmp", b"tmpfs", 0),
        (b"none", b"/repo", None, 0x20 | 0x1000),
        (b"/tmp", b"/repo", None, 0x1000),
        (b"proc", b"/proc", b"proc", 0),
    ):
        assert refused(LIBC.mount(source, place, kind, flags, None))
    assert refused(LIBC.umount2(b"/repo/tests/test_probes.py", 2))
    for number in (428, 429, 430, 442):
        assert refused(LIBC.syscall(number, 0, 0, 0, 0, 0))


@pytest.mark.skipif(not X86, reason="numbers of x86_64")
@pytest.mark.parametrize(
    "number",
    [101, 155, 161, 250, 298, 303 + 1, 308, 310, 311, 321, 323, 425, 438, 319, 29],
)
def test_calls_that_no_test_needs(number):
    assert refused(LIBC.syscall(number, 0, 0, 0, 0, 0))


def test_init_survives_signals():
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP, signal.SIGINT):
        os.kill(1, number)
    if os.fork() == 0:
        subprocess.Popen(["/bin/true"])
        os._exit(0)  # an orphan wakes init
    os.wait()
    child = subprocess.Popen(["/bin/sleep", "30"])
    os.kill(-1, signal.SIGKILL)  # everybody but init and us
    assert child.wait(5) == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(HOST["pid"], 0)


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_disk_is_bounded(folder):
    written, number = 0, 0
    with pytest.raises(OSError):
        while written < 1 << 30:
            with open(f"{folder}/fill{number}", "wb") as file:
                for _ in range(16):
                    written += file.write(bytes(1 << 20))
            number += 1
    assert written <= HOST["tmp_bytes"]
    for index in range(number + 1):
        os.unlink(f"{folder}/fill{index}")


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_inodes_are_bounded(folder):
    made = 0
    with pytest.raises(OSError):
        while made < HOST["tmp_files"] + 10:
            os.symlink("x", f"{folder}/inode{made}")
            made += 1
    for index in range(made):
        os.unlink(f"{folder}/inode{index}")


def test_one_file_is_bounded():
    with pytest.raises(OSError), open("/tmp/large", "wb") as file:
        file.truncate(HOST["file_bytes"] + 1)
    os.unlink("/tmp/large")


def test_limits_cannot_be_raised():
    import resource

    for kind in (resource.RLIMIT_CPU, resource.RLIMIT_NPROC, resource.RLIMIT_AS):
        hard = resource.getrlimit(kind)[1]
        assert hard != resource.RLIM_INFINITY
        with pytest.raises(ValueError):
            resource.setrlimit(kind, (hard, hard + 1))


def test_programs_can_be_run():
    done = subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True)
    assert done.stdout == "42\n"


def test_clock_cannot_be_set():
    with pytest.raises(OSError):
        time.clock_settime(time.CLOCK_REALTIME, 0)


@pytest.mark.parametrize("place", ["fd", "mem", "maps", "environ"])
def test_what_it_starts_cannot_reach_into_it(place):
    code = f"open('/proc/{os.getpid()}/{place}', 'rb').read(1)"
    if place == "fd":
        code = f"import os; os.listdir('/proc/{os.getpid()}/fd')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "PermissionError" in done.stderr, done
