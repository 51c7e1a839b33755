"""Constraints and requirements as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_codefix.grading.build import ConstraintError, check_constraints, direct_requirements


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("flask==2\nwerk zeug>=1\n", "line 2: 'werk zeug>=1' is not PEP 508"),
        ("flask==2.x.y\n", "line 1"),
        ("flask @ file:///etc/passwd\n", "line 1: a constraint is a name and versions only"),
        ("flask[async]>=2\n", "line 1: a constraint is a name and versions only"),
        ("-r /etc/passwd\n", "line 1"),
        ("--index-url x\n", "line 1"),
        ("a" * 30_000, "more than allowed"),
    ],
)
def test_a_wrong_constraint_is_named(text: str, said: str) -> None:
    with pytest.raises(ConstraintError, match=said):
        check_constraints(text)


def test_comments_and_empty_lines_are_fine() -> None:
    check_constraints("# pinned\n\nflask==2.2.3  # for now\nwerkzeug>=2,<3\n")


@given(st.text(max_size=200))
def test_nothing_else_is_raised(text: str) -> None:
    try:
        check_constraints(text)
    except ConstraintError:
        pass


def test_what_a_project_needs_is_read_from_its_metadata(tmp_path: Path) -> None:
    (tmp_path / "PKG-INFO").write_text(
        "Name: x\nRequires-Dist: flask>=2\nRequires-Dist: old; python_version < '3'\n"
        "Requires-Dist: pytest; extra == 'test'\n"
    )
    assert direct_requirements(tmp_path) == ("flask>=2",)


def test_or_from_an_egg_or_the_project_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["click<9"]\n')
    assert direct_requirements(tmp_path) == ("click<9",)
    (tmp_path / "x.egg-info").mkdir()
    (tmp_path / "x.egg-info" / "requires.txt").write_text("six\njinja2>=3\n\n[test]\npytest\n")
    assert direct_requirements(tmp_path) == ("six", "jinja2>=3")
    assert direct_requirements(tmp_path / "nowhere") == ()
