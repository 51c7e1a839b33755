"""Making any repository with a pytest suite into a catalogue entry."""

from __future__ import annotations

import datetime
import functools
import json
import re
import shutil
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gym_codefix.catalog import Manifest, parse_manifest, repos_root
from gym_codefix.runtime import (
    RUNNER_LOCK,
    PrepareError,
    Snapshot,
    Store,
    normal_name,
    prepare,
)

from ._add_releases import add_releases, layout_facts, pin_release, unpacked
from ._lock import lock_requirements

_PINNED = re.compile(r"([A-Za-z0-9][\w.-]*)==(\S+)")
_LICENSES = (
    r"^License(?:-Expression)?: (\S.*)$",
    r"^Classifier: License :: (?:OSI Approved :: )?(\S.*)$",
)
_BASELINE_REASON = "fails on the pristine tree"
_LONGEST_SUITE_S = 15.0


@dataclass(frozen=True)
class AddedRepository:
    """What `add_repository` wrote. ``notes``: what the user should know, a line each."""

    manifest: Manifest
    path: Path
    snapshot: Snapshot
    excluded: tuple[str, ...]
    notes: tuple[str, ...]


def add_repository(
    source: str,
    *,
    store: Store,
    out: Path | None = None,
    python: Path | None = None,
    split: str = "train",
    releases: Sequence[str] = (),
    also: Sequence[str] = (),
    as_of: str | None = None,
    level: str = "auto",
    progress: Callable[[str], None] = lambda _: None,
) -> AddedRepository:
    """Lock, prepare and measure a repository, and write its manifest and lock below ``out``.

    ``source``: the path of a checkout, or ``name==version`` of a release. ``python``: an
    interpreter that has the dependencies already, used instead of a lock. ``out``: the
    catalogue's folder (the default is the one in use). Tests that fail at baseline are recorded
    and excluded. ``releases``: further releases to pin, for `mine_release`. ``also``: what the
    tests need and the project does not declare. ``as_of``: lock what there was on that day (ISO
    date), not what there is now.

    Raises PrepareError with the stage (``find``, ``layout``, ``lock``, ``environment``,
    ``baseline``, …), the last lines of the log and what to try; nothing is written then.
    """
    if as_of is not None:
        _check_day(as_of)
    out = (out or repos_root()).absolute()
    document = _find(source, store)
    name, where = document["name"], f"{document['name']}.toml"
    place = out / where
    if place.exists():
        raise PrepareError(
            "find", f"{place} is there already", advice="remove that manifest to add it again"
        )
    progress(f"{name}: layout")
    tree = Path(document["path"]) if "path" in document else unpacked(document, store)
    document |= {"python": ">=3.11", "pytest_args": [], **layout_facts(tree, name)}
    document |= {"split": split, "license": _license(tree)}
    if releases:
        add_releases(document, releases, store, progress)
    locked = functools.partial(lock_requirements, tree, store=store, also=also, as_of=as_of)
    written = _lock(document, out, python, locked, progress)
    try:
        progress(f"{name}: environment and baseline")
        manifest = parse_manifest(document, where, out)
        snapshot = prepare(manifest, store=store, level=level, progress=progress)
        failing = sorted(set(snapshot.baseline.collected) - set(snapshot.baseline.passing))
        if failing:
            document["unstable"] = [
                {"release": document["release"], "tests": failing, "reason": _BASELINE_REASON}
            ]
            manifest = parse_manifest(document, where, out)
            snapshot = prepare(manifest, store=store, level=level, progress=progress)
    except BaseException:
        for lock in written:
            lock.unlink(missing_ok=True)
        raise
    place.write_text(to_toml(document), encoding="utf-8")
    return AddedRepository(
        manifest=parse_manifest(document, where, out),
        path=place,
        snapshot=snapshot,
        excluded=tuple(failing),
        notes=_notes(snapshot, failing),
    )


def _check_day(text: str) -> None:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        raise PrepareError(
            "lock", f"{text!r} is not a day", advice="write it as 2023-03-01"
        ) from None


def _find(source: str, store: Store) -> dict[str, Any]:
    """Name, release and where the tree comes from."""
    if not source.strip():
        raise PrepareError("find", "no repository is named", advice="give a path or name==version")
    pinned = _PINNED.fullmatch(source)
    if pinned:
        release = pin_release(pinned[1], pinned[2], store)
        name = normal_name(pinned[1])
        return {"name": name, "release": release["version"], "releases": [release]}
    root = Path(source).expanduser().absolute()
    if not root.is_dir():
        raise PrepareError(
            "find",
            f"{source!r} is neither a folder nor name==version",
            advice="give the path of a checkout, or a release such as toolz==1.0.0",
        )
    project: Mapping[str, Any] = {}
    if (root / "pyproject.toml").is_file():
        try:
            text = (root / "pyproject.toml").read_text(encoding="utf-8")
            project = tomllib.loads(text).get("project", {})
        except ValueError as error:
            raise PrepareError("find", f"{root / 'pyproject.toml'}: {error}") from None
    name = normal_name(str(project.get("name", root.name)))
    return {"name": name, "release": str(project.get("version", "0")), "path": str(root)}


def _lock(
    document: dict[str, Any],
    out: Path,
    python: Path | None,
    lock_for: Callable[[Path], str],
    progress: Callable[[str], None],
) -> list[Path]:
    """Say where the dependencies come from; the lock files that were written for it.

    ``lock_for`` makes a lock's text beside a runner's.
    """
    if python is not None:
        if not python.is_file():
            raise PrepareError("python", f"{python} is not a file")
        document["interpreter"] = str(python.absolute())
        return []
    name = document["name"]
    progress(f"{name}: lock")
    runner, lock = out / RUNNER_LOCK, out / "locks" / f"{name}.txt"
    lock.parent.mkdir(parents=True, exist_ok=True)
    written = [lock]
    if not runner.exists():
        shutil.copy(repos_root() / RUNNER_LOCK, runner)
    lock.write_text(lock_for(runner), encoding="utf-8")
    document |= {"requirements": f"locks/{name}.txt", "runner": RUNNER_LOCK}
    return written


def _license(tree: Path) -> str:
    for place in (tree / "PKG-INFO", *tree.glob("*.egg-info/PKG-INFO")):
        if place.is_file():
            text = place.read_text(encoding="utf-8", errors="replace")
            for pattern in _LICENSES:
                if found := re.search(pattern, text, re.MULTILINE):
                    return found[1].strip()[:80]
    return "unknown"


def _notes(snapshot: Snapshot, failing: Sequence[str]) -> tuple[str, ...]:
    notes = [f"{len(snapshot.baseline.passing)} tests pass"]
    if failing:
        notes.append(f"{len(failing)} tests do not pass at baseline and are excluded")
    seconds = snapshot.baseline.suite_seconds
    if seconds > _LONGEST_SUITE_S:
        notes.append(
            f"the suite takes {seconds:.0f} s; name part of it as subset in the manifest, "
            f"at most {_LONGEST_SUITE_S:.0f} s"
        )
    return tuple(notes)


def to_toml(document: Mapping[str, Any]) -> str:
    """A manifest's text: plain keys first, then its tables."""
    lines = [f"{key} = {_value(value)}" for key, value in document.items() if not _tables(value)]
    for key, value in document.items():
        if _tables(value):
            for table in value:
                lines += ["", f"[[{key}]]", *(f"{k} = {_value(v)}" for k, v in table.items())]
    return "\n".join(lines) + "\n"


def _tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _value(value: object) -> str:
    if isinstance(value, list) and len(value) > 3:
        return "[\n" + "".join(f"    {_value(item)},\n" for item in value) + "]"
    return json.dumps(value, ensure_ascii=True)
