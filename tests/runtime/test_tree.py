"""Source trees: unpacking pinned archives, hostile ones too, and mixtures of releases."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gym_codefix.catalog import CatalogError, Manifest, parse_manifest
from gym_codefix.runtime import ArtifactMismatch, PrepareError, Store, files_below, release_tree
from gym_codefix.runtime._metadata import METADATA_FOLDER
from gym_codefix.runtime._store import sha256_of
from gym_codefix.runtime._tree import build_tree

Archive = Callable[[tarfile.TarFile], None]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def add_file(archive: tarfile.TarFile, name: str, text: str = "", mode: int = 0o600) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(text), mode
    archive.addfile(info, io.BytesIO(text.encode()))


def add_special(archive: tarfile.TarFile, name: str, kind: bytes, link: str = "") -> None:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    archive.addfile(info)


def tar(*fill: Archive) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        add_file(archive, "thing-1/pkg/a.py", "A = 1\n")
        for one in fill:
            one(archive)
    return buffer.getvalue()


def pinned(store: Store, *archives: bytes, suffix: str = ".tar.gz") -> Manifest:
    """A manifest whose releases 1, 2, ... are these archives, already fetched."""
    releases = []
    for number, data in enumerate(archives, 1):
        filename, sha256 = f"thing-{number}{suffix}", sha256_of(data)
        store.add_artifact(filename, sha256, data)
        releases.append(
            {
                "version": str(number),
                "date": "2020-01-01",
                "filename": filename,
                "sha256": sha256,
            }
        )
    document = {
        "name": "thing",
        "release": "1",
        "license": "MIT",
        "python": ">=3.11",
        "split": "train",
        "source": ["pkg"],
        "tests": ["tests"],
        "releases": releases,
    }
    return parse_manifest(document, "thing.toml")


def test_an_archive_is_unpacked_without_its_folder(store: Store) -> None:
    tree = release_tree(pinned(store, tar()), "1", store)
    assert list(files_below(tree)) == ["pkg/a.py"]
    assert (tree / "pkg" / "a.py").read_text() == "A = 1\n"
    assert (tree / "pkg" / "a.py").stat().st_mode & 0o777 == 0o644
    assert (tree / "pkg").stat().st_mode & 0o777 == 0o755


def test_a_folder_may_be_named_like_the_one_around_it(store: Store) -> None:
    data = tar(lambda archive: add_file(archive, "thing-1/thing-1/b.py"))
    tree = release_tree(pinned(store, data), "1", store)
    assert list(files_below(tree)) == ["pkg/a.py", "thing-1/b.py"]


def test_a_zip_is_unpacked(store: Store) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("thing-1/pkg/a.py", "A = 1\n")
    tree = release_tree(pinned(store, buffer.getvalue(), suffix=".zip"), "1", store)
    assert list(files_below(tree)) == ["pkg/a.py"]


HOSTILE: dict[str, Archive] = {
    "traversal": lambda archive: add_file(archive, "thing-1/../../escaped"),
    "absolute": lambda archive: add_file(archive, "/tmp/escaped"),
    "link to outside": lambda archive: add_special(
        archive, "thing-1/link", tarfile.SYMTYPE, "../../escaped"
    ),
    "absolute link": lambda archive: add_special(
        archive, "thing-1/link", tarfile.SYMTYPE, "/etc/passwd"
    ),
    "hard link to outside": lambda archive: add_special(
        archive, "thing-1/link", tarfile.LNKTYPE, "../../escaped"
    ),
    "device": lambda archive: add_special(archive, "thing-1/null", tarfile.CHRTYPE),
    "pipe": lambda archive: add_special(archive, "thing-1/pipe", tarfile.FIFOTYPE),
    "two folders": lambda archive: add_file(archive, "other/b.py"),
    "a file beside": lambda archive: add_file(archive, "b.py"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_archive_is_refused(store: Store, tmp_path: Path, kind: str) -> None:
    manifest = pinned(store, tar(HOSTILE[kind]))
    with pytest.raises(PrepareError, match=r"^unpack: thing-1\.tar\.gz") as caught:
        release_tree(manifest, "1", store)
    assert caught.value.stage == "unpack"
    assert not list((store.home / "building").iterdir())
    assert not (store.home / "trees").exists()
    assert not list(tmp_path.rglob("escaped"))


def test_a_hostile_zip_is_refused(store: Store) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("thing-1/../../escaped", "")
    with pytest.raises(PrepareError, match="leaves its folder"):
        release_tree(pinned(store, buffer.getvalue(), suffix=".zip"), "1", store)


@pytest.mark.parametrize("data", [b"", b"no archive", tar()[:60], tar()[:-200] + b"\0" * 200])
@pytest.mark.parametrize("suffix", [".tar.gz", ".zip"])
def test_what_is_no_archive_is_refused(store: Store, data: bytes, suffix: str) -> None:
    with pytest.raises(PrepareError, match=r"^unpack: thing-1"):
        release_tree(pinned(store, data, suffix=suffix), "1", store)


@pytest.mark.parametrize("cut", [0, 10, -1])
def test_a_truncated_artifact_is_named_and_not_fetched_again(
    store: Store, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    manifest = pinned(store, tar())
    place = store.artifact("thing-1.tar.gz", manifest.releases[0].sha256)
    assert place is not None
    place.write_bytes(place.read_bytes()[:cut])
    monkeypatch.setattr(
        "gym_codefix.runtime._fetch.run_uv", lambda *_, **__: pytest.fail("fetched")
    )
    with pytest.raises(ArtifactMismatch, match=r"thing-1\.tar\.gz .*delete that file"):
        release_tree(manifest, "1", store)
    assert not (store.home / "trees").exists()


def test_an_unknown_release_names_the_known_ones(store: Store) -> None:
    with pytest.raises(CatalogError, match="known: 1"):
        release_tree(pinned(store, tar()), "7", store)


def test_a_mixture_takes_tests_and_configuration_of_the_other(store: Store, tmp_path: Path) -> None:
    def release(version: str, *extra: str) -> bytes:
        def fill(archive: tarfile.TarFile) -> None:
            names = ["pkg/b.py", "pkg/test_in.py", "tests/test_a.py", "setup.cfg", "README", *extra]
            for name in names:
                add_file(archive, f"thing-1/{name}", version)

        return tar(fill)

    manifest = pinned(store, release("old", "tests/gone.py"), release("new", "tests/added.py"))
    target = tmp_path / "mixed"
    target.mkdir()
    build_tree(manifest, "1", "2", store, target)
    texts = {path: (target / path).read_text() for path in files_below(target)}
    metadata = {path: texts.pop(path) for path in list(texts) if path.startswith(METADATA_FOLDER)}
    assert "Version: 1\n" in metadata[f"{METADATA_FOLDER}/thing-1.dist-info/METADATA"]
    assert texts == {
        "README": "old",
        "pkg/a.py": "A = 1\n",
        "pkg/b.py": "old",
        "pkg/test_in.py": "new",
        "setup.cfg": "new",
        "tests/added.py": "new",
        "tests/test_a.py": "new",
    }


def test_caches_and_version_control_are_left_out(tmp_path: Path) -> None:
    for name in ("a.py", "sub/b.py", ".git/config", "__pycache__/a.pyc", "sub/c.pyc", "venv/x.py"):
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert list(files_below(tmp_path)) == ["a.py", "sub/b.py"]
