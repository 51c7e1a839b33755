"""Hash-locked requirements as data: what is pinned, and the same with some of it moved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from ._errors import CatalogError

_PIN = re.compile(r"([A-Za-z0-9][\w.-]*)==([^\s;\\]+)")


@dataclass(frozen=True)
class Pin:
    """One distribution at one version; ``text``: its requirement with markers and hashes."""

    name: str
    version: str
    text: str


def parse_lock(text: str) -> tuple[Pin, ...]:
    """What a lock pins, in its order (raises CatalogError for an entry that pins nothing)."""
    entries: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.startswith((" ", "\t")) and entries:
            entries[-1] += line
        elif line.strip() and not line.startswith("#"):
            entries.append(line)
    pins = []
    for entry in entries:
        found = _PIN.match(entry)
        if found is None:
            raise CatalogError(f"a lock pins every distribution by name==version, not {entry!r}")
        pins.append(Pin(canonicalize_name(found[1]), found[2], entry))
    return tuple(pins)


def pinned_versions(text: str) -> dict[str, str]:
    """Canonical names and versions of what a lock pins (raises CatalogError)."""
    return {pin.name: pin.version for pin in parse_lock(text)}


def write_lock(pins: Iterable[Pin]) -> str:
    """A lock's text, by name and version."""
    return "".join(pin.text for pin in sorted(pins, key=lambda pin: (pin.name, pin.version)))


def moved(lock: str, moves: Mapping[str, str], known: str) -> str:
    """``lock`` with some distributions at other versions, or more of them.

    ``known``: locked entries to take these from, with several versions of a distribution.
    Raises CatalogError for a version that it lacks.
    """
    entries = {(pin.name, pin.version): pin for pin in parse_lock(known)}
    pins = {pin.name: pin for pin in parse_lock(lock)}
    for name, version in moves.items():
        if (name, version) not in entries:
            versions = ", ".join(sorted(known for other, known in entries if other == name))
            raise CatalogError(f"no {name}=={version} is pinned; known: {versions or 'none'}")
        pins[name] = entries[name, version]
    return write_lock(pins.values())
