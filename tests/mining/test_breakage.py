"""Dependencies that move: what breaks, with which version and at which stage."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_codefix.catalog import Manifest, manifest
from gym_codefix.mining import Breakage, find_breakages
from gym_codefix.mining.add import add_repository
from gym_codefix.runtime import PrepareError, Runtime
from tests.index import Wheel, served

WHEELS = (
    Wheel("gcfnames", "1.0", "2024-01-01", "def old(): return 1\n"),
    Wheel("gcfnames", "1.1", "2024-03-01", "def old(): return 1\ndef new(): return 1\n"),
    Wheel("gcfnames", "2.0", "2024-06-01", "def new(): return 1\n", ("gcfbelow",)),
    Wheel("gcfnames", "2.1", "2024-07-01", "def new(): return 1\n"),
    Wheel("gcfvalues", "1.0", "2024-01-01", "VALUE = 1\n"),
    Wheel("gcfvalues", "1.1", "2024-08-01", "VALUE = 2\n"),
    Wheel("gcfhelper", "1.0", "2024-01-01", "X = 1\n"),
    Wheel("gcfhelper", "2.0", "2024-05-01", "from gcfbelow import X\n", ("gcfbelow",)),
    Wheel("gcfbelow", "1.0", "2024-05-01", "X = 1\n"),
    Wheel("gcfbelow", "1.1", "2024-05-02", "X = 1\n", python=">=3.12"),
    Wheel("gcftests", "1.0", "2024-01-01", "Y = 1\n"),
    Wheel("gcftests", "1.1", "2024-09-01", "Z = 1\n"),
    Wheel("gcfcapped", "1.9", "2024-01-01", ""),
    Wheel("gcfcapped", "2.0", "2024-04-01", ""),
)
PROJECT = """
[project]
name = "pk"
version = "1"
dependencies = ["gcfnames", "gcfvalues", "gcfhelper", "gcfcapped<2"]
[project.optional-dependencies]
test = ["gcftests"]
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
"""
FILES = {
    "pyproject.toml": PROJECT,
    "src/pk/__init__.py": "import gcfhelper\nfrom gcfnames import old\nimport gcfvalues\n\n\n"
    "def both():\n    return old() + gcfvalues.VALUE + gcfhelper.X\n",
    "tests/test_both.py": "import pk\n\ndef test_both(): assert pk.both() == 3\n",
    "tests/test_old.py": "from gcftests import Y\nimport pk\n\ndef test_old(): assert pk.old()\n",
}
FIRST, LAST = datetime.date(2024, 2, 1), datetime.date(2024, 12, 1)


@pytest.fixture
def added(tmp_path: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Iterator[Manifest]:
    for path, text in FILES.items():
        place = tmp_path / "tree" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    with served(*WHEELS) as address:
        monkeypatch.setenv("UV_INDEX", address)
        source, out = str(tmp_path / "tree"), tmp_path / "out"
        found = add_repository(source, store=runtime.store, out=out, as_of=FIRST.isoformat())
        yield found.manifest


def test_breakages_are_found(added: Manifest, runtime: Runtime) -> None:
    said: list[str] = []
    found = {
        breakage.moved: breakage
        for breakage in find_breakages(added, FIRST, LAST, runtime, said.append)
    }
    assert {
        name: (one.before, one.after, one.stage, len(one.lost)) for name, one in found.items()
    } == {
        "gcfnames": ("1.1", "2.0", "import", 2),
        "gcfvalues": ("1.0", "1.1", "test", 1),
        "gcftests": ("1.0", "1.1", "collect", 1),
    }
    # A version for a later Python alone is none: it would be a second pin with a marker.
    assert found["gcfnames"].lock.count("gcfbelow==") == 1
    assert "gcfnames==2.0" in found["gcfnames"].lock and "gcfvalues==1.0" in found["gcfnames"].lock
    assert any(line == "gcfhelper 1.0 -> 2.0: green" for line in said)
    assert isinstance(found["gcfvalues"], Breakage)


def test_a_day_that_is_none(tmp_path: Path, runtime: Runtime) -> None:
    with pytest.raises(PrepareError, match=r"'soon' is not a day.*\n.*2023-03-01"):
        add_repository(str(tmp_path), store=runtime.store, as_of="soon")


def test_nothing_moves_without_a_lock(runtime: Runtime) -> None:
    embedded = manifest("ledgerbook")
    with pytest.raises(PrepareError, match="ledgerbook has no lock"):
        list(find_breakages(embedded, FIRST, LAST, runtime))
