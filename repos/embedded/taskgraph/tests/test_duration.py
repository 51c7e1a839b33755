from __future__ import annotations

import pytest

from taskgraph import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("45", 45),
        ("30m", 30),
        ("1h30m", 90),
        ("1.15h", 69),
        (" 2D 1h ", 1020),
        ("1w", 2400),
    ],
)
def test_parse(text: str, minutes: int) -> None:
    assert parse_duration(text) == minutes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a duration"),
        ("1h x", "not a duration"),
        ("3y", "unknown unit 'y'"),
        ("30m 1h", "shrink"),
        ("1h 2h", "shrink"),
        ("0.3m", "whole number of minutes"),
    ],
)
def test_parse_refuses(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_duration(text)


@pytest.mark.parametrize(
    ("minutes", "text"), [(0, "0m"), (59, "59m"), (60, "1h"), (485, "1d 5m"), (4800, "10d")]
)
def test_format(minutes: int, text: str) -> None:
    assert format_duration(minutes) == text
    assert parse_duration(text) == minutes
