"""Finding a repository's source, tests and import paths by looking at its tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gym_codefix.runtime import PrepareError

_NOT_SOURCE = frozenset(
    {"tests", "test", "testing", "docs", "doc", "examples", "example", "benchmarks", "benchmark"}
    | {"scripts", "tools", "build", "dist", "bin", "utils", "ci", "tasks", "requirements"}
)
_TEST_FOLDERS = ("tests", "test", "testing")
_SCRIPTS = frozenset({"setup.py", "conftest.py", "noxfile.py", "tasks.py", "fabfile.py"})


@dataclass(frozen=True)
class FoundLayout:
    """Paths relative to the tree, as a manifest has them."""

    source: tuple[str, ...]
    tests: tuple[str, ...]
    import_paths: tuple[str, ...]


def find_layout(tree: Path, name: str) -> FoundLayout:
    """The layout of a tree (raises PrepareError with the stage ``layout``)."""
    base, source = _source(tree, name)
    tests = _tests(tree, base, source)
    if not source:
        raise PrepareError(
            "layout",
            f"no Python package was found in {tree}, nor in its src folder",
            advice="write source, tests and import_paths into a manifest by hand",
        )
    if not tests:
        raise PrepareError(
            "layout",
            f"no tests were found in {tree}: "
            f"looked for folders named {', '.join(_TEST_FOLDERS)}, and for test_*.py",
            advice="use a checkout or a release whose sdist carries its tests",
        )
    imports = (base,) if base == "." else (base, ".")
    return FoundLayout(source, tests, imports)


def _source(tree: Path, name: str) -> tuple[str, tuple[str, ...]]:
    wanted = re.sub(r"[-_.]+", "_", name).lower()
    for base in ("src", "."):
        folder = tree / base
        if not folder.is_dir():
            continue
        packages = sorted(
            place.name
            for place in folder.iterdir()
            if (place / "__init__.py").is_file() and place.name not in _NOT_SOURCE
        )
        modules = sorted(
            place.name
            for place in folder.glob("*.py")
            if place.name not in _SCRIPTS and not place.name.startswith("test_")
        )
        exact = [item for item in (*packages, *modules) if _plain(item) == wanted]
        chosen = exact or packages or modules
        if chosen:
            prefix = "" if base == "." else base + "/"
            return base, tuple(prefix + item for item in chosen)
    return ".", ()


def _plain(item: str) -> str:
    return item.removesuffix(".py").lower()


def _tests(tree: Path, base: str, source: tuple[str, ...]) -> tuple[str, ...]:
    places = [tree / folder for folder in _TEST_FOLDERS]
    places += [tree / path / folder for path in source for folder in _TEST_FOLDERS]
    folders = [place for place in places if place.is_dir() and any(place.rglob("*test*.py"))]
    if folders:
        return tuple(place.relative_to(tree).as_posix() for place in folders)
    files = {place for top in (tree, tree / base) for place in top.glob("*.py")}
    found = (place for place in files if re.match(r"test_|.*_test\.py", place.name))
    return tuple(sorted(place.relative_to(tree).as_posix() for place in found))
