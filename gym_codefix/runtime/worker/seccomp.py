"""A system-call filter: what no test needs and what attacks on kernels and neighbours use."""

from __future__ import annotations

import ctypes
import platform
import struct
import sys

from . import linux

_LOAD, _JUMP_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_EPERM, _ENOSYS = 0x00050001, 0x00050026
_SECCOMP_MODE_FILTER = 2

_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_X32_BIT = 0x40000000

_COMMON = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "memfd_secret": 447,
}
# Memory that no process maps escapes the count of a job's memory: absent, so that libraries
# fall back on /dev/shm, which is bounded.
_ABSENT = {
    "x86_64": {"shmget": 29, "msgget": 68, "memfd_create": 319},
    "aarch64": {"msgget": 186, "shmget": 194, "memfd_create": 279},
}
_REFUSED = {
    "x86_64": {
        "ptrace": 101,
        "pivot_root": 155,
        "chroot": 161,
        "mount": 165,
        "umount2": 166,
        "init_module": 175,
        "delete_module": 176,
        "kexec_load": 246,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "unshare": 272,
        "perf_event_open": 298,
        "open_by_handle_at": 304,
        "setns": 308,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "finit_module": 313,
        "bpf": 321,
        "userfaultfd": 323,
    },
    "aarch64": {
        "umount2": 39,
        "mount": 40,
        "pivot_root": 41,
        "chroot": 51,
        "unshare": 97,
        "kexec_load": 104,
        "init_module": 105,
        "delete_module": 106,
        "ptrace": 117,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "perf_event_open": 241,
        "open_by_handle_at": 265,
        "setns": 268,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "finit_module": 273,
        "bpf": 280,
        "userfaultfd": 282,
    },
}


def _instruction(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, operand)


def _program(machine: str) -> bytes:
    program = [
        _instruction(_LOAD, 4),  # architecture
        _instruction(_JUMP_EQUAL, _ARCHITECTURE[machine], 1, 0),
        _instruction(_RETURN, _KILL_PROCESS),
        _instruction(_LOAD, 0),  # system call number
    ]
    if machine == "x86_64":
        program += [
            _instruction(_JUMP_SET, _X32_BIT, 0, 1),
            _instruction(_RETURN, _KILL_PROCESS),
        ]
    for number in sorted({**_COMMON, **_REFUSED[machine]}.values()):
        program += [
            _instruction(_JUMP_EQUAL, number, 0, 1),
            _instruction(_RETURN, _EPERM),
        ]
    # clone3 hides its flags in memory; without it, C libraries use clone
    for number in sorted({_CLONE3, *_ABSENT[machine].values()}):
        program += [
            _instruction(_JUMP_EQUAL, number, 0, 1),
            _instruction(_RETURN, _ENOSYS),
        ]
    program += [
        _instruction(_JUMP_EQUAL, _CLONE[machine], 0, 3),
        _instruction(_LOAD, 16),  # low word of the first argument, the flags
        # A child of the suite's parent would be outside of the tree whose use is counted.
        _instruction(_JUMP_SET, linux.CLONE_NEWUSER | linux.CLONE_PARENT, 0, 1),
        _instruction(_RETURN, _EPERM),
        _instruction(_RETURN, _ALLOW),
    ]
    return b"".join(program)


def available() -> bool:
    """Whether this machine's architecture has a filter here."""
    return sys.platform == "linux" and platform.machine() in _ARCHITECTURE


_PROGRAM = _program(platform.machine()) if available() else b""


def install() -> None:
    """Filter this process and all that it starts (needs no_new_privs; raises OSError)."""
    buffer = ctypes.create_string_buffer(_PROGRAM, len(_PROGRAM))
    program = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(_PROGRAM) // 8, ctypes.addressof(buffer))
    )
    linux.prctl(linux.PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))
