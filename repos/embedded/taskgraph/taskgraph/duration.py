"""Durations in whole minutes, written as `1d 2h 30m`."""

from __future__ import annotations

import re
from fractions import Fraction

HOUR = 60
DAY = 8 * HOUR

_UNITS = {"w": 5 * DAY, "d": DAY, "h": HOUR, "m": 1}
_PART = re.compile(r"(\d+(?:\.\d+)?)([a-z])\s*")


def parse_duration(text: str) -> int:
    """Minutes of work: a day has 8 hours and a week 5 days, and a bare number is minutes.

    Units come from the largest to the smallest, each once. Raises ValueError for anything else,
    and for what is not a whole number of minutes.
    """
    stripped = text.strip().lower()
    if stripped.isdecimal():
        return int(stripped)
    total, position, smallest = Fraction(), 0, 2 * _UNITS["w"]
    while match := _PART.match(stripped, position):
        number, unit = match.groups()
        if unit not in _UNITS:
            raise ValueError(f"unknown unit {unit!r} in {text!r}; units are {', '.join(_UNITS)}")
        if _UNITS[unit] >= smallest:
            raise ValueError(f"units must shrink from left to right: {text!r}")
        smallest = _UNITS[unit]
        total += Fraction(number) * smallest
        position = match.end()
    if position == 0 or position < len(stripped):
        raise ValueError(f"not a duration: {text!r}")
    if total.denominator != 1:
        raise ValueError(f"not a whole number of minutes: {text!r}")
    return int(total)


def format_duration(minutes: int) -> str:
    """The shortest text that parse_duration reads back; weeks are written as days."""
    if minutes < 0:
        raise ValueError("a duration may not be negative")
    if minutes == 0:
        return "0m"
    parts: list[str] = []
    for unit in ("d", "h", "m"):
        count, minutes = divmod(minutes, _UNITS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts)
