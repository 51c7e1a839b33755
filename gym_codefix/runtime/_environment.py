"""Locked virtual environments, built by uv with hard links; offline ones from what runs us."""

from __future__ import annotations

import errno
import functools
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement

from gym_codefix.catalog import CatalogError, Manifest, repos_root

from ._errors import PrepareError
from ._fetch import run_uv
from ._store import Store, sha256_of
from ._tree import release_tree, root_of

_FORMAT = "1"
_RUNNER = ("pytest", "coverage", "time-machine")


def interpreter_of(manifest: Manifest) -> str:
    """The Python that the repository's environment is made from."""
    ours: str = getattr(sys, "_base_executable", sys.executable)
    return manifest.interpreter or ours


def _lock_text(manifest: Manifest, name: str) -> str:
    try:
        return (repos_root() / name).read_text(encoding="utf-8") if name else ""
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"{manifest.name}: the lock {name}: {error}") from None


def environment_key(manifest: Manifest, version: str) -> str:
    """What decides an environment's content."""
    if manifest.requirements:
        locks = (manifest.requirements, manifest.runner)
        pinned = "".join(_lock_text(manifest, lock) for lock in locks)
    else:
        pinned = _runner_versions()
    parts = (_FORMAT, interpreter_of(manifest), sys.version, pinned, manifest.name, version)
    return sha256_of("\0".join(parts).encode())[:32]


@functools.cache
def _runner_versions() -> str:
    """What runs us does not change under us, and a reset may ask."""
    return repr(sorted((dist.name, dist.version) for dist in _closure(_RUNNER)))


def _closure(names: Iterable[str]) -> list[importlib.metadata.Distribution]:
    """Installed distributions that these need, themselves included."""
    found: dict[str, importlib.metadata.Distribution] = {}
    todo = list(names)
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in found:
            continue
        found[name] = importlib.metadata.distribution(name)
        for text in found[name].requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                todo.append(requirement.name)
    return [found[name] for name in sorted(found)]


def _site_packages(environment: Path) -> Path:
    (place,) = environment.glob("lib/python3*/site-packages")
    return place


def _copy_distributions(environment: Path) -> None:
    target = _site_packages(environment)
    for dist in _closure(_RUNNER):
        for file in dist.files or ():
            if file.parts[0] == ".." or file.suffix == ".pyc":
                continue
            place = target.joinpath(*file.parts)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(file.locate()), place)


def _write_metadata(manifest: Manifest, version: str, tree: Path, environment: Path) -> None:
    """Let ``importlib.metadata`` see the repository, without its code."""
    safe = manifest.name.replace("-", "_")
    place = _site_packages(environment) / f"{safe}-{version}.dist-info"
    place.mkdir(exist_ok=True)
    information = tree / "PKG-INFO"
    if information.exists():
        text = information.read_text(encoding="utf-8", errors="replace")
    else:
        text = f"Metadata-Version: 2.1\nName: {manifest.name}\nVersion: {version}\n"
    (place / "METADATA").write_text(text, encoding="utf-8")
    (place / "INSTALLER").write_text("gym-codefix\n")
    (place / "RECORD").write_text("")
    points = _entry_points(tree)
    if points:
        (place / "entry_points.txt").write_text(points, encoding="utf-8")


def _entry_points(tree: Path) -> str:
    """What ``entry_points.txt`` says, from an sdist's metadata or its pyproject.toml."""
    written = "*.egg-info/entry_points.txt"
    for place in (*tree.glob(written), *tree.glob(f"src/{written}")):
        return place.read_text(encoding="utf-8")
    try:
        project = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except (OSError, ValueError, KeyError):
        return ""
    groups = dict(project.get("entry-points", {}))
    groups["console_scripts"] = project.get("scripts", {})
    lines = []
    for group, points in groups.items():
        if points:
            lines += [f"[{group}]", *(f"{name} = {target}" for name, target in points.items()), ""]
    return "\n".join(lines)


def prepare_environment(manifest: Manifest, version: str, store: Store) -> Path:
    """The environment of a release, built once (raises PrepareError)."""
    key = environment_key(manifest, version)
    target = store.home / "environments" / key
    with store.locked(f"environment-{key}"):
        if target.exists():
            return target
        tree = root_of(manifest) if manifest.root else release_tree(manifest, version, store)
        with store.building(target) as place:
            place.rmdir()
            python = interpreter_of(manifest)
            options = ["--no-project", "--relocatable", "--offline", "--python", python]
            run_uv(["venv", *options, str(place)], store, stage="environment")
            if manifest.requirements:
                _install(manifest, place, store)
            else:
                _copy_distributions(place)
            _write_metadata(manifest, version, tree, place)
            _compile(place)
            os.chmod(place, 0o755)
    return target


def _install(manifest: Manifest, place: Path, store: Store) -> None:
    arguments = ["pip", "install", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    for lock in (manifest.requirements, manifest.runner):
        arguments += ["--requirement", str(repos_root() / lock)]
    run_uv([*arguments, "--python", str(place / "bin" / "python")], store, stage="environment")


def _compile(environment: Path) -> None:
    """Byte-compile what the read-only environment could not cache later."""
    command = [str(environment / "bin" / "python"), "-m", "compileall", "-q"]
    command += ["--invalidation-mode", "unchecked-hash", str(_site_packages(environment))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    log = done.stdout + done.stderr
    # 1: some file of a wheel is not valid Python, as some are; or it could not be written.
    if done.returncode not in (0, 1) or os.strerror(errno.ENOSPC) in log:
        raise PrepareError("environment", "compileall failed", log_tail=log[-2000:])
