from __future__ import annotations

import pytest

from pinsolve import Version, VersionError

ASCENDING = "0.9 1.0.0-1 1.0.0-2 1.0.0-10 1.0.0-a 1.0.0-a.1 1.0.0-b 1.0.0 1.0.1 1.1 2"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.2.3", Version(1, 2, 3)),
        ("v2", Version(2)),
        ("0.4", Version(0, 4)),
        ("1.0.0-rc.1", Version(1, pre=("rc", 1))),
        ("1.0.0-0", Version(1, pre=(0,))),
    ],
)
def test_parse(text: str, version: Version) -> None:
    assert Version.parse(text) == version


@pytest.mark.parametrize("text", ["", "1.2.3.4", "01.2", "1.2-", "1.0.0-rc..1", "1.0.0-01", "x"])
def test_parse_refuses(text: str) -> None:
    with pytest.raises(VersionError):
        Version.parse(text)


def test_order() -> None:
    versions = [Version.parse(text) for text in ASCENDING.split()]
    assert sorted(reversed(versions)) == versions


def test_build_is_not_compared() -> None:
    one, two = Version.parse("1.0.0+a"), Version.parse("1.0.0+b")
    assert one == two
    assert len({one, two}) == 1
    assert str(one) == "1.0.0+a"


@pytest.mark.parametrize(
    ("text", "part", "bumped"),
    [
        ("1.2.3", "patch", "1.2.4"),
        ("1.2.3", "minor", "1.3.0"),
        ("1.2.3", "major", "2.0.0"),
        ("2.0.0-rc.1", "major", "2.0.0"),
        ("1.2.3-rc.1", "minor", "1.3.0"),
    ],
)
def test_bump(text: str, part: str, bumped: str) -> None:
    assert str(Version.parse(text).bump(part)) == bumped


def test_bump_of_another_part() -> None:
    with pytest.raises(ValueError, match="major, minor, patch"):
        Version(1).bump("build")
