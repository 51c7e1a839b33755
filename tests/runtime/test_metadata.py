from __future__ import annotations

from importlib import metadata
from pathlib import Path

from gym_codefix.catalog import Manifest
from gym_codefix.runtime._metadata import METADATA_FOLDER, write_metadata


def _seen(folder: Path, name: str) -> metadata.Distribution:
    (found,) = metadata.distributions(name=name, path=[str(folder)])
    return found


def test_a_checkout_is_seen_as_installed(local: Manifest, tmp_path: Path) -> None:
    source = tmp_path / "checkout"
    project = '[project]\nname = "local"\n[project.scripts]\nrun = "pkg:double"\n'
    (source / "pyproject.toml").write_text(project)
    write_metadata(local, "1.5", source, tmp_path / "tree")
    seen = _seen(tmp_path / "tree" / METADATA_FOLDER, "local")
    assert seen.version == "1.5"
    (point,) = seen.entry_points
    assert (point.group, point.name, point.value) == ("console_scripts", "run", "pkg:double")


def test_what_an_sdist_says_of_itself_wins(local: Manifest, tmp_path: Path) -> None:
    source = tmp_path / "checkout"
    (source / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: local\nVersion: 7\nSummary: x\n")
    points = source / "local.egg-info" / "entry_points.txt"
    points.parent.mkdir()
    points.write_text("[group]\nname = pkg:single\n")
    write_metadata(local, "7", source, tmp_path / "tree")
    seen = _seen(tmp_path / "tree" / METADATA_FOLDER, "local")
    assert seen.metadata["Summary"] == "x"
    assert [point.name for point in seen.entry_points] == ["name"]
