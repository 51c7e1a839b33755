"""Make dependency tasks: `python benchmarks/mine_dependency.py flask==2.2.3@2023-03-01 …`.

The day is that of the release's lock; it should be a little after the release. What is not in the
catalogue is added to it. repos/tasks/NAME.jsonl, repos/wheels/NAME-VERSION.txt and the manifest are
written after every release; what was dropped and why goes to repos/tasks/dropped/NAME.jsonl.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
import time

from packaging.version import InvalidVersion, Version

from gym_codefix.catalog import (
    Manifest,
    Task,
    forget_manifests,
    read_manifest,
    read_tasks,
    repos_root,
    write_tasks,
)
from gym_codefix.mining import (
    Breakage,
    Validator,
    migrate_facts,
    mine_migration,
    mine_resolve,
)
from gym_codefix.mining.add import add_repository
from gym_codefix.mining.pinning import forget_releases, lock_release, pin_releases
from gym_codefix.runtime import PrepareError, Runtime, prepare_moved

_MOST_ADDED = 6
_LATER = 8  # releases after the broken one that are tried as references


def say(text: str) -> None:
    """One line with the time of day."""
    print(time.strftime("%H:%M:%S"), text, flush=True)


def in_catalogue(name: str, version: str, day: str, split: str, runtime: Runtime) -> Manifest:
    """The repository, with this release locked as of that day."""
    place = repos_root() / f"{name}.toml"
    if not place.exists():
        _add(f"{name}=={version}", day, split, runtime)
        forget_manifests()
        return read_manifest(place)
    known = read_manifest(place)
    if known.release == version:
        return known
    lock_release(place, version, day, runtime.store)
    return read_manifest(place)


def _add(source: str, day: str, split: str, runtime: Runtime) -> None:
    """Tests need what few projects declare: modules that they miss are tried as requirements."""
    also: list[str] = []
    while True:
        try:
            add_repository(
                source, store=runtime.store, split=split, as_of=day, also=also, progress=say
            )
            return
        except PrepareError as error:
            missing = re.findall(r"No module named '(\w+)", str(error))
            new = [name for name in dict.fromkeys(missing) if name not in also]
            if error.stage != "baseline" or not new or len(also) >= _MOST_ADDED:
                raise
            say(f"{source}: with {', '.join(new)}")
            also += new


def later_releases(name: str, version: str) -> list[str]:
    """Final releases after this one, oldest first, as the client's index lists them."""
    command = [sys.executable, "-m", "pip", "index", "versions", name]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    listed = re.search(r"^Available versions: (.+)$", answer, re.MULTILINE)
    found = []
    for text in listed[1].split(", ") if listed else ():
        try:
            parsed = Version(text)
        except InvalidVersion:
            continue
        if parsed > Version(version) and not parsed.is_prerelease:
            found.append(text)
    found.sort(key=Version)
    if len(found) <= _LATER:
        return found
    step = (len(found) - 1) / (_LATER - 1)  # the next ones and the newest matter most
    spread = {found[round(index * step)] for index in range(_LATER)} | set(found[:3])
    return sorted(spread, key=Version)


def mine(known: Manifest, version: str, day: str, runtime: Runtime, seconds: float) -> None:
    """Every task of one release."""
    as_of, today = datetime.date.fromisoformat(day), datetime.date.today()
    mined, breakages = mine_resolve(known, version, as_of, today, runtime, say)
    wheels = repos_root() / "wheels" / f"{known.name}-{version}.txt"
    wheels.parent.mkdir(exist_ok=True)
    wheels.write_text(mined.wheels, encoding="utf-8")
    kept, gone = prove(mined.tasks, runtime)
    record(known.name, version, kept, gone)  # the search for migrations may take long
    if breakages:
        migrations, failed = migrate(known, version, breakages, runtime, seconds)
        proven, dropped = prove(migrations, runtime)
        record(known.name, version, kept + proven, gone + failed + dropped)


def migrate(
    known: Manifest,
    version: str,
    breakages: tuple[Breakage, ...],
    runtime: Runtime,
    seconds: float,
) -> tuple[list[Task], list[tuple[str, str]]]:
    place = repos_root() / f"{known.name}.toml"
    before = {release.version for release in read_manifest(place).releases}
    later = pin_releases(place, later_releases(known.name, version), runtime.store, say)
    full = read_manifest(place)
    own = full.locked_for(version)
    lock = own.place(own.requirements).read_text()
    tasks: list[Task] = []
    gone: list[tuple[str, str]] = []
    for breakage in breakages:
        if not breakage.lock:
            continue
        name = f"{version} migrate {breakage.moved} {breakage.after}"
        try:
            moved = prepare_moved(full, version, breakage.lock, None, runtime.store)
            task = mine_migration(
                full,
                moved,
                version,
                migrate_facts(breakage, lock),
                breakage.lost,
                later,
                runtime,
                seconds=seconds,
                progress=say,
            )
        except PrepareError as error:
            gone.append((name, f"{error.stage}: {error.message}"))
            continue
        if task is None:
            gone.append((name, "no later release repairs it with few hunks"))
        else:
            tasks.append(task)
    forget_releases(place, set(later) - before - {task.next_release for task in tasks})
    return tasks, gone


def prove(
    tasks: tuple[Task, ...] | list[Task], runtime: Runtime
) -> tuple[list[Task], list[tuple[str, str]]]:
    validator = Validator(runtime)
    kept, gone = [], []
    for task in tasks:
        proof = validator.validate(task)
        what = task.dependency
        assert what is not None
        name = f"{task.release} {what.goal} {what.stage} {what.moved} {what.before}->{what.after}"
        say(f"{task.repository} {name}: {proof.reason or 'valid'}")
        if proof.reason is None:
            kept.append(proof.task)
        else:
            gone.append((name, proof.reason))
    return kept, gone


def record(name: str, version: str, kept: list[Task], gone: list[tuple[str, str]]) -> None:
    place = repos_root() / "tasks" / f"{name}.jsonl"
    before = read_tasks(place) if place.exists() else []
    others = [task for task in before if task.kind != "dependency" or task.release != version]
    if others or kept:
        write_tasks(place, others + kept)
    log = place.parent / "dropped" / f"{name}.jsonl"
    group = f"dependency {version}"
    lines = log.read_text().splitlines() if log.exists() else []
    entries = [entry for entry in map(json.loads, lines) if entry["group"] != group]
    entries += [{"group": group, "candidate": c, "reason": r[:300]} for c, r in gone]
    if entries:
        log.write_text("".join(json.dumps(entry, sort_keys=True) + "\n" for entry in entries))
    say(f"{name} {version}: {len(kept)} tasks, {len(gone)} dropped")


def main() -> None:
    """Mine the named releases one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("releases", nargs="+", metavar="NAME==VERSION@DAY")
    parser.add_argument("--split", default="train", help="of repositories that are new")
    parser.add_argument("--seconds", type=float, default=120.0, help="for one reference's hunks")
    arguments = parser.parse_args()
    runtime = Runtime(max_servers=6)
    for text in arguments.releases:
        release, _, day = text.partition("@")
        name, _, version = release.partition("==")
        try:
            known = in_catalogue(name, version, day, arguments.split, runtime)
            mine(known, version, day, runtime, arguments.seconds)
        except PrepareError as error:
            say(f"{text}: {error}")
    runtime.close()


if __name__ == "__main__":
    main()
