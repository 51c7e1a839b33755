"""The few Linux calls that the standard library of Python 3.11 does not offer."""

from __future__ import annotations

import ctypes
import os
import platform
import struct

CLONE_PARENT = 0x00008000
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 0x2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
PR_CAP_AMBIENT_CLEAR_ALL = 4
LAST_CAPABILITY = 40

_MOUNT_ATTR_RDONLY = 0x1
_MOUNT_ATTR_NOSUID = 0x2
_MOUNT_ATTR_NODEV = 0x4
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_SYS_MOUNT_SETATTR = 442  # the same number on every architecture
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Leave the named namespaces for new ones (raises OSError)."""
    _check(_libc.unshare(flags), "unshare")


def setns(descriptor: int, kind: int) -> None:
    """Join the namespace of this kind (pid: for children only; raises OSError)."""
    _check(_libc.setns(descriptor, kind), "setns")


def mount(source: str, target: str, kind: str | None, flags: int = 0, data: str = "") -> None:
    """mount(2) (raises OSError)."""
    _check(
        _libc.mount(
            source.encode(),
            target.encode(),
            kind.encode() if kind else None,
            ctypes.c_ulong(flags),
            data.encode() if data else None,
        ),
        f"mount {target}",
    )


def unmount(target: str) -> None:
    """Detach a mount, whoever still uses it (raises OSError)."""
    _check(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def make_read_only(target: str) -> None:
    """Make a bind mount, and all mounts below it, read-only, nosuid and nodev."""
    attributes = struct.pack(
        "QQQQ", _MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID | _MOUNT_ATTR_NODEV, 0, 0, 0
    )
    done = _libc.syscall(
        _SYS_MOUNT_SETATTR,
        _AT_FDCWD,
        target.encode(),
        _AT_RECURSIVE,
        attributes,
        ctypes.c_size_t(len(attributes)),
    )
    if done == 0:
        return
    # Linux before 5.12: only the top mount can be changed, with the flags it is locked to.
    kept = os.statvfs(target).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("none", target, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | kept)


def pivot_root(new_root: str) -> None:
    """Make ``new_root`` the root of the file system and forget the old one."""
    os.chdir(new_root)
    _check(_libc.syscall(_SYS_PIVOT_ROOT[platform.machine()], b".", b"."), "pivot_root")
    unmount(".")
    os.chdir("/")


def prctl(option: int, first: int = 0, second: int = 0) -> None:
    """prctl(2) with up to two integer arguments (raises OSError)."""
    _check(
        _libc.prctl(option, ctypes.c_ulong(first), ctypes.c_ulong(second), 0, 0),
        f"prctl {option}",
    )


def set_capabilities(*, hold: bool, inheritable: bool = False) -> None:
    """Hold every capability that is permitted (``hold``), or drop them all."""
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    data = ctypes.create_string_buffer(24)
    _check(_libc.capget(header, data), "capget")
    words = list(struct.unpack("6I", data.raw))
    for low in (0, 3):
        permitted = words[low + 1] if hold else 0
        words[low : low + 3] = [permitted, permitted, permitted if inheritable else 0]
    _check(_libc.capset(header, struct.pack("6I", *words)), "capset")


def keep_capabilities_over_exec() -> None:
    """Raise every held capability into the ambient set."""
    set_capabilities(hold=True, inheritable=True)
    for capability in range(LAST_CAPABILITY + 1):
        try:
            prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)
        except OSError:
            continue  # not a capability of this kernel, or not held


def drop_capabilities() -> None:
    """Give up every capability for good, and the ways to regain one."""
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(LAST_CAPABILITY + 1):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break  # past the last capability of this kernel
    set_capabilities(hold=False)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
