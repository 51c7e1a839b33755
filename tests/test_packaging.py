"""What a user gets from the wheel, from the sdist and from an editable install."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from gym_codefix.runtime._fetch import trusting_what_we_trust

pytestmark = pytest.mark.slow

_CHECKOUT = Path(__file__).parents[1]
_ASK = "from gym_codefix.catalog._location import repos_root; print(repos_root())"


def _run(*command: str | Path, cwd: Path) -> str:
    # The checkout must not be importable by accident.
    environment = trusting_what_we_trust()
    environment.pop("PYTHONPATH", None)
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.strip()


def _tracked(folder: str) -> set[str]:
    listed = _run("git", "ls-files", "-z", folder, cwd=_CHECKOUT)
    return {name for name in listed.split("\0") if name and (_CHECKOUT / name).is_file()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from the sdist alone."""
    folder = tmp_path_factory.mktemp("dist")
    _run(
        *(sys.executable, "-m", "build", "--installer", "uv", "--outdir", folder, _CHECKOUT),
        cwd=folder,
    )
    return folder


@pytest.fixture(scope="module")
def clean_python(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("clean")
    python = folder / "venv" / "bin" / "python"
    [wheel] = built.glob("*.whl")
    _run(sys.executable, "-m", "uv", "venv", "--python", sys.executable, "venv", cwd=folder)
    _run(sys.executable, "-m", "uv", "pip", "install", "--python", python, wheel, cwd=folder)
    return python


def test_archives_carry_the_catalogue(built: Path) -> None:
    [wheel], [sdist] = built.glob("*.whl"), built.glob("*.tar.gz")
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    catalogue = _tracked("repos")
    assert catalogue
    assert catalogue <= in_sdist
    assert {f"gym_codefix/{name}" for name in catalogue} <= in_wheel
    assert _tracked("gym_codefix") <= in_wheel
    assert not [name for name in in_wheel if "__pycache__" in name]
    assert {name.partition("/")[0].partition("-")[0] for name in in_wheel} == {"gym_codefix"}


def test_the_installed_wheel_finds_it(clean_python: Path, tmp_path: Path) -> None:
    root = Path(_run(clean_python, "-c", _ASK, cwd=tmp_path))
    assert root.is_relative_to(clean_python.parents[1])
    for name in _tracked("repos"):
        assert (root.parent / name).read_bytes() == (_CHECKOUT / name).read_bytes(), name


def test_the_installed_command_runs(clean_python: Path, tmp_path: Path) -> None:
    assert "repos" in _run(clean_python.parent / "gym-codefix", "--help", cwd=tmp_path)


def test_an_editable_install_reads_the_checkout(clean_python: Path, tmp_path: Path) -> None:
    install = (sys.executable, "-m", "uv", "pip", "install", "--no-deps", "--python", clean_python)
    _run(*install, "--editable", _CHECKOUT, cwd=tmp_path)
    assert Path(_run(clean_python, "-c", _ASK, cwd=tmp_path)) == _CHECKOUT / "repos"
