"""Folders of pinned wheels, from which environments are resolved and built with no network."""

from __future__ import annotations

import os
import re
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.tags import sys_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from gym_codefix.catalog.lock import Pin, parse_lock

from ._errors import PrepareError
from ._fetch import run_uv
from ._store import Store, sha256_of, write_json

_TIMEOUT_S = 120
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_LEFT_OUT = "left-out.json"


def wheel_folder(lock: str, store: Store) -> Path:
    """Where the wheels of locked entries lie, whether they were fetched or not."""
    return store.home / "wheels" / sha256_of(lock.encode())[:32]


def fetch_wheels(lock: str, store: Store) -> Path:
    """A folder with the wheel of every locked entry that suits this Python and machine.

    A lock may have several versions of a distribution here. An entry without such a wheel is left
    out. Raises PrepareError, ArtifactMismatch.
    """
    folder = wheel_folder(lock, store)
    with store.locked(f"wheels-{folder.name}"):
        if folder.exists():
            return folder
        with store.building(folder) as place:
            left_out = []
            for pins in _rounds(parse_lock(lock)):
                offered = _offered(pins, store)
                for pin in pins:
                    wheel = _best_wheel(offered.get(pin.name, []), set(_HASH.findall(pin.text)))
                    if wheel is None:
                        left_out.append(f"{pin.name}=={pin.version}")
                    else:
                        _add(place, wheel, store)
            write_json(place / _LEFT_OUT, left_out)
    return folder


def _rounds(pins: Iterable[Pin]) -> Iterator[list[Pin]]:
    """Each distribution once in a round, since a resolver takes one version of it."""
    by_name: dict[str, list[Pin]] = {}
    for pin in pins:
        by_name.setdefault(pin.name, []).append(pin)
    while by_name:
        yield [versions.pop() for versions in by_name.values()]
        by_name = {name: versions for name, versions in by_name.items() if versions}


def _offered(pins: Iterable[Pin], store: Store) -> dict[str, list[dict[str, Any]]]:
    """The wheels that the client's index has of these versions."""
    wanted = "".join(f"{pin.name}=={pin.version}\n" for pin in pins)
    answer = run_uv(
        ["pip", "compile", "--no-deps", "--format", "pylock.toml", "--no-header", "-"],
        store,
        stage="wheels",
        stdin=wanted,
    )
    return {
        package["name"]: package.get("wheels", []) for package in tomllib.loads(answer)["packages"]
    }


def _best_wheel(wheels: Iterable[dict[str, Any]], hashes: set[str]) -> dict[str, Any] | None:
    """Of the pinned ones, the one that an installer would choose here."""
    ranks = {tag: rank for rank, tag in enumerate(sys_tags())}
    best: tuple[int, dict[str, Any]] | None = None
    for wheel in wheels:
        if wheel.get("hashes", {}).get("sha256") not in hashes:
            continue
        try:
            tags = parse_wheel_filename(_filename(wheel))[3]
        except InvalidWheelFilename:
            continue
        rank = min((ranks[tag] for tag in tags if tag in ranks), default=None)
        if rank is not None and (best is None or rank < best[0]):
            best = (rank, wheel)
    return best[1] if best else None


def _filename(wheel: dict[str, Any]) -> str:
    return str(wheel.get("name") or wheel["url"].rpartition("/")[2])


def _add(folder: Path, wheel: dict[str, Any], store: Store) -> None:
    filename, sha256 = _filename(wheel), wheel["hashes"]["sha256"]
    place = store.artifact(filename, sha256)
    if place is None:
        try:
            with urllib.request.urlopen(wheel["url"], timeout=_TIMEOUT_S) as answer:
                data = answer.read()
        except OSError as error:
            raise PrepareError("wheels", f"{filename}: {error}") from error
        place = store.add_artifact(filename, sha256, data)
    os.link(place, folder / filename)
