"""Changing manifests that are in the catalogue: more releases, and locks of their own."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from gym_codefix.catalog import forget_manifests, read_manifest
from gym_codefix.runtime import PrepareError, Store, release_tree

from ._add_releases import add_releases
from ._lock import lock_requirements
from .add import to_toml


def pin_releases(
    place: Path,
    versions: Sequence[str],
    store: Store,
    progress: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Pin releases into the manifest at ``place``; those of them that could be (PrepareError)."""
    document = _read(place)
    for version in versions:
        try:
            add_releases(document, [version], store, progress)
        except PrepareError as error:
            progress(f"{document['name']} {version} is left out: {error.message}")
    _write(place, document)
    pinned = {release["version"] for release in document["releases"]}
    return [version for version in versions if version in pinned]


def forget_releases(place: Path, versions: Collection[str]) -> None:
    """Take releases out of the manifest at ``place``."""
    document = _read(place)
    document["releases"] = [
        release for release in document["releases"] if release["version"] not in versions
    ]
    _write(place, document)


def lock_release(place: Path, version: str, day: str, store: Store) -> None:
    """Give a release a lock of its own, of what there was on a day (raises PrepareError)."""
    pin_releases(place, [version], store)
    known = read_manifest(place)
    tree = release_tree(known, version, store)
    text = lock_requirements(tree, known.place(known.runner), store, as_of=day)
    name = f"locks/{known.name}-{version}.txt"
    (place.parent / name).write_text(text, encoding="utf-8")
    document = _read(place)
    for release in document["releases"]:
        if release["version"] == version:
            release["requirements"] = name
    _write(place, document)


def _read(place: Path) -> dict[str, Any]:
    return tomllib.loads(place.read_text(encoding="utf-8"))


def _write(place: Path, document: dict[str, Any]) -> None:
    place.write_text(to_toml(document), encoding="utf-8")
    forget_manifests()
