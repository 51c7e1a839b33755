"""Manifests: what a repository is, pinned by hash."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ._errors import CatalogError
from ._location import repos_root

SPLITS = ("train", "dev", "test")
_TEST_FOLDERS = frozenset({"tests", "test"})


@dataclass(frozen=True)
class Layout:
    """Where one release keeps what: paths relative to its tree."""

    source: tuple[str, ...]
    tests: tuple[str, ...]
    import_paths: tuple[str, ...]
    subset: tuple[str, ...]

    @property
    def collected(self) -> tuple[str, ...]:
        """What pytest is given."""
        return self.subset or self.tests

    def is_test(self, path: str) -> bool:
        """Whether a file belongs to the tests, wherever it lies."""
        pure = PurePosixPath(path)
        name = pure.name
        if name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py"):
            return True
        if _TEST_FOLDERS & set(pure.parts[:-1]):
            return True
        return any(_below(path, folder) for folder in self.tests if folder not in self.source)

    def is_source(self, path: str) -> bool:
        """Whether a file is code that an agent may edit."""
        inside = any(_below(path, folder) for folder in self.source)
        return inside and path.endswith(".py") and not self.is_test(path)


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


@dataclass(frozen=True)
class Release:
    """One sdist of a repository: file name, sha256 and day of upload (ISO)."""

    version: str
    date: str
    filename: str
    sha256: str
    layout: Layout


@dataclass(frozen=True)
class Manifest:
    """One repository. ``root``: the folder of an embedded or local tree, else None."""

    name: str
    release: str
    license: str
    python: str
    split: str
    layout: Layout
    pytest_args: tuple[str, ...]
    requirements: str
    runner: str
    releases: tuple[Release, ...]
    unstable: tuple[tuple[str, str, str], ...]  # (release, test, reason)
    root: str | None
    interpreter: str | None

    @property
    def embedded(self) -> bool:
        """Whether the tree comes with gym_codefix and needs no network."""
        return self.root is not None and not Path(self.root).is_absolute()

    def find_release(self, version: str) -> Release:
        """The pinned release (raises CatalogError naming the known ones)."""
        for release in self.releases:
            if release.version == version:
                return release
        known = ", ".join(release.version for release in self.releases) or "none"
        raise CatalogError(f"{self.name} has no pinned release {version!r}; known: {known}")

    def layout_of(self, version: str) -> Layout:
        """The layout of a release, or of the tree of an embedded or local repository."""
        if self.root is not None:
            return self.layout
        return self.find_release(version).layout

    def unstable_tests(self, version: str) -> frozenset[str]:
        """Tests of a release that are known not to give one stable outcome."""
        return frozenset(test for release, test, _ in self.unstable if release == version)


def _layout(document: dict[str, Any], base: Layout | None, where: str) -> Layout:
    def paths(key: str) -> tuple[str, ...]:
        value = document.get(key)
        if value is None:
            if base is None:
                return ()
            inherited: tuple[str, ...] = getattr(base, key)
            return inherited
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise CatalogError(f"{where}: {key} must be a list of paths")
        for item in value:
            if PurePosixPath(item).is_absolute() or ".." in PurePosixPath(item).parts:
                raise CatalogError(f"{where}: {key} leaves the tree: {item!r}")
        return tuple(value)

    return Layout(paths("source"), paths("tests"), paths("import_paths"), paths("subset"))


def parse_manifest(document: dict[str, Any], where: str) -> Manifest:
    """A manifest from its TOML document (raises CatalogError naming file and key)."""
    try:
        name, split = document["name"], document["split"]
        if split not in SPLITS:
            raise CatalogError(f"{where}: split {split!r}; valid: {', '.join(SPLITS)}")
        layout = _layout(document, None, where)
        releases = tuple(
            Release(
                version=entry["version"],
                date=entry["date"],
                filename=entry["filename"],
                sha256=entry["sha256"],
                layout=_layout(entry, layout, f"{where}: release {entry['version']}"),
            )
            for entry in document.get("releases", ())
        )
        root = f"embedded/{name}" if document.get("embedded") else document.get("path")
        manifest = Manifest(
            name=name,
            release=document["release"],
            license=document["license"],
            python=document["python"],
            split=split,
            layout=layout,
            pytest_args=tuple(document.get("pytest_args", ())),
            requirements=document.get("requirements", ""),
            runner=document.get("runner", ""),
            releases=releases,
            unstable=tuple(
                (entry["release"], test, entry["reason"])
                for entry in document.get("unstable", ())
                for test in entry["tests"]
            ),
            root=root,
            interpreter=document.get("interpreter"),
        )
    except KeyError as error:
        raise CatalogError(f"{where}: the key {error} is missing") from None
    if root is None:
        manifest.find_release(manifest.release)
    return manifest


def read_manifest(path: Path) -> Manifest:
    """Read a manifest file (raises CatalogError)."""
    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise CatalogError(f"{path}: {error}") from None
    return parse_manifest(document, str(path))


@functools.cache
def _read_all(root: Path) -> dict[str, Manifest]:
    return {path.stem: read_manifest(path) for path in sorted(root.glob("*.toml"))}


def manifests() -> dict[str, Manifest]:
    """Every repository of the catalogue by name."""
    return dict(_read_all(repos_root()))


def manifest(name: str) -> Manifest:
    """One repository (raises CatalogError naming the known ones)."""
    known = _read_all(repos_root())
    if name not in known:
        raise CatalogError(f"unknown repository {name!r}; known: {', '.join(sorted(known))}")
    return known[name]
