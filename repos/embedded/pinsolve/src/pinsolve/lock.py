"""Lock files: one `name==version` a line, and a checksum over them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from pinsolve.version import Version, VersionError

_PIN = re.compile(r"(?P<name>[a-z0-9][a-z0-9._-]*)==(?P<version>\S+)")
_CHECKSUM = "# checksum: "


class LockError(ValueError):
    """The lock file cannot be read."""


def checksum(pins: Mapping[str, Version]) -> str:
    """16 hex digits that depend on the pins and not on their order."""
    text = "".join(f"{name}=={pins[name]}\n" for name in sorted(pins))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_lock(path: Path, pins: Mapping[str, Version]) -> None:
    lines = [f"{name}=={pins[name]}" for name in sorted(pins)]
    path.write_text("\n".join([_CHECKSUM + checksum(pins), *lines, ""]), encoding="utf-8")


def read_lock(path: Path) -> dict[str, Version]:
    """The pins of a lock file.

    Raises LockError for a line that is no pin, a package pinned twice, or a checksum that is
    missing or does not match.
    """
    pins: dict[str, Version] = {}
    expected = None
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        line = raw.strip()
        if line.startswith(_CHECKSUM):
            expected = line.removeprefix(_CHECKSUM)
            continue
        if not line or line.startswith("#"):
            continue
        match = _PIN.fullmatch(line)
        if match is None:
            raise LockError(f"line {number}: not a pin: {line!r}")
        if match["name"] in pins:
            raise LockError(f"line {number}: {match['name']} is pinned twice")
        try:
            pins[match["name"]] = Version.parse(match["version"])
        except VersionError as error:
            raise LockError(f"line {number}: {error}") from error
    if expected is None:
        raise LockError("the checksum is missing")
    if expected != checksum(pins):
        raise LockError("the checksum does not match: the file was edited by hand")
    return pins


def diff_locks(old: Mapping[str, Version], new: Mapping[str, Version]) -> list[str]:
    """What changed, a line for each package by name; [] if nothing did."""
    lines: list[str] = []
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before is None:
            lines.append(f"+ {name} {after}")
        elif after is None:
            lines.append(f"- {name} {before}")
        elif before != after:
            kind = "up" if before < after else "down"
            if before.major != after.major:
                kind += ", major"
            lines.append(f"~ {name} {before} -> {after} ({kind})")
    return lines
