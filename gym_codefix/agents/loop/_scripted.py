"""A script that reads the stage, tries neighbouring versions, then known renames."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version

from gym_codefix.agents import Search
from gym_codefix.envs.loop import Workbench
from gym_codefix.grading.build import CONSTRAINTS_FILE

from ._agent import Episode, Observation, call

_Calls = Generator[str, Observation, bool]
_MOVED = re.compile(r"(\S+) moved from (\S+) to (\S+)\.\s")
_FLOORS = re.compile(r"Something else needs (.+?)\.(?=\s)")
_MOST_VERSIONS = 6
_MOST_RENAMES = 5
_TRIES = 10
_IMPORT = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_ATTRIBUTE = re.compile(r"module '([\w.]+)' has no attribute '(\w+)'")
_PLACE = re.compile(r"^(?:/repo/)?([\w./-]+\.py):(\d+): ", re.MULTILINE)
_ADDED = re.compile(r"added: ([\w.]+)")
# Names that left a distribution for the standard library or another module of it.
RENAMES = {
    ("werkzeug.urls", "url_quote"): ("urllib.parse", "quote"),
    ("werkzeug.urls", "url_quote_plus"): ("urllib.parse", "quote_plus"),
    ("werkzeug.urls", "url_unquote"): ("urllib.parse", "unquote"),
    ("werkzeug.urls", "url_encode"): ("urllib.parse", "urlencode"),
    ("werkzeug.urls", "url_decode"): ("urllib.parse", "parse_qs"),
    ("werkzeug.urls", "url_parse"): ("urllib.parse", "urlsplit"),
    ("werkzeug.urls", "url_join"): ("urllib.parse", "urljoin"),
    ("flask", "Markup"): ("markupsafe", "Markup"),
    ("flask", "escape"): ("markupsafe", "escape"),
    ("jinja2", "Markup"): ("markupsafe", "Markup"),
    ("jinja2", "contextfunction"): ("jinja2", "pass_context"),
    ("collections", "Mapping"): ("collections.abc", "Mapping"),
}


class Scripted:
    """No model: one list of things to try for each kind of task."""

    name = "scripted"
    parameters: Mapping[str, Any] = {"tries": _TRIES}

    def episode(self, observation: Observation, bench: Workbench) -> Episode:
        moved = _MOVED.search(observation["instruction"])
        if moved is None:
            solved = yield from self._search(bench)
        elif f"change {CONSTRAINTS_FILE} only" in observation["instruction"]:
            solved = yield from self._versions(observation, moved[1], moved[2])
        else:
            solved = yield from self._renames(observation)
        if not solved:
            yield call("validate_and_build")
        yield call("submit")

    def _search(self, bench: Workbench) -> _Calls:
        """The agent `search` of CodeRepair-Simple, which runs the visible tests itself."""
        assert bench.problem is not None
        patch = Search(_TRIES).act({}, bench.problem, bench.runtime)
        yield call("edit", patch=patch)
        return (yield from _green())

    def _versions(self, observation: Observation, name: str, before: str) -> _Calls:
        floors = _FLOORS.search(observation["instruction"])
        wanted = [Requirement(text) for text in floors[1].split(" and ")] if floors else []
        floor = next((need.specifier for need in wanted if need.name == name), None)
        answer = yield call("list_versions", name=name)
        known = answer["result"].partition(": ")[2].split(", ")
        near = [version for version in known if floor is None or floor.contains(version)]
        near.sort(key=lambda version: abs(known.index(version) - _index(known, before)))
        for version in near[:_MOST_VERSIONS]:  # the mover alone, nearest to what worked
            yield call("upgrade_dependency", name=name, specifier=f"=={version}")
            if (yield from _green()):
                return True
        newest = max(near, key=Version, default=before)
        yield call("upgrade_dependency", name=name, specifier=f"=={newest}")
        return (yield from self._neighbours(name))

    def _neighbours(self, name: str) -> _Calls:
        """Free those of the others that the log names, then all of them."""
        text = yield call("read_file", path=CONSTRAINTS_FILE)
        pinned = [line.partition("| ")[2] for line in text["result"].splitlines() if "==" in line]
        others = {Requirement(line).name for line in pinned} - {name}
        answer = yield call("validate_and_build")
        while answer["stage"] and others:
            log = answer["log"].lower().replace("_", "-")
            named = {other for other in others if re.search(rf"\b{re.escape(other)}\b", log)}
            for other in sorted(named or others):
                yield call("upgrade_dependency", name=other, specifier="")
            others -= named or others
            answer = yield call("validate_and_build")
        return not answer["stage"]

    def _renames(self, observation: Observation) -> _Calls:
        log = observation["log"]
        for _ in range(_MOST_RENAMES):
            found = _IMPORT.search(log)
            if found is not None:
                module, name = found[2], found[1]
            elif (found := _ATTRIBUTE.search(log)) is not None:
                module, name = found[1], found[2]
            else:
                return False
            places = _PLACE.findall(log[: found.start()]) or _PLACE.findall(log)
            target = RENAMES.get((module, name))
            if target is None:
                answer = yield call("retrieve", query=f"{module} {name} added {name}")
                target = _same_name(answer["result"], module, name)
            if target is None or not places:
                return False
            path, line = places[-1]
            answer = yield call("read_file", path=path, start=int(line), end=int(line))
            text = answer["result"].partition("| ")[2]
            changed = _renamed(text, module, name, *target)
            if changed is None:
                return False
            yield call("edit", patch=f"{path}:{line}| {changed}")
            answer = yield call("validate_and_build")
            if not answer["stage"]:
                return True
            log = answer["log"]
        return False


def _green() -> _Calls:
    answer = yield call("validate_and_build")
    return not answer["stage"]


def _index(known: list[str], version: str) -> int:
    return known.index(version) if version in known else 0


def _same_name(result: str, module: str, name: str) -> tuple[str, str] | None:
    """Where a name of the same spelling was added, by the history that was retrieved."""
    for dotted in _ADDED.findall(result):
        place, _, last = dotted.rpartition(".")
        if last == name and place != module:
            return place, last
    return None


def _renamed(line: str, module: str, name: str, place: str, new: str) -> str | None:
    """The line with one imported name or attribute taken from its new place."""
    indent = line[: len(line) - len(line.lstrip())]
    imported = re.fullmatch(r"\s*from ([\w.]+) import (.+?)\s*", line)
    if imported and imported[1] == module and "(" not in line:
        names = [part.strip() for part in imported[2].split(",")]
        others = [part for part in names if part.split(" as ")[0] != name]
        alias = next((part.partition(" as ")[2] for part in names if part.startswith(name)), "")
        lines = [f"from {module} import {', '.join(others)}"] if others else []
        lines.append(f"from {place} import {new} as {alias or name}")
        return indent + "; ".join(lines)
    attribute = f"{module.rpartition('.')[2]}.{name}"
    if attribute in line and place == module:
        return line.replace(attribute, f"{module.rpartition('.')[2]}.{new}")
    return None
