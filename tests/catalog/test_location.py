from __future__ import annotations

from pathlib import Path

import pytest

import gym_codefix
from gym_codefix.catalog import _location


def test_a_checkout_has_it_beside_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(_location.REPOS_VARIABLE, raising=False)
    assert _location.repos_root() == Path(gym_codefix.__file__).parents[1] / "repos"


def test_the_variable_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(_location.REPOS_VARIABLE, str(tmp_path))
    assert _location.repos_root() == tmp_path
    monkeypatch.setenv(_location.REPOS_VARIABLE, str(tmp_path / "missing"))
    with pytest.raises(FileNotFoundError, match=r"GYM_CODEFIX_REPOS names .*missing"):
        _location.repos_root()


def test_an_installed_package_carries_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(_location.REPOS_VARIABLE, raising=False)
    package = tmp_path / "gym_codefix"
    monkeypatch.setattr(_location.resources, "files", lambda _: package)
    with pytest.raises(FileNotFoundError, match="reinstall"):
        _location.repos_root()
    (package / "repos").mkdir(parents=True)
    (tmp_path / "repos").mkdir()
    assert _location.repos_root() == package / "repos"
