"""A tiny repository with two releases, in a store and a catalogue of its own: no network."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_codefix.catalog import Manifest, manifest
from gym_codefix.runtime import Runtime, Store

_OLD = """\
def clamp(value, low, high):
    if value < low:
        return low
    return value


def mean(values):
    if not values:
        return 0
    return sum(values) / (len(values) + 1)


def count(values):
    total = 0
    for _ in values:
        total += 1
    return total
"""
_NEW = """\
def clamp(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


def mean(values):
    if not values:
        return 0
    return sum(values) / len(values)


def count(values):
    total = 0
    for _ in values:
        total += 1
    return total


def spread(values):
    return max(values) - min(values)
"""
_TESTS = """\
import pytest

import tiny


def test_clamp_low():
    assert tiny.clamp(-1, 0, 5) == 0


@pytest.mark.parametrize("value", [6, 7, 8])
def test_clamp_high(value):
    assert tiny.clamp(value, 0, 5) == 5


def test_mean():
    assert tiny.mean([]) == 0
    assert tiny.mean([2, 4]) == 3


def test_count():
    assert tiny.count([]) == 0
    assert tiny.count("abc") == 3


def test_spread():
    assert tiny.spread([1, 5, 3]) == 4
"""
_TOML = """\
name = "tiny"
release = "{release}"
license = "MIT"
python = ">=3.11"
split = "train"
source = ["tiny"]
tests = ["tests"]
import_paths = ["."]
"""
_RELEASE = """
[[releases]]
version = "{version}"
date = "{date}"
filename = "tiny-{version}.tar.gz"
sha256 = "{sha256}"
"""


def _sdist(version: str, source: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in {"tiny/__init__.py": source, "tests/test_tiny.py": _TESTS}.items():
            entry = tarfile.TarInfo(f"tiny-{version}/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    found = Runtime(Store(tmp_path_factory.mktemp("store")))
    yield found
    found.close()


@pytest.fixture
def tiny(runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manifest:
    """Releases 1.0, with two bugs, and 1.1, which mends them and has one more function."""
    text = _TOML.format(release="1.1")
    for version, date, source in (("1.0", "2024-01-02", _OLD), ("1.1", "2024-03-04", _NEW)):
        data = _sdist(version, source)
        sha256 = hashlib.sha256(data).hexdigest()
        runtime.store.add_artifact(f"tiny-{version}.tar.gz", sha256, data)
        text += _RELEASE.format(version=version, date=date, sha256=sha256)
    (tmp_path / "tiny.toml").write_text(text)
    monkeypatch.setenv("GYM_CODEFIX_REPOS", str(tmp_path))
    return manifest("tiny")
