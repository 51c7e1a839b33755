"""Semantic versions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import total_ordering

_NUMBER = r"(?:0|[1-9]\d*)"
_VERSION = re.compile(
    rf"v?(?P<major>{_NUMBER})(?:\.(?P<minor>{_NUMBER}))?(?:\.(?P<patch>{_NUMBER}))?"
    r"(?:-(?P<pre>[0-9A-Za-z.-]+))?(?:\+(?P<build>[0-9A-Za-z.-]+))?"
)
_BUMPS = ("major", "minor", "patch")


class VersionError(ValueError):
    """The text is not a version."""


@total_ordering
@dataclass(frozen=True, eq=False)
class Version:
    """A version; `build` is carried along and takes no part in comparisons."""

    major: int
    minor: int = 0
    patch: int = 0
    pre: tuple[int | str, ...] = ()
    build: str = field(default="")

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read `1.4.0-rc.1+build7`; minor and patch may be left out and are 0 then.

        Raises VersionError.
        """
        match = _VERSION.fullmatch(text.strip())
        if match is None:
            raise VersionError(f"not a version: {text!r}")
        pre: list[int | str] = []
        for part in match["pre"].split(".") if match["pre"] else ():
            if not part or (part.isdecimal() and part != "0" and part.startswith("0")):
                raise VersionError(f"bad prerelease part {part!r} in {text!r}")
            pre.append(int(part) if part.isdecimal() else part)
        return cls(
            int(match["major"]),
            int(match["minor"] or 0),
            int(match["patch"] or 0),
            tuple(pre),
            match["build"] or "",
        )

    @property
    def is_prerelease(self) -> bool:
        return bool(self.pre)

    @property
    def release(self) -> tuple[int, int, int]:
        return (self.major, self.minor, self.patch)

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.pre:
            text += "-" + ".".join(map(str, self.pre))
        if self.build:
            text += f"+{self.build}"
        return text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Version):
            return NotImplemented
        return (self.release, self.pre) == (other.release, other.pre)

    def __hash__(self) -> int:
        return hash((self.release, self.pre))

    def __lt__(self, other: Version) -> bool:
        if self.release != other.release:
            return self.release < other.release
        if not self.pre or not other.pre:
            return bool(self.pre) and not other.pre
        return _pre_key(self.pre) < _pre_key(other.pre)

    def bump(self, part: str) -> Version:
        """The next version in which `part` (major, minor or patch) grows.

        A prerelease becomes its release where that is already such a step: 2.0.0-rc.1 bumped by
        major is 2.0.0. Raises ValueError for another part.
        """
        if part not in _BUMPS:
            raise ValueError(f"parts are {', '.join(_BUMPS)}, not {part!r}")
        index = _BUMPS.index(part)
        if self.pre and not any(self.release[index + 1 :]):
            return Version(*self.release)
        if part == "major":
            return Version(self.major + 1)
        if part == "minor":
            return Version(self.major, self.minor + 1)
        return Version(self.major, self.minor, self.patch + 1)


def _pre_key(pre: tuple[int | str, ...]) -> list[tuple[bool, int, str]]:
    """Numbers come before words; a shorter prerelease before one that goes on from it."""
    return [(False, part, "") if isinstance(part, int) else (True, 0, part) for part in pre]
