"""Resolving a repository's requirements under constraints, offline, from pinned wheels."""

from __future__ import annotations

import re
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from gym_codefix.catalog import Manifest
from gym_codefix.catalog.lock import parse_lock, pinned_versions, write_lock
from gym_codefix.grading.repair import good_lock, reachable_wheels, wheels_text
from gym_codefix.runtime import PrepareError, Snapshot, Store, fetch_wheels, run_uv

_TIMEOUT_S = 60
CONSTRAINTS_CHARS = 20_000
_LINE_CHARS = 300


@dataclass(frozen=True)
class Resolution:
    """``lock``: what was chosen, None when nothing satisfies everything; ``log``: why."""

    lock: str | None
    log: str


class ConstraintError(ValueError):
    """Constraints that cannot be read; the text names the line."""


def check_constraints(text: str) -> None:
    """Raises ConstraintError unless every line is a requirement, a comment or empty."""
    if len(text) > CONSTRAINTS_CHARS:
        raise ConstraintError(f"constraints are {len(text)} characters, more than allowed")
    for number, line in enumerate(text.splitlines(), 1):
        plain = line.partition("#")[0].strip()
        if len(plain) > _LINE_CHARS:
            raise ConstraintError(f"line {number}: more than {_LINE_CHARS} characters")
        try:
            found = Requirement(plain) if plain else None
        except InvalidRequirement as error:
            first = str(error).splitlines()[0]
            raise ConstraintError(f"line {number}: {plain!r} is not PEP 508: {first}") from None
        if found is not None and (found.url or found.extras):
            raise ConstraintError(f"line {number}: a constraint is a name and versions only")


def resolve(
    known: Manifest, snapshot: Snapshot, constraints: str, floors: tuple[str, ...], store: Store
) -> Resolution:
    """What satisfies the repository, its tests, ``floors`` and ``constraints`` at once.

    ``snapshot``: of the repository ``known`` under the release's own lock.

    Raises ConstraintError, PrepareError when the wheels were never fetched.
    """
    check_constraints(constraints)
    release = snapshot.release
    runner = known.place(known.runner).read_text(encoding="utf-8")
    wheels = fetch_wheels(wheels_text(known, release), store)
    wanted = (*direct_requirements(snapshot.tree), *floors)
    names = pinned_versions(good_lock(known, release))
    with tempfile.TemporaryDirectory() as folder:
        files = {"constraints.txt": constraints, "runner.txt": runner}
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        command = ["pip", "compile", "--no-header", "--no-annotate", "--offline", "--no-index"]
        command += ["--find-links", str(wheels), "--only-binary", ":all:"]
        for name in files:
            command += ["--constraints", str(Path(folder, name))]
        try:
            answer = run_uv(
                [*command, "-"],
                store,
                stage="resolve",
                stdin="\n".join((*wanted, *names)),
                timeout_s=_TIMEOUT_S,
            )
        except PrepareError as error:
            return Resolution(None, _readable(error.log_tail or error.message, folder))
    entries = {(pin.name, pin.version): pin for pin in parse_lock(reachable_wheels(known, release))}
    ours = pinned_versions(runner)
    chosen = [item for item in pinned_versions(answer).items() if item[0] not in ours]
    return Resolution(write_lock(entries[item] for item in chosen), answer)


def _readable(log: str, folder: str) -> str:
    """uv's own words without this machine's paths."""
    return re.sub(re.escape(folder) + "/?", "", log)


def direct_requirements(tree: Path) -> tuple[str, ...]:
    """What an sdist says that its project needs, extras left out (empty when it says nothing)."""
    for find in (_of_pkg_info, _of_egg_info, _of_pyproject):
        if lines := find(tree):
            return tuple(dict.fromkeys(filter(None, map(_plain, lines))))
    return ()


def _of_pkg_info(tree: Path) -> list[str]:
    place = tree / "PKG-INFO"
    if not place.is_file():
        return []
    text = place.read_text(encoding="utf-8", errors="replace")
    return re.findall(r"^Requires-Dist: (.+)$", text, re.MULTILINE)


def _of_egg_info(tree: Path) -> list[str]:
    for place in (*tree.glob("*.egg-info/requires.txt"), *tree.glob("src/*.egg-info/requires.txt")):
        text = place.read_text(encoding="utf-8", errors="replace")
        return text.partition("\n[")[0].splitlines()
    return []


def _of_pyproject(tree: Path) -> list[str]:
    try:
        document: dict[str, Any] = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return []
    found = document.get("project", {}).get("dependencies", [])
    return [text for text in found if isinstance(text, str)]


def _plain(line: str) -> str:
    """A requirement that holds here, without its marker; empty for one that does not."""
    try:
        found = Requirement(line)
    except InvalidRequirement:
        return ""
    if found.marker is not None and not found.marker.evaluate({"extra": ""}):
        return ""
    found.marker = None
    return str(found)
