"""Locking what a repository and its tests need, apart from the test runner."""

from __future__ import annotations

import datetime
import functools
import re
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gym_codefix.catalog.lock import parse_lock, pinned_versions
from gym_codefix.runtime import PrepareError, Store, run_uv

_TEST_EXTRAS = ("test", "tests", "testing", "pytest")
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
_TIMEOUT_S = 600
_ANY_DAY = "2999-12-31"
_ROUNDS = 4


resolve = functools.partial(
    run_uv,
    timeout_s=_TIMEOUT_S,
    advice="see the log; --python PATH takes an interpreter that has everything already",
)


def lock_requirements(
    tree: Path, runner: Path, store: Store, also: Sequence[str] = (), as_of: str | None = None
) -> str:
    """Hash-locked text of what the project in ``tree``, its test extras and ``also`` need.

    What the runner's lock has is left out, and pins of the two agree. ``as_of``: nothing that was
    uploaded later (ISO date), the runner apart; such a lock suits the oldest Python that we know
    alone, for whose versions of a day others have no wheels, and has each distribution once.
    Raises PrepareError with the stage ``lock``.
    """
    arguments = ["--universal"]
    if as_of is not None:
        arguments = ["--exclude-newer", as_of]
        for name in sorted(pinned_versions(runner.read_text())):
            arguments += ["--exclude-newer-package", f"{name}={_ANY_DAY}"]
    return _compile(tree, runner, store, arguments, "\n".join(also))


def moved_lock(
    tree: Path, runner: Path, store: Store, lock: str, name: str, day: datetime.date
) -> str:
    """``lock`` with one distribution at what was the newest on a day, and what that asks for.

    Where the project forbids that version, at the newest one that it allows. Everything else
    stays where it is unless it must move. Raises PrepareError with the stage ``lock`` where
    nothing satisfies the project with it.
    """
    names = pinned_versions(lock)
    arguments = ["--upgrade-package", name, "--exclude-newer-package", f"{name}={day.isoformat()}"]
    newest = _newest(name, day, store)
    for needs in ((*names, f"{name}=={newest}"), names):
        try:
            return _compile(tree, runner, store, arguments, "\n".join(needs), preferred=lock)
        except PrepareError as error:
            refused = error
    raise refused


def _newest(name: str, day: datetime.date, store: Store) -> str:
    """Left to itself, a resolver would rather keep its neighbours than take a new version."""
    command = ["pip", "compile", "--no-deps", "--no-header", "--no-annotate"]
    command += ["--python-version", "3.11", "--exclude-newer", day.isoformat(), "-"]
    return pinned_versions(resolve(command, store, stage="lock", stdin=name))[name]


def upgraded_lock(
    tree: Path, runner: Path, store: Store, lock: str, needs: Sequence[str], day: datetime.date
) -> str:
    """What ``lock`` names, each at the newest version of a day that ``needs`` and the rest allow.

    Raises PrepareError with the stage ``lock``.
    """
    names = pinned_versions(lock)
    arguments = ["--exclude-newer", day.isoformat()]
    for name in sorted(pinned_versions(runner.read_text())):
        arguments += ["--exclude-newer-package", f"{name}={_ANY_DAY}"]
    return _compile(tree, runner, store, arguments, "\n".join((*names, *needs)))


def _compile(
    tree: Path,
    runner: Path,
    store: Store,
    arguments: Sequence[str],
    also: str,
    preferred: str = "",
) -> str:
    """``preferred``: a lock whose versions stay unless something forbids it, all of wheels."""
    project = next((tree / name for name in _PROJECT_FILES if (tree / name).is_file()), None)
    if project is None:
        raise PrepareError(
            "lock",
            f"{tree} has none of {', '.join(_PROJECT_FILES)}",
            advice="pass --python PATH, an interpreter with the dependencies installed",
        )
    command = ["pip", "compile", "--generate-hashes", "--no-header", "--no-annotate"]
    command += ["--python-version", "3.11", "--constraints", str(runner)]
    for extra in _test_extras(tree):
        command += ["--extra", extra]
    for group in _test_groups(tree):
        command += ["--group", f"{tree / 'pyproject.toml'}:{group}"]
    binary = set(pinned_versions(preferred))
    for _ in range(_ROUNDS):
        # Environments are built from wheels; the project itself may need to be built to say
        # what it needs, so what must be a wheel is named once it is known.
        only = [word for name in sorted(binary) for word in ("--only-binary", name)]
        with tempfile.NamedTemporaryFile("w+", suffix=".txt") as output:
            output.write(preferred)
            output.flush()
            written = ["--output-file", output.name, *arguments, *only, str(project), "-"]
            resolve([*command, *written], store, stage="lock", stdin=also)
            pinned = Path(output.name).read_text(encoding="utf-8")
        names = set(pinned_versions(pinned))
        if names <= binary:
            break
        binary |= names
    ours = pinned_versions(runner.read_text())
    return "".join(pin.text for pin in parse_lock(pinned) if pin.name not in ours)


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
