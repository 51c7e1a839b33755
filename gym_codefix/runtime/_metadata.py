"""What ``importlib.metadata`` is told of a repository whose tree is imported where it lies."""

from __future__ import annotations

import tomllib
from pathlib import Path

from gym_codefix.catalog import Manifest

METADATA_FOLDER = ".gym-codefix"  # on the import path, after the tree itself


def write_metadata(manifest: Manifest, version: str, source: Path, tree: Path) -> None:
    """Let ``importlib.metadata`` see the repository in ``tree`` as if ``source`` was installed.

    It lies in the tree, not in the environment, so that all releases can share an environment.
    """
    safe = manifest.name.replace("-", "_")
    place = tree / METADATA_FOLDER / f"{safe}-{version}.dist-info"
    place.mkdir(parents=True, exist_ok=True)
    information = source / "PKG-INFO"
    if information.exists():
        text = information.read_text(encoding="utf-8", errors="replace")
    else:
        text = f"Metadata-Version: 2.1\nName: {manifest.name}\nVersion: {version}\n"
    (place / "METADATA").write_text(text, encoding="utf-8")
    (place / "INSTALLER").write_text("gym-codefix\n")
    (place / "RECORD").write_text("")
    points = _entry_points(source)
    if points:
        (place / "entry_points.txt").write_text(points, encoding="utf-8")


def _entry_points(tree: Path) -> str:
    """What ``entry_points.txt`` says, from an sdist's metadata or its pyproject.toml."""
    written = "*.egg-info/entry_points.txt"
    for place in (*tree.glob(written), *tree.glob(f"src/{written}")):
        return place.read_text(encoding="utf-8")
    try:
        project = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except (OSError, ValueError, KeyError):
        return ""
    groups = dict(project.get("entry-points", {}))
    groups["console_scripts"] = project.get("scripts", {})
    lines = []
    for group, points in groups.items():
        if points:
            lines += [f"[{group}]", *(f"{name} = {target}" for name, target in points.items()), ""]
    return "\n".join(lines)
