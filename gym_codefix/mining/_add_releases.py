"""Pinning releases: what the index says of an sdist, and where the layout of one differs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from gym_codefix.catalog import parse_manifest
from gym_codefix.runtime import PrepareError, Store, release_tree

from ._add_layout import find_layout
from ._lock import resolve


def pin_release(name: str, version: str, store: Store) -> dict[str, Any]:
    """The facts of a release as a manifest has them (raises PrepareError)."""
    arguments = ["pip", "compile", "--no-deps", "--format", "pylock.toml", "--no-header", "-"]
    answer = resolve(arguments, store, stage="find", stdin=f"{name}=={version}\n")
    for package in tomllib.loads(answer)["packages"]:
        sdist = package.get("sdist", {})
        if sdist:
            return {
                "version": package["version"],
                "date": str(sdist.get("upload-time", ""))[:10],
                "filename": sdist.get("name") or sdist["url"].rpartition("/")[2],
                "sha256": sdist["hashes"]["sha256"],
            }
    raise PrepareError(
        "find", f"{name} {version} has no sdist", advice="clone it and give the path instead"
    )


def unpacked(document: Mapping[str, Any], store: Store, version: str | None = None) -> Path:
    """The tree of a pinned release of a manifest that has no layout yet."""
    draft = {**document, "license": "", "python": ">=3.11", "split": "train"}
    manifest = parse_manifest(draft, f"{document['name']}.toml")
    return release_tree(manifest, version or document["release"], store)


def layout_facts(tree: Path, name: str) -> dict[str, Any]:
    """The layout of a tree as a manifest has it (raises PrepareError)."""
    found = find_layout(tree, name)
    return {
        "source": list(found.source),
        "tests": list(found.tests),
        "import_paths": list(found.import_paths),
        "subset": [],
    }


def add_releases(
    document: dict[str, Any],
    versions: Sequence[str],
    store: Store,
    progress: Callable[[str], None],
) -> None:
    """Pin more releases into a manifest, the oldest first (raises PrepareError).

    One whose sdist carries no tests is left out, and ``progress`` says so.
    """
    if "path" in document:
        raise PrepareError(
            "find",
            "a checkout has no releases to pin",
            advice="name one of its releases, as in toolz==1.0.0",
        )
    pinned = {release["version"]: release for release in document["releases"]}
    for version in versions:
        release = pin_release(document["name"], version, store)
        pinned.setdefault(release["version"], release)
    document["releases"] = sorted(pinned.values(), key=_age)
    kept = []
    for release in document["releases"]:
        tree = unpacked(document, store, release["version"])
        try:
            facts = layout_facts(tree, document["name"])
        except PrepareError as error:
            progress(f"{document['name']} {release['version']} is left out: {error.message}")
            continue
        kept.append(release | {key: facts[key] for key in facts if facts[key] != document[key]})
    document["releases"] = kept


def _age(release: Mapping[str, Any]) -> tuple[Version, str]:
    try:
        return Version(release["version"]), release["date"]
    except InvalidVersion:
        return Version("0"), release["date"]
