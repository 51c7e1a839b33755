"""The store: what is pinned is checked, what is half-written never shows."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gym_codefix.runtime import ArtifactMismatch, Store, StoreError, read_json, write_json
from gym_codefix.runtime._store import HOME_VARIABLE, sha256_of

DATA = b"what the index serves"
SHA256 = sha256_of(DATA)
ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def files_of(store: Store) -> set[str]:
    """Files that hold something, without locks."""
    found = {path.relative_to(store.home).as_posix() for path in store.home.rglob("*")}
    return {path for path in found if not path.startswith("locks") and path != "building"}


def test_the_environment_names_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "there"))
    assert Store().home == tmp_path / "there"
    assert Store(tmp_path / "here").home == tmp_path / "here"


def test_an_artifact_is_kept_and_found(store: Store) -> None:
    assert store.artifact("a.tar.gz", SHA256) is None
    place = store.add_artifact("a.tar.gz", SHA256, DATA)
    assert store.artifact("a.tar.gz", SHA256) == place
    assert place.read_bytes() == DATA


@pytest.mark.parametrize("content", [b"", DATA[:-1], DATA + b"!", b"other"])
def test_a_corrupt_artifact_is_an_error_that_names_it(store: Store, content: bytes) -> None:
    place = store.add_artifact("a.tar.gz", SHA256, DATA)
    place.write_bytes(content)
    with pytest.raises(ArtifactMismatch, match=r"artifact a\.tar\.gz at .*delete that file"):
        store.artifact("a.tar.gz", SHA256)
    assert place.read_bytes() == content


def test_other_bytes_than_the_pinned_ones_are_not_kept(store: Store) -> None:
    with pytest.raises(ArtifactMismatch, match=r"a\.tar\.gz has sha256"):
        store.add_artifact("a.tar.gz", SHA256, b"other")
    assert files_of(store) == set()


def test_a_folder_appears_whole(store: Store) -> None:
    target = store.home / "trees" / "x"
    with store.building(target) as place:
        (place / "file").write_text("text")
        assert not target.exists()
    assert (target / "file").read_text() == "text"
    assert files_of(store) == {"trees", "trees/x", "trees/x/file"}


def test_a_failed_build_leaves_nothing(store: Store) -> None:
    def build() -> None:
        with store.building(store.home / "trees" / "x") as place:
            (place / "file").write_text("text")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build()
    assert files_of(store) == set()


def test_what_a_build_cannot_write_is_named(store: Store) -> None:
    def build() -> None:
        with store.building(store.home / "trees" / "x"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "some/file")

    with pytest.raises(StoreError, match=r"cannot write .*trees/x: .*No space left.*some/file"):
        build()
    assert files_of(store) == set()


def test_remains_of_a_killed_build_are_swept_and_a_running_one_is_not(store: Store) -> None:
    program = (
        "import pathlib, sys, time; from gym_codefix.runtime import Store\n"
        "store = Store(sys.argv[1])\n"
        "with store.building(store.home / 'trees' / 'theirs') as place:\n"
        "    (place / 'half').write_text('half'); print('ready', flush=True); sys.stdin.read(1)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(store.home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with store.building(store.home / "trees" / "ours"):
            pass
        assert any(path.endswith("half") for path in files_of(store))
        other.kill()
    with store.building(store.home / "trees" / "more"):
        pass
    assert files_of(store) == {"trees", "trees/ours", "trees/more"}


def test_a_lock_is_held_by_one(store: Store) -> None:
    order: list[str] = []

    def other() -> None:
        with store.locked("one/name"):
            order.append("other")

    with store.locked("one/name"):
        thread = threading.Thread(target=other)
        thread.start()
        time.sleep(0.1)
        order.append("first")
    thread.join()
    assert order == ["first", "other"]


def test_json_is_written_and_read(tmp_path: Path) -> None:
    place = tmp_path / "folder" / "x.json"
    assert read_json(place) is None
    write_json(place, {"a": [1, None, "é"]})
    assert read_json(place) == {"a": [1, None, "é"]}
    assert list(place.parent.iterdir()) == [place]


@pytest.mark.parametrize("content", [b"", b'{"a": 1', b"\xff\x00"])
def test_corrupt_json_is_an_error_that_names_it(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "x.json"
    place.write_bytes(content)
    with pytest.raises(StoreError, match=r"x\.json is corrupt .*delete it"):
        read_json(place)


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "home")
    with pytest.raises(StoreError, match="file/home"):
        store.path("trees", "x")
    with pytest.raises(StoreError, match="file/home"), store.locked("x"):
        pass


def test_disk_counts_a_linked_file_once(store: Store) -> None:
    place = store.path("a")
    place.write_bytes(b"x" * 50_000)
    once = store.disk_bytes()
    os.link(place, store.path("b"))
    assert store.disk_bytes() == once >= 50_000
