"""The command that starts a server inside a sandbox of each level."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import _isolation
from .worker import launch

_RUNTIME = str(Path(__file__).parent)
_START = "import sys; sys.path.insert(0, {path!r}); from {package}.{module} import main; main()"


@dataclass(frozen=True)
class SandboxSpec:
    """What the sandbox shows: one tree, one environment, the system; and what it runs."""

    tree: Path
    environment: Path
    import_paths: tuple[str, ...]
    hash_seed: int
    outer_id: int | None
    code: str
    arguments: tuple[str, ...] = ()
    descriptors: tuple[int, ...] = ()


@functools.cache
def _interpreter(environment: Path) -> tuple[str, tuple[str, ...]]:
    """The base prefix of an environment's interpreter and the package folders to hide."""
    program = (
        "import json, sys, sysconfig; print(json.dumps([sys.base_prefix, "
        "*{sysconfig.get_path(k, vars={'base': sys.base_prefix, 'platbase': sys.base_prefix}) "
        "for k in ('purelib', 'platlib')}]))"
    )
    answer = subprocess.run(
        [environment / "bin" / "python", "-I", "-S", "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    prefix, *packages = json.loads(answer.stdout)
    return prefix, tuple(packages)


def _masks(packages: Sequence[str]) -> list[str]:
    """Folders with installed packages of the host: a later release there could hold the answer."""
    found = {*packages}
    for pattern in ("usr/lib/python3*/*-packages", "usr/local/lib/python3*/*-packages"):
        found |= {str(path) for path in Path("/").glob(pattern)}
    return sorted(found)


def repo_path(level: str, tree: Path) -> str:
    """Where the tests see the tree."""
    return str(tree) if level == _isolation.PROCESS else launch.REPO


def worker_path(level: str) -> str:
    """The folder on sys.path from which the worker package was imported."""
    return _RUNTIME if level == _isolation.PROCESS else str(Path(launch.WORKER).parent)


def worker_code(level: str, module: str) -> str:
    """The program that starts a module of the worker."""
    package = "worker" if level == _isolation.PROCESS else Path(launch.WORKER).name
    return _START.format(path=worker_path(level), package=package, module=module)


def variables(level: str, spec: SandboxSpec) -> dict[str, str]:
    """The whole environment of the server: nothing is inherited."""
    repo = repo_path(level, spec.tree)
    inside = level != _isolation.PROCESS
    environment = launch.ENVIRONMENT if inside else str(spec.environment)
    return {
        "PATH": f"{environment}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",
        "TMPDIR": "/tmp" if inside else os.environ.get("TMPDIR", "/tmp"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        "PYTHONHASHSEED": str(spec.hash_seed),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": os.pathsep.join(
            os.path.normpath(os.path.join(repo, path)) for path in spec.import_paths
        ),
    }


def probe_spec(environment: Path) -> SandboxSpec:
    """A sandbox that only says that it works."""
    return SandboxSpec(
        tree=Path(_RUNTIME),
        environment=environment,
        import_paths=(".",),
        hash_seed=0,
        outer_id=_isolation.outer_id(os.getpid()),
        code="import json; print(json.dumps('inside'))",
    )


def command(level: str, spec: SandboxSpec) -> list[str]:
    """The command line that runs ``spec.code`` in a sandbox of this level."""
    inside = level != _isolation.PROCESS
    python = (launch.ENVIRONMENT if inside else str(spec.environment)) + "/bin/python"
    argv = [python, "-c", spec.code, *spec.arguments]
    environment = variables(level, spec)
    if not inside:
        return ["/usr/bin/env", "-i", *(f"{k}={v}" for k, v in environment.items()), *argv]
    prefix, packages = _interpreter(spec.environment)
    if level == _isolation.BUBBLEWRAP:
        return _bubblewrap(spec, argv, environment, [prefix], _masks(packages))
    document = {
        "tree": str(spec.tree),
        "environment": str(spec.environment),
        "prefixes": [prefix],
        "masks": _masks(packages),
        "outer_id": spec.outer_id,
        "descriptors": list(spec.descriptors),
        "argv": argv,
        "variables": environment,
    }
    start = _START.format(path=_RUNTIME, package="worker", module="launch")
    return [sys.executable, "-I", "-S", "-c", start, json.dumps(document)]


def _bubblewrap(
    spec: SandboxSpec,
    argv: Sequence[str],
    environment: Mapping[str, str],
    prefixes: Sequence[str],
    masks: Sequence[str],
) -> list[str]:
    folders, links = launch.system_paths(prefixes)
    options = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    options += ["--uid", str(launch.INNER_ID), "--gid", str(launch.INNER_ID), "--cap-add", "ALL"]
    for path in folders:
        options += ["--ro-bind", path, path]
    for path, target in links.items():
        options += ["--symlink", target, path]
    for path in masks:
        if os.path.isdir(path) and any(path.startswith(folder + "/") for folder in folders):
            options += ["--tmpfs", path]
    options += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    options += ["--ro-bind-try", "/etc/passwd", "/etc/passwd", "--ro-bind-try", "/etc/group"]
    options += ["/etc/group", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    options += ["--dir", "/edits", "--ro-bind", str(spec.tree), launch.REPO]
    options += ["--ro-bind", str(spec.environment), launch.ENVIRONMENT]
    options += ["--ro-bind", f"{_RUNTIME}/worker", launch.WORKER, "--chdir", launch.REPO]
    for name, value in environment.items():
        options += ["--setenv", name, value]
    # What --dev makes is a file system that its user may write, and jobs share it.
    options += ["--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*options, "--", *argv]
