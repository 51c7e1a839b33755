"""Locking what a repository and its tests need, apart from the test runner."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gym_codefix.runtime import PrepareError, Store, normal_name, run_uv

_TEST_EXTRAS = ("test", "tests", "testing", "pytest")
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
_TIMEOUT_S = 600
_PIN = re.compile(r"([A-Za-z0-9][\w.-]*)==")


resolve = functools.partial(
    run_uv,
    timeout_s=_TIMEOUT_S,
    advice="see the log; --python PATH takes an interpreter that has everything already",
)


def lock_requirements(tree: Path, runner: Path, store: Store, also: Sequence[str] = ()) -> str:
    """Hash-locked text of what the project in ``tree``, its test extras and ``also`` need.

    What the runner's lock has is left out, and pins of the two agree. Raises PrepareError with the
    stage ``lock``.
    """
    project = next((tree / name for name in _PROJECT_FILES if (tree / name).is_file()), None)
    if project is None:
        raise PrepareError(
            "lock",
            f"{tree} has none of {', '.join(_PROJECT_FILES)}",
            advice="pass --python PATH, an interpreter with the dependencies installed",
        )
    arguments = ["pip", "compile", "--universal", "--generate-hashes", "--no-header"]
    arguments += ["--no-annotate", "--python-version", "3.11", "--constraints", str(runner)]
    for extra in _test_extras(tree):
        arguments += ["--extra", extra]
    for group in _test_groups(tree):
        arguments += ["--group", f"{tree / 'pyproject.toml'}:{group}"]
    pinned = resolve([*arguments, str(project), "-"], store, stage="lock", stdin="\n".join(also))
    ours = {normal_name(name) for name in _PIN.findall(runner.read_text())}
    kept = [entry for entry in _entries(pinned) if _name_of(entry) not in ours]
    return "".join(kept)


def _pyproject(tree: Path) -> dict[str, Any]:
    try:
        return tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _test_extras(tree: Path) -> list[str]:
    document = _pyproject(tree)
    poetry = document.get("tool", {}).get("poetry", {})
    known = {*document.get("project", {}).get("optional-dependencies", {})}
    known |= {*poetry.get("extras", {})}
    for place in (tree / "PKG-INFO", *tree.glob("*.egg-info/PKG-INFO")):
        if place.is_file():
            text = place.read_text(encoding="utf-8", errors="replace")
            known |= set(re.findall(r"^Provides-Extra: (\S+)$", text, re.MULTILINE))
    return [extra for extra in _TEST_EXTRAS if extra in known]


def _test_groups(tree: Path) -> list[str]:
    groups = _pyproject(tree).get("dependency-groups", {})
    return [group for group in _TEST_EXTRAS if group in groups]


def _entries(pinned: str) -> list[str]:
    """One requirement with its hashes each."""
    entries: list[str] = []
    for line in pinned.splitlines(keepends=True):
        if line.startswith((" ", "\t")) and entries:
            entries[-1] += line
        elif line.strip() and not line.startswith("#"):
            entries.append(line)
    return entries


def _name_of(entry: str) -> str:
    found = _PIN.match(entry)
    return normal_name(found[1]) if found else ""
