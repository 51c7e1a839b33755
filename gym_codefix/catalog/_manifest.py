"""Manifests: what a repository is, pinned by hash."""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from ._errors import CatalogError
from ._location import repos_root

SPLITS = ("train", "dev", "test")
_TEST_FOLDERS = frozenset({"tests", "test"})
_LAYOUT_KEYS = ("source", "tests", "import_paths", "subset")
_KEYS = (
    *("name", "release", "license", "python", "split", *_LAYOUT_KEYS, "pytest_args"),
    *("requirements", "runner", "embedded", "path", "interpreter", "releases", "unstable"),
)
_RELEASE_KEYS = ("version", "date", "filename", "sha256", "requirements", *_LAYOUT_KEYS)
_UNSTABLE_KEYS = ("release", "tests", "reason")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")


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
        if not inside or not path.endswith(".py") or self.is_test(path):
            return False
        return ".." not in PurePosixPath(path).parts


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


@dataclass(frozen=True)
class Release:
    """One sdist of a repository: file name, sha256 and day of upload (ISO).

    ``requirements``: a lock of its own in place of the repository's, or empty.
    """

    version: str
    date: str
    filename: str
    sha256: str
    layout: Layout
    requirements: str = ""


@dataclass(frozen=True)
class Manifest:
    """One repository.

    ``root``: the folder of an embedded or local tree, else None. ``home``: the catalogue's folder,
    to which locks and embedded trees are relative (None: of the catalogue in use).
    """

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
    home: Path | None = None

    def place(self, name: str) -> Path:
        """A lock, or an embedded or local tree, on this machine."""
        return (self.home or repos_root()) / name

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

    def with_lock(self, place: Path) -> Manifest:
        """The repository, all of its releases, with another lock."""
        releases = tuple(replace(release, requirements="") for release in self.releases)
        return replace(self, requirements=str(place.absolute()), releases=releases)

    def locked_for(self, version: str) -> Manifest:
        """The repository with the lock of one of its releases."""
        own = next((r.requirements for r in self.releases if r.version == version), "")
        return replace(self, requirements=own) if own else self

    def layout_of(self, version: str) -> Layout:
        """The layout of a release, or of the tree of an embedded or local repository."""
        if self.root is not None:
            return self.layout
        return self.find_release(version).layout

    def unstable_tests(self, version: str) -> frozenset[str]:
        """Tests of a release that are known not to give one stable outcome."""
        return frozenset(test for release, test, _ in self.unstable if release == version)


class _Table:
    """One TOML table whose keys are checked as they are taken."""

    def __init__(self, document: object, where: str, keys: tuple[str, ...]) -> None:
        if not isinstance(document, dict):
            raise CatalogError(f"{where}: a table is needed, not {document!r}")
        for key in document:
            if key not in keys:
                raise CatalogError(f"{where}: unknown key {key!r}; valid: {', '.join(keys)}")
        self._document: dict[str, Any] = document
        self.where = where

    def __contains__(self, key: str) -> bool:
        return key in self._document

    def text(self, key: str, default: str | None = None) -> str:
        """A text; without a default it must be there."""
        value = self._document.get(key, default)
        if value is None:
            raise CatalogError(f"{self.where}: the key {key!r} is missing")
        if not isinstance(value, str):
            raise CatalogError(f"{self.where}: {key} must be a text, not {value!r}")
        return value

    def matching(self, key: str, pattern: re.Pattern[str], what: str) -> str:
        """A text of one form."""
        value = self.text(key)
        if not pattern.fullmatch(value):
            raise CatalogError(f"{self.where}: {key} must be {what}, not {value!r}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, empty when it is not there."""
        value = self._document.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise CatalogError(f"{self.where}: {key} must be a list of texts, not {value!r}")
        return tuple(value)

    def inside(self, key: str, *values: str) -> tuple[str, ...]:
        """Those paths, which must stay below the folder that they are relative to."""
        for value in values:
            pure = PurePosixPath(value)
            if pure.is_absolute() or ".." in pure.parts or "\0" in value:
                raise CatalogError(f"{self.where}: {key} leaves the tree: {value!r}")
        return values

    def tables(self, key: str) -> list[Any]:
        """An array of tables, empty when it is not there."""
        value = self._document.get(key, [])
        if not isinstance(value, list):
            raise CatalogError(f"{self.where}: {key} must be an array of tables, not {value!r}")
        return value


def _layout(table: _Table, base: Layout | None) -> Layout:
    def paths(key: str) -> tuple[str, ...]:
        if base is not None and key not in table:
            inherited: tuple[str, ...] = getattr(base, key)
            return inherited
        return table.inside(key, *table.texts(key))

    return Layout(*map(paths, _LAYOUT_KEYS))


def _release(document: object, where: str, layout: Layout) -> Release:
    table = _Table(document, where, _RELEASE_KEYS)
    table.where = f"{where}: release {table.text('version')}"
    return Release(
        version=table.matching("version", _NAME, "a version"),
        date=table.text("date"),
        filename=table.matching("filename", _NAME, "a plain file name"),
        sha256=table.matching("sha256", _SHA256, "64 hexadecimal digits"),
        layout=_layout(table, layout),
        requirements=table.inside("requirements", table.text("requirements", ""))[0],
    )


def _unstable(document: object, where: str) -> list[tuple[str, str, str]]:
    table = _Table(document, f"{where}: unstable", _UNSTABLE_KEYS)
    release, reason = table.text("release"), table.text("reason")
    return [(release, test, reason) for test in table.texts("tests")]


def _root(table: _Table, name: str) -> str | None:
    if "embedded" in table:
        return f"embedded/{name}"
    if "path" not in table:
        return None
    root = table.text("path")
    if not Path(root).is_absolute():
        raise CatalogError(f"{table.where}: path must be absolute, not {root!r}")
    return root


def parse_manifest(document: dict[str, Any], where: str, home: Path | None = None) -> Manifest:
    """A manifest from its TOML document (raises CatalogError naming file and key)."""
    table = _Table(document, where, _KEYS)
    name = table.matching("name", _NAME, "letters, digits, dots and dashes")
    split, python = table.text("split"), table.text("python")
    if split not in SPLITS:
        raise CatalogError(f"{where}: split {split!r}; valid: {', '.join(SPLITS)}")
    try:
        SpecifierSet(python)
    except InvalidSpecifier as error:
        raise CatalogError(f"{where}: python: {error}") from None
    layout = _layout(table, None)
    lock, runner = table.text("requirements", ""), table.text("runner", "")
    manifest = Manifest(
        name=name,
        release=table.text("release"),
        license=table.text("license"),
        python=python,
        split=split,
        layout=layout,
        pytest_args=table.texts("pytest_args"),
        requirements=table.inside("requirements", lock)[0],
        runner=table.inside("runner", runner)[0],
        releases=tuple(_release(entry, where, layout) for entry in table.tables("releases")),
        unstable=tuple(
            item for entry in table.tables("unstable") for item in _unstable(entry, where)
        ),
        root=_root(table, name),
        interpreter=table.text("interpreter") if "interpreter" in table else None,
        home=home,
    )
    if manifest.root is None:
        try:
            manifest.find_release(manifest.release)
        except CatalogError as error:
            raise CatalogError(f"{where}: release: {error}") from None
    return manifest


def read_manifest(path: Path) -> Manifest:
    """Read a manifest file (raises CatalogError)."""
    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except (OSError, ValueError) as error:  # ValueError: not TOML, or not UTF-8
        raise CatalogError(f"{path}: {error}") from None
    found = parse_manifest(document, str(path), path.absolute().parent)
    if found.name != path.stem:
        raise CatalogError(f"{path}: name {found.name!r} is not the file's name")
    return found


@functools.cache
def _read_all(root: Path) -> dict[str, Manifest]:
    return {path.stem: read_manifest(path) for path in sorted(root.glob("*.toml"))}


def forget_manifests() -> None:
    """Read them again when they are next asked for: one was written."""
    _read_all.cache_clear()


def manifests() -> dict[str, Manifest]:
    """Every repository of the catalogue by name."""
    return dict(_read_all(repos_root()))


def manifest(name: str) -> Manifest:
    """One repository (raises CatalogError naming the known ones)."""
    known = _read_all(repos_root())
    if name not in known:
        raise CatalogError(
            f"unknown repository {name!r}; known: {', '.join(sorted(known))}; "
            "`gym-codefix repos add` makes another one known"
        )
    return known[name]
