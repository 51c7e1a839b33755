"""Repositories that run on the packages of an interpreter that the user already has."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gym_codefix.catalog import Manifest
from gym_codefix.runtime import PrepareError, Store, prepare
from gym_codefix.runtime._borrowed import borrowed


def _distribution(site: Path, name: str, files: dict[str, str]) -> None:
    folder = site / f"{name}-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    for path, text in files.items():
        (site / path).parent.mkdir(exist_ok=True)
        (site / path).write_text(text)
    (folder / "RECORD").write_text("".join(f"{path},,\n" for path in files))


@pytest.fixture
def interpreter(tmp_path: Path) -> Path:
    """A virtual environment without a test runner, in which somebody works on ``local``."""
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    _distribution(site, "needed", {"needed.py": "ANSWER = 42\n"})
    _distribution(site, "local", {"pkg/only_installed.py": ""})
    (site / "elsewhere.pth").write_text(str(tmp_path))
    return folder / "bin" / "python"


def test_its_packages_are_there_and_the_repository_is_not(
    local: Manifest, interpreter: Path, tmp_path: Path
) -> None:
    tests = tmp_path / "checkout" / "tests" / "test_borrowed.py"
    tests.write_text(
        "import importlib.util\n"
        "def test_needed():\n    import needed\n    assert needed.ANSWER == 42\n"
        "def test_own():\n    assert importlib.util.find_spec('pkg.only_installed') is None\n"
    )
    manifest = replace(local, interpreter=str(interpreter))
    snapshot = prepare(manifest, store=Store(tmp_path / "home"))
    passing = {test for test in snapshot.baseline.passing if "test_borrowed" in test}
    assert passing == {"tests/test_borrowed.py::test_needed", "tests/test_borrowed.py::test_own"}
    (site,) = snapshot.environment.glob("lib/python3*/site-packages")
    assert not list(site.glob("*elsewhere*"))


def test_a_new_package_is_another_environment(interpreter: Path) -> None:
    known = borrowed(str(interpreter))
    before = known.fingerprint()
    assert before == known.fingerprint()
    _distribution(Path(known.folders[0]), "more", {"more.py": ""})
    assert known.fingerprint() != before


@pytest.mark.parametrize("path", ["/nonexistent/python", "/bin/false"])
def test_what_is_no_interpreter_is_named(local: Manifest, tmp_path: Path, path: str) -> None:
    store = Store(tmp_path / "home")
    with pytest.raises(PrepareError, match=f"{path} does not run") as caught:
        prepare(replace(local, interpreter=path), store=store)
    assert caught.value.stage == "python" and "try: give the path" in str(caught.value)
    assert not (store.home / "environments").exists()
