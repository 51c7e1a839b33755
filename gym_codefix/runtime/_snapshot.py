"""Prepared trees: what `prepare` leaves behind and everything later relies on."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gym_codefix.catalog import Layout, Manifest

from . import _store
from ._coverage_map import CoverageMap
from ._environment import environment_key
from ._errors import NotPrepared
from ._metadata import METADATA_FOLDER
from ._server import ServerSpec
from ._store import sha256_of
from ._tree import files_below, root_of

_FORMAT = "8"


@dataclass(frozen=True)
class Baseline:
    """What the tests do on the pristine tree.

    ``passing``: tests with one stable, passing outcome, in collection order; ``collected``: all of
    them; ``seconds``: by test; ``modules``: what the base process imports ahead of jobs;
    ``entangled``: those that pass only when files other than their own are collected as well;
    ``tainted``: pytest itself imports the repository, so nothing of it may be loaded ahead.
    """

    passing: tuple[str, ...]
    collected: tuple[str, ...]
    seconds: Mapping[str, float]
    suite_seconds: float
    modules: tuple[str, ...]
    entangled: frozenset[str]
    tainted: bool
    coverage_file: Path

    @functools.cached_property
    def coverage(self) -> CoverageMap:
        """The map from lines to tests (read on first use)."""
        document = _store.read_json(self.coverage_file)
        if document is None:
            raise NotPrepared(f"{self.coverage_file} is missing; prepare the repository again")
        return CoverageMap(document, trust_imports=not self.tainted)


@dataclass(frozen=True)
class Snapshot:
    """A prepared tree and its environment.

    ``tests_release``: the release that the tests come from, when it is another one.
    """

    manifest: Manifest
    release: str
    tests_release: str | None
    key: str
    tree: Path
    environment: Path
    layout: Layout
    baseline: Baseline

    def read(self, path: str) -> str | None:
        """The text of a file of the pristine tree with its line ends.

        None when the tree has no such file, reaches it over a link or not at all, or when it is
        not UTF-8. A file has one spelling only: what another would name is not what edits or
        masks that lie over it name.
        """
        pure, place = PurePosixPath(path), os.path.join(self.tree, path)
        if str(pure) != path or pure.is_absolute() or ".." in pure.parts:
            return None
        if not os.path.isfile(place):
            return None
        inside = os.path.join(os.path.realpath(self.tree), os.path.normpath(path))
        if os.path.realpath(place) != inside:
            return None
        try:
            with open(place, encoding="utf-8", newline="") as file:
                return file.read()
        except UnicodeDecodeError:
            return None

    def source_files(self) -> tuple[str, ...]:
        """The files that an agent may edit."""
        return _source_files(self.tree, self.layout)

    def server_spec(self) -> ServerSpec:
        """How a worker serves this snapshot."""
        return ServerSpec(
            tree=self.tree,
            environment=self.environment,
            source=self.layout.source,
            paths=self.layout.collected,
            import_paths=self.layout.import_paths,
            pytest_args=self.manifest.pytest_args,
            modules=self.baseline.modules,
        )


@functools.lru_cache(maxsize=512)
def _source_files(tree: Path, layout: Layout) -> tuple[str, ...]:
    """Kept, since a reset may not walk a large tree."""
    return tuple(path for path in files_below(tree) if layout.is_source(path))


def snapshot_layout(manifest: Manifest, release: str, tests_release: str | None) -> Layout:
    """Source and imports of one release, tests of the other."""
    layout = manifest.layout_of(release)
    tests = manifest.layout_of(tests_release or release)
    import_paths = (*layout.import_paths, METADATA_FOLDER)
    return Layout(layout.source, tests.tests, import_paths, tests.subset)


def snapshot_key(manifest: Manifest, release: str, tests_release: str | None) -> str:
    """What decides a snapshot's content."""
    if manifest.root is not None:
        root = root_of(manifest)
        content = "\0".join(
            f"{path}\0{sha256_of((root / path).read_bytes())}" for path in files_below(root)
        )
    else:
        content = manifest.find_release(release).sha256
    tests = manifest.find_release(tests_release).sha256 if tests_release else ""
    parts = (
        _FORMAT,
        content,
        tests,
        environment_key(manifest),
        repr(snapshot_layout(manifest, release, tests_release)),
        repr(manifest.pytest_args),
        repr(sorted(manifest.unstable_tests(release))),
        sys.platform,
    )
    return f"{manifest.name}-{sha256_of(chr(0).join(parts).encode())[:24]}"
