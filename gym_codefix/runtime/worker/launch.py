"""Build the sandbox of one server process, then execute the worker inside it.

Runs under the driver's interpreter, as root or as an ordinary user. Root is given up first: inside,
everything runs as uid 1000 mapped to an outer uid that owns nothing, since process limits do not
bind uid 0.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from . import linux

INNER_ID = 1000
REPO, ENVIRONMENT, WORKER = "/repo", "/env", "/run/gcf_worker"
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
_FILES = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\n",
    "/etc/group": "root:x:0:\nuser:x:1000:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
_HOST_FILES = ("/etc/ld.so.cache", "/etc/mime.types", "/etc/alternatives")


def _write_id_maps(pid: int, outer: int | None) -> None:
    """Map uid and gid 1000 of ``pid``'s namespace (root: 0 too, until it is given up)."""
    for kind, own in (("uid", os.getuid()), ("gid", os.getgid())):
        if outer is None:
            lines = f"{INNER_ID} {own} 1"
        else:
            lines = f"0 0 1\n{INNER_ID} {outer} 1"
        if kind == "gid" and outer is None:
            with open(f"/proc/{pid}/setgroups", "w") as file:
                file.write("deny")
        with open(f"/proc/{pid}/{kind}_map", "w") as file:
            file.write(lines)


def _leave_namespaces(outer: int | None) -> None:
    """Enter new namespaces; a helper outside writes the maps that we may not write."""
    ready, go = os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(go)
        status = 1
        try:
            if os.read(ready, 1) == b"g":
                _write_id_maps(os.getppid(), outer)
                status = 0
        finally:
            os._exit(status)
    os.close(ready)
    if outer is not None:
        os.setgroups([])
    linux.unshare(
        linux.CLONE_NEWUSER
        | linux.CLONE_NEWNS
        | linux.CLONE_NEWPID
        | linux.CLONE_NEWNET
        | linux.CLONE_NEWIPC
        | linux.CLONE_NEWUTS
    )
    os.write(go, b"g")
    os.close(go)
    if os.waitpid(helper, 0)[1] != 0:
        raise OSError("the user namespace's id map could not be written")


def _make_file(path: str, text: str = "") -> None:
    with open(path, "w") as file:
        file.write(text)


def _bind(root: str, source_fd: int, target: str, *, read_only: bool = True) -> None:
    source = f"/proc/self/fd/{source_fd}"
    place = root + target
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if os.path.isdir(source):
        os.makedirs(place, exist_ok=True)
    else:
        _make_file(place)
    linux.mount(source, place, None, linux.MS_BIND | linux.MS_REC)
    if read_only:
        linux.make_read_only(place)


def _open(path: str) -> int:
    return os.open(path, os.O_PATH)


def system_paths(prefixes: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Folders of the system to show, and the links to make in place of /bin and its like."""
    folders: list[str] = []
    links: dict[str, str] = {}
    for path in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", *prefixes):
        if os.path.islink(path) and path not in prefixes:
            links[path] = os.readlink(path)
        elif os.path.isdir(path) and not any(
            path == seen or path.startswith(seen + "/") for seen in folders
        ):
            folders.append(path)
    return folders, links


def _build_root(spec: Mapping[str, Any]) -> None:
    folders, links = system_paths(spec["prefixes"])
    binds = {path: _open(path) for path in folders}
    binds.update({path: _open(path) for path in _HOST_FILES if os.path.exists(path)})
    binds[REPO] = _open(spec["tree"])
    binds[ENVIRONMENT] = _open(spec["environment"])
    binds[WORKER] = _open(os.path.dirname(os.path.abspath(__file__)))
    devices = {name: _open(f"/dev/{name}") for name in _DEVICES if os.path.exists(f"/dev/{name}")}

    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    root = "/tmp"
    linux.mount("tmpfs", root, "tmpfs", linux.MS_NOSUID, "size=1m,mode=755")
    for path, descriptor in binds.items():
        _bind(root, descriptor, path)
    for path, target in links.items():
        os.symlink(target, root + path)
    for folder in ("/proc", "/tmp", "/dev/shm", "/dev/pts", "/etc", "/edits"):
        os.makedirs(root + folder, exist_ok=True)
    for name, descriptor in devices.items():
        _bind(root, descriptor, f"/dev/{name}", read_only=False)
    for name, target in _DEVICE_LINKS.items():
        os.symlink(target, f"{root}/dev/{name}")
    for path, text in _FILES.items():
        _make_file(root + path, text)
    for path in spec["masks"]:
        if os.path.isdir(root + path):
            linux.mount("tmpfs", root + path, "tmpfs", linux.MS_RDONLY, "size=4k")
    linux.mount("proc", root + "/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
    for folder in ("/tmp", "/dev/shm"):
        linux.mount("tmpfs", root + folder, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=16m")
    for descriptor in (*binds.values(), *devices.values()):
        os.close(descriptor)
    try:
        options = "newinstance,ptmxmode=0666,mode=0620"
        linux.mount("devpts", root + "/dev/pts", "devpts", linux.MS_NOSUID, options)
    except OSError:
        pass  # no pseudo-terminals then: tests that need one fail at baseline and are left out
    linux.pivot_root(root)
    linux.mount(
        "none", "/", None, linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY | linux.MS_NOSUID
    )


def become_inner_user() -> None:
    """Be uid 1000 of the namespace, still holding its capabilities."""
    linux.prctl(linux.PR_SET_KEEPCAPS, 1)
    os.setresgid(INNER_ID, INNER_ID, INNER_ID)
    os.setresuid(INNER_ID, INNER_ID, INNER_ID)
    linux.set_capabilities(hold=True)


def main() -> None:
    """``launch.main`` with the specification as JSON in argv[1]; does not return."""
    spec = json.loads(sys.argv[1])
    os.umask(0o022)
    _leave_namespaces(spec["outer_id"])
    child = os.fork()
    if child:
        for descriptor in spec["descriptors"]:
            os.close(descriptor)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
    _build_root(spec)
    become_inner_user()
    linux.keep_capabilities_over_exec()
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()
    os.chdir(REPO)
    os.execve(spec["argv"][0], spec["argv"], spec["variables"])
