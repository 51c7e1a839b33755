from __future__ import annotations

import pytest

from pinsolve import ConstraintError, Version, parse_constraint


@pytest.mark.parametrize(
    ("constraint", "inside", "outside"),
    [
        ("*", "0.0.1 9.9", ""),
        ("1.2", "1.2.0", "1.2.1"),
        ("^1.2", "1.2.0 1.9.9", "1.1.9 2.0.0"),
        ("^0.3.1", "0.3.1 0.3.9", "0.3.0 0.4.0"),
        ("^0.0.3", "0.0.3", "0.0.4"),
        ("^0", "0.0.1 0.9.0", "1.0.0"),
        ("~1.2.3", "1.2.3 1.2.9", "1.2.2 1.3.0"),
        ("~1", "1.0.0 1.9.0", "2.0.0"),
        ("1.4.*", "1.4.0 1.4.7", "1.3.9 1.5.0"),
        ("1.*", "1.0.0 1.9.0", "0.9.0 2.0.0"),
        (">1, <=2", "1.0.1 2.0.0", "1.0.0 2.0.1"),
        ("!=1.3", "1.2.9 1.3.1", "1.3.0"),
        ("<1 || >=2", "0.9.0 2.0.0", "1.0.0 1.9.0"),
    ],
)
def test_allows(constraint: str, inside: str, outside: str) -> None:
    parsed = parse_constraint(constraint)
    assert all(parsed.allows(Version.parse(text)) for text in inside.split())
    assert not any(parsed.allows(Version.parse(text)) for text in outside.split())


def test_prerelease_must_be_named() -> None:
    assert not parse_constraint(">=1").allows(Version.parse("2.0.0-rc.1"))
    named = parse_constraint(">=2.0.0-rc.1")
    assert named.allows(Version.parse("2.0.0-rc.2"))
    assert not named.allows(Version.parse("2.0.0-beta"))
    assert not named.allows(Version.parse("2.1.0-rc.1"))


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        (">=1", "<2", ">=1.0.0, <2.0.0"),
        ("^1.2", "~1.4", ">=1.4.0, <1.5.0"),
        (">=1", ">1", ">1.0.0"),
        ("<=2", ">=2", "==2.0.0"),
        ("*", "*", "*"),
        ("<1", ">1", "nothing"),
        ("<=1", ">1", "nothing"),
    ],
)
def test_intersect(left: str, right: str, both: str) -> None:
    assert str(parse_constraint(left).intersect(parse_constraint(right))) == both


def test_empty() -> None:
    assert parse_constraint(">2, <1").is_empty
    assert not parse_constraint("!=1").is_empty


@pytest.mark.parametrize("text", ["", ">=", "^1.*", "1.2.3.*", ">=1,,<2", "=>1", "1 ||"])
def test_refuses(text: str) -> None:
    with pytest.raises(ConstraintError):
        parse_constraint(text)
