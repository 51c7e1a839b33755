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
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the store cannot be written: {error}") from error
        return place

    def artifact(self, filename: str, sha256: str) -> Path | None:
        """The stored file of this hash, None when it was never fetched (raises ArtifactMismatch)."""
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
        place = self.path("artifacts", sha256, filename)
        write_bytes(place, data)
        return place

    @contextlib.contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Hold a lock over processes; waits for the one who has it."""
        place = self.path("locks", name.replace("/", "_"))
        with open(place, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextlib.contextmanager
    def building(self, target: Path) -> Iterator[Path]:
        """An empty folder that becomes ``target`` when the block ends well, and vanishes if not."""
        parent = self.path("building", "x").parent
        with tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True) as name:
            place = Path(name) / "content"
            place.mkdir()
            yield place
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                shutil.rmtree(target)
            place.rename(target)

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


def write_bytes(place: Path, data: bytes) -> None:
    """Write a file so that a reader sees all of it or none (raises StoreError)."""
    try:
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
    except OSError as error:
        raise StoreError(f"cannot write {place}: {error}") from error


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
