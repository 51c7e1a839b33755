"""The folder that holds everything fetched or built: written atomically, checked by hash."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import platformdirs

HOME_VARIABLE = "GYM_CODEFIX_HOME"


class StoreError(RuntimeError):
    """The store cannot be used as it is; the text says which file and what to do."""


class ArtifactMismatch(StoreError):
    """A file's content is not what its pinned sha256 says."""


def sha256_of(data: bytes) -> str:
    """Hex digest."""
    return hashlib.sha256(data).hexdigest()


class Store:
    """``$GYM_CODEFIX_HOME``, or gym_codefix's folder in the platform's user cache."""

    def __init__(self, home: Path | str | None = None) -> None:
        chosen = home or os.environ.get(HOME_VARIABLE) or platformdirs.user_cache_dir("gym_codefix")
        self.home = Path(chosen).expanduser().absolute()

    def path(self, *parts: str) -> Path:
        """A path below the store; its parent folder exists afterwards (raises StoreError)."""
        place = self.home.joinpath(*parts)
        with _writing(place):
            place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def artifact(self, filename: str, sha256: str) -> Path | None:
        """The stored file of this hash, None when it was never fetched.

        Raises ArtifactMismatch when its content is not the pinned one.
        """
        place = self.home / "artifacts" / sha256 / filename
        if not place.exists():
            return None
        found = sha256_of(place.read_bytes())
        if found != sha256:
            raise ArtifactMismatch(
                f"artifact {filename} at {place} is corrupt: sha256 {found[:16]}…, "
                f"pinned {sha256[:16]}…; delete that file and prepare again"
            )
        return place

    def add_artifact(self, filename: str, sha256: str, data: bytes) -> Path:
        """Keep fetched bytes (raises ArtifactMismatch when they are not the pinned ones)."""
        found = sha256_of(data)
        if found != sha256:
            raise ArtifactMismatch(
                f"artifact {filename} has sha256 {found}, but {sha256} is pinned; "
                "the index serves another file than the one this catalogue was made from"
            )
        folder = self.home / "artifacts" / sha256
        with self.building(folder) as place:
            write_bytes(place / filename, data)
        return folder / filename

    @contextlib.contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Hold a lock over processes; waits for the one who has it (raises StoreError)."""
        place = self.path("locks", name.replace("/", "_"))
        with _writing(place):
            file = open(place, "w")  # noqa: SIM115 - closed below, outside what _writing explains
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextlib.contextmanager
    def building(self, target: Path) -> Iterator[Path]:
        """An empty folder that becomes ``target`` when the block ends well, and vanishes if not.

        Callers that may build the same target hold a lock. Raises StoreError for whatever the
        block cannot write.
        """
        with _writing(target), self._scratch() as scratch:
            place = scratch / "content"
            place.mkdir()
            yield place
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                shutil.rmtree(target)
            place.rename(target)

    @contextlib.contextmanager
    def _scratch(self) -> Iterator[Path]:
        """A folder of its own, locked while it is in use; sweeps those of killed processes."""
        parent = self.path("building", "x").parent
        with self.locked("building"):
            for left in parent.glob("build-*"):
                with contextlib.suppress(BlockingIOError, FileNotFoundError), _held(left):
                    shutil.rmtree(left, ignore_errors=True)
            scratch = Path(tempfile.mkdtemp(prefix="build-", dir=parent))
            held = contextlib.ExitStack()
            held.enter_context(_held(scratch))
        with held:
            try:
                yield scratch
            finally:
                shutil.rmtree(scratch, ignore_errors=True)

    def disk_bytes(self) -> int:
        """Bytes on disk, each hard-linked file counted once."""
        seen: set[int] = set()
        total = 0
        for folder, _, files in os.walk(self.home):
            for name in files:
                with contextlib.suppress(FileNotFoundError):
                    status = os.lstat(os.path.join(folder, name))
                    if status.st_ino not in seen:
                        seen.add(status.st_ino)
                        total += status.st_blocks * 512
        return total


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a folder against sweeping (raises BlockingIOError when another process has it)."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _writing(place: Path) -> Iterator[None]:
    """Name the file in errors of the block."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"cannot write {place}: {error}") from error


def write_bytes(place: Path, data: bytes) -> None:
    """Write a file so that a reader sees all of it or none (raises StoreError)."""
    with _writing(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
            temporary = Path(file.name)
            try:
                file.write(data)
                file.flush()
                temporary.chmod(0o644)
                temporary.replace(place)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise


def write_json(place: Path, document: Any) -> None:
    """Write a JSON document atomically (raises StoreError)."""
    write_bytes(place, json.dumps(document, separators=(",", ":")).encode())


def read_json(place: Path) -> Any | None:
    """A JSON document, None when there is no such file (raises StoreError when it is corrupt)."""
    try:
        return json.loads(place.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise StoreError(f"{place} is corrupt ({error}); delete it and prepare again") from error
