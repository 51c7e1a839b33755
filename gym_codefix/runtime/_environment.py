"""Locked virtual environments, built by uv with hard links; offline ones from what runs us."""

from __future__ import annotations

import errno
import functools
import importlib.metadata
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from packaging.requirements import Requirement

from gym_codefix.catalog import CatalogError, Manifest, repos_root
from gym_codefix.catalog.lock import Pin, parse_lock, write_lock

from ._borrowed import borrowed, copy_packages, normal_name
from ._errors import PrepareError
from ._fetch import run_uv
from ._store import Store, sha256_of

_FORMAT = "2"
_RUNNER = ("pytest", "coverage", "time-machine")
RUNNER_LOCK = "locks/runner.txt"  # in the catalogue: the same three, for any Python


def interpreter_of(manifest: Manifest) -> str:
    """The Python that the repository's environment is made from."""
    ours: str = getattr(sys, "_base_executable", sys.executable)
    return manifest.interpreter or ours


def _lock_text(manifest: Manifest, name: str) -> str:
    try:
        return manifest.place(name).read_text(encoding="utf-8") if name else ""
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"{manifest.name}: the lock {name}: {error}") from None


def environment_key(manifest: Manifest) -> str:
    """What decides an environment's content: all releases with the same locks share one."""
    if manifest.interpreter:
        pinned = borrowed(manifest.interpreter).fingerprint()
    elif manifest.requirements:
        locks = (manifest.requirements, manifest.runner)
        pinned = "".join(_lock_text(manifest, lock) for lock in locks)
    else:
        pinned = _runner_versions()
    parts = (_FORMAT, interpreter_of(manifest), sys.version, pinned)
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
        name = normal_name(todo.pop())
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


def _copy_distributions(target: Path, names: Iterable[str]) -> None:
    for dist in _closure(names):
        for file in dist.files or ():
            if file.parts[0] == ".." or file.suffix == ".pyc":
                continue
            place = target.joinpath(*file.parts)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(file.locate()), place)


def prepare_environment(manifest: Manifest, store: Store) -> Path:
    """The environment that the manifest's locks describe, built once (raises PrepareError)."""
    key = environment_key(manifest)
    target = store.home / "environments" / key
    with store.locked(f"environment-{key}"):
        if target.exists():
            return target
        with store.building(target) as place:
            place.rmdir()
            python = interpreter_of(manifest)
            options = ["--no-project", "--relocatable", "--offline", "--python", python]
            run_uv(["venv", *options, str(place)], store, stage="environment")
            if manifest.interpreter:
                _borrow(manifest, place, store)
            elif manifest.requirements:
                _install(
                    place, store, *map(manifest.place, (manifest.requirements, manifest.runner))
                )
            else:
                _copy_distributions(_site_packages(place), _RUNNER)
            _compile(place)
            os.chmod(place, 0o755)
    return target


def move_environment(
    source: Path, before: str, manifest: Manifest, wheels: Path | None, store: Store
) -> Path:
    """The environment of a lock that differs from ``before`` in some distributions.

    Built once from ``source``, the environment of ``before``: what stays is shared with it.
    ``wheels``: a folder that has the rest, so that no network is needed; None takes the index.
    Raises PrepareError, stage ``install``.
    """
    target = store.home / "environments" / environment_key(manifest)
    after = {pin.name: pin for pin in parse_lock(_lock_text(manifest, manifest.requirements))}
    old = {pin.name: pin for pin in parse_lock(before)}
    new = [pin for name, pin in after.items() if _version(old.get(name)) != pin.version]
    gone = [name for name, pin in old.items() if _version(after.get(name)) != pin.version]
    with store.locked(f"environment-{target.name}"):
        if target.exists():
            return target
        with store.building(target) as place:
            place.rmdir()
            shutil.copytree(source, place, symlinks=True, copy_function=os.link)
            for name in gone:
                _remove(_site_packages(place), name)
            if new:
                lock = place / "moved.txt"
                lock.write_text(write_lock(new), encoding="utf-8")
                offline = ["--offline", "--no-index", "--find-links", str(wheels)]
                options = offline if wheels else []
                _install(place, store, lock, options=options, stage="install")
                lock.unlink()
                _compile(place, [pin.name for pin in new])
            os.chmod(place, 0o755)
    return target


def _version(pin: Pin | None) -> str | None:
    return pin.version if pin else None


def _distribution(site: Path, name: str) -> importlib.metadata.Distribution | None:
    for dist in importlib.metadata.distributions(path=[str(site)]):
        if normal_name(dist.name) == name:
            return dist
    return None


def _remove(site: Path, name: str) -> None:
    """Unlink, never write: the files are shared with another environment.

    Empty folders go too: they would still be imported, as namespace packages.
    """
    dist = _distribution(site, name)
    folders = set()
    for file in (dist.files or ()) if dist else ():
        place = Path(str(file.locate()))
        place.unlink(missing_ok=True)
        for cached in place.parent.glob(f"__pycache__/{place.stem}.*.pyc"):
            cached.unlink()
        folders |= {place.parent / "__pycache__", *place.parents}
    for folder in sorted(folders, reverse=True):
        if folder.is_dir() and folder.is_relative_to(site) and not any(folder.iterdir()):
            folder.rmdir()


def _install(
    place: Path,
    store: Store,
    *locks: Path,
    options: Sequence[str] = (),
    stage: str = "environment",
) -> None:
    arguments = ["pip", "install", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    arguments += options
    for lock in locks:
        arguments += ["--requirement", str(lock)]
    run_uv([*arguments, "--python", str(place / "bin" / "python")], store, stage=stage)


def _borrow(manifest: Manifest, place: Path, store: Store) -> None:
    """The user's packages, and the runner where these lack it."""
    assert manifest.interpreter is not None
    source, site = borrowed(manifest.interpreter), _site_packages(place)
    copy_packages(source, site, leave_out=manifest.name)
    there = {normal_name(dist.name) for dist in importlib.metadata.distributions(path=[str(site)])}
    missing = [name for name in _RUNNER if name not in there]
    if missing and source.version == sys.version_info[:2]:
        _copy_distributions(site, missing)
    elif missing:
        _install(place, store, repos_root() / RUNNER_LOCK)


def _compile(environment: Path, names: Iterable[str] | None = None) -> None:
    """Byte-compile what the read-only environment could not cache later.

    ``names``: the distributions that are new in it (None: all of it).
    """
    site = _site_packages(environment)
    command = [str(environment / "bin" / "python"), "-m", "compileall", "-q"]
    command += ["--invalidation-mode", "unchecked-hash"]
    files: list[str] = []
    if names is None:
        command.append(str(site))
    else:
        for dist in filter(None, (_distribution(site, name) for name in names)):
            files += [str(file.locate()) for file in dist.files or () if file.suffix == ".py"]
        command += ["-i", "-"]
    done = subprocess.run(
        command, input="\n".join(files), capture_output=True, text=True, check=False
    )
    log = done.stdout + done.stderr
    # 1: some file of a wheel is not valid Python, as some are; or it could not be written.
    if done.returncode not in (0, 1) or os.strerror(errno.ENOSPC) in log:
        raise PrepareError("environment", "compileall failed", log_tail=log[-2000:])
