"""Prepared snapshots of embedded repositories, shared by the tests of the runtime."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_codefix.catalog import Manifest, manifest, parse_manifest
from gym_codefix.runtime import Runtime, Snapshot, Store, prepare


@pytest.fixture(scope="session")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store that tests may fill, but not break."""
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="session")
def rowquery(shared_store: Store) -> Snapshot:
    """src layout, with a subprocess test."""
    return prepare(manifest("rowquery"), store=shared_store)


@pytest.fixture(scope="session")
def taskgraph(shared_store: Store) -> Snapshot:
    """Flat layout."""
    return prepare(manifest("taskgraph"), store=shared_store)


@pytest.fixture(scope="session")
def runtime(shared_store: Store) -> Iterator[Runtime]:
    """One runtime at the strongest isolation of this machine."""
    one = Runtime(shared_store)
    yield one
    one.close()


@pytest.fixture(scope="session")
def no_network() -> list[str]:
    """A command prefix that runs the rest in an empty network namespace."""
    command = ["unshare", "--net"] if os.getuid() == 0 else ["unshare", "--map-current-user", "-n"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*command, "true"], check=False).returncode
    ):
        pytest.skip("no network namespaces here")
    return command


@pytest.fixture
def local(tmp_path: Path) -> Manifest:
    """A manifest over a small checkout in ``tmp_path / "checkout"``, unlike any other test's."""
    root = tmp_path / "checkout"
    for path, text in {
        "README": str(tmp_path),
        "pkg/__init__.py": "def double(x):\n    return x + x\n",
        "tests/test_pkg.py": (
            "import pkg\n\ndef test_good():\n    assert pkg.double(2) == 4\n\n"
            "def test_bad():\n    assert pkg.double(2) == 5\n"
        ),
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    document = {
        "name": "local",
        "release": "0",
        "license": "MIT",
        "python": ">=3.11",
        "split": "train",
        "source": ["pkg"],
        "tests": ["tests"],
        "import_paths": ["."],
        "path": str(root),
    }
    return parse_manifest(document, "local.toml")
