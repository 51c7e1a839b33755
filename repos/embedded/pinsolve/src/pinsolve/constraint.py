"""Constraints: unions of version ranges."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pinsolve.version import Version, VersionError

_CLAUSE = re.compile(r"(?P<operator>\^|~|<=|>=|==|!=|<|>|=)?\s*(?P<operand>[^\s,]+)")


class ConstraintError(ValueError):
    """The text is not a constraint."""


@dataclass(frozen=True)
class Range:
    """The versions between two bounds; a bound that is None does not bind."""

    low: Version | None = None
    high: Version | None = None
    low_included: bool = True
    high_included: bool = False

    def contains(self, version: Version) -> bool:
        if self.low is not None and (
            version < self.low or (version == self.low and not self.low_included)
        ):
            return False
        if self.high is None:
            return True
        return version < self.high or (version == self.high and self.high_included)

    def intersect(self, other: Range) -> Range | None:
        """The versions in both ranges, or None if there cannot be any."""
        low, low_included = self.low, self.low_included
        if other.low is not None and (low is None or other.low > low):
            low, low_included = other.low, other.low_included
        elif other.low == low:
            low_included = low_included and other.low_included
        high, high_included = self.high, self.high_included
        if other.high is not None and (high is None or other.high < high):
            high, high_included = other.high, other.high_included
        elif other.high == high:
            high_included = high_included and other.high_included
        if low is not None and high is not None:
            if low > high:
                return None
            if low == high and not (low_included and high_included):
                return None
        return Range(low, high, low_included, high_included)

    def __str__(self) -> str:
        if self.low is not None and self.low == self.high:
            return f"=={self.low}"
        parts: list[str] = []
        if self.low is not None:
            parts.append(f"{'>=' if self.low_included else '>'}{self.low}")
        if self.high is not None:
            parts.append(f"{'<=' if self.high_included else '<'}{self.high}")
        return ", ".join(parts) or "*"


@dataclass(frozen=True)
class Constraint:
    """What any of `ranges` contains; no range at all means that nothing fits."""

    ranges: tuple[Range, ...]

    def allows(self, version: Version) -> bool:
        """Whether a version fits.

        A prerelease fits only if a bound is a prerelease of the same release: `>=2.0.0-rc.1` lets
        in 2.0.0-rc.2 and not 2.1.0-rc.1.
        """
        return any(
            item.contains(version) and (not version.is_prerelease or _names(item, version))
            for item in self.ranges
        )

    def intersect(self, other: Constraint) -> Constraint:
        both = (left.intersect(right) for left in self.ranges for right in other.ranges)
        return Constraint(tuple(dict.fromkeys(item for item in both if item is not None)))

    @property
    def is_empty(self) -> bool:
        return not self.ranges

    def __str__(self) -> str:
        return " || ".join(map(str, self.ranges)) or "nothing"


ANY = Constraint((Range(),))


def parse_constraint(text: str) -> Constraint:
    """Read `^1.2`, `~1.2.3`, `1.4.*`, `>=1, <2`, `!=1.3.1`, `*`, and alternatives with `||`.

    A bare version means that very version. Raises ConstraintError.
    """
    ranges: list[Range] = []
    for alternative in text.split("||"):
        combined = ANY
        for clause in alternative.split(","):
            combined = combined.intersect(_parse_clause(clause.strip(), text))
        ranges.extend(combined.ranges)
    return Constraint(tuple(dict.fromkeys(ranges)))


def _parse_clause(clause: str, text: str) -> Constraint:
    match = _CLAUSE.fullmatch(clause)
    if match is None:
        raise ConstraintError(f"not a constraint: {text!r}")
    operator, operand = match["operator"] or "=", match["operand"]
    if operand == "*" or operand.endswith(".*"):
        if operator not in ("=", "=="):
            raise ConstraintError(f"{operator} does not go with a wildcard: {text!r}")
        return _wildcard(operand, text)
    try:
        version = Version.parse(operand)
    except VersionError as error:
        raise ConstraintError(f"{error} in {text!r}") from error
    places = 1 + operand.partition("-")[0].partition("+")[0].count(".")
    match operator:
        case "^":
            return Constraint((Range(version, _next_breaking(version, places)),))
        case "~":
            part = "major" if places == 1 else "minor"
            return Constraint((Range(version, Version(*version.release).bump(part)),))
        case "!=":
            above = Range(version, None, low_included=False)
            return Constraint((Range(None, version), above))
        case ">" | ">=":
            return Constraint((Range(version, None, low_included=operator == ">="),))
        case "<" | "<=":
            return Constraint((Range(None, version, high_included=operator == "<="),))
    return Constraint((Range(version, version, high_included=True),))


def _wildcard(operand: str, text: str) -> Constraint:
    if operand == "*":
        return ANY
    try:
        low = Version.parse(operand.removesuffix(".*"))
    except VersionError as error:
        raise ConstraintError(f"{error} in {text!r}") from error
    places = operand.count(".")
    if places > 2 or low.is_prerelease or low.build:
        raise ConstraintError(f"a wildcard stands for minor or patch: {text!r}")
    return Constraint((Range(low, low.bump("major" if places == 1 else "minor")),))


def _next_breaking(version: Version, places: int) -> Version:
    """The first version that may break users of `version`: its leftmost number but 0 grows."""
    plain = Version(*version.release)
    if plain.major or places == 1:
        return plain.bump("major")
    if plain.minor or places == 2:
        return plain.bump("minor")
    return plain.bump("patch")


def _names(item: Range, version: Version) -> bool:
    """Whether a bound of the range is a prerelease of the same release."""
    return any(
        bound is not None and bound.is_prerelease and bound.release == version.release
        for bound in (item.low, item.high)
    )
