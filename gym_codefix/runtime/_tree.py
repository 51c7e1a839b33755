"""Source trees: unpacked sdists, copies of embedded ones, and mixtures of two releases."""

from __future__ import annotations

import io
import lzma
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from gym_codefix.catalog import Layout, Manifest, Release

from ._errors import PrepareError
from ._fetch import fetch_sdist
from ._metadata import write_metadata
from ._store import Store

CONFIGURATION = ("pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", ".pytest.ini")
_ARCHIVE_ERRORS = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)
_LEFT_OUT = frozenset(
    {".git", ".hg", ".tox", ".nox", ".venv", "venv", "node_modules", "__pycache__", ".pytest_cache"}
    | {".mypy_cache", ".ruff_cache", ".hypothesis", ".eggs"}
)


def files_below(root: Path) -> Iterator[str]:
    """Paths of regular files, relative and sorted, without caches and version control."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        for name in sorted(names):
            place = Path(folder, name)
            if place.is_file() and not name.endswith(".pyc"):
                yield place.relative_to(root).as_posix()


def open_to_readers(root: Path) -> None:
    """Let the sandbox's unprivileged user read everything."""
    for folder, _, names in os.walk(root):
        os.chmod(folder, 0o755)
        for name in names:
            place = os.path.join(folder, name)
            if not os.path.islink(place):
                mode = os.stat(place).st_mode
                os.chmod(place, 0o755 if mode & 0o100 else 0o644)


def _unpack(data: bytes, filename: str, target: Path) -> None:
    """Fill ``target`` with the one folder of an archive (raises PrepareError)."""
    outer = target.with_name("unpacked")
    try:
        if filename.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                _refuse_outside(filename, archive.namelist())
                archive.extractall(outer)
        else:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                _refuse_outside(filename, archive.getnames())
                _extract(archive, outer)
    except (OSError, EOFError, *_ARCHIVE_ERRORS) as error:
        raise PrepareError("unpack", f"{filename}: {error}") from error
    entries = list(outer.iterdir()) if outer.is_dir() else []
    if len(entries) != 1 or entries[0].is_symlink() or not entries[0].is_dir():
        raise PrepareError("unpack", f"{filename} does not hold one folder")
    target.rmdir()
    entries[0].rename(target)
    open_to_readers(target)


def _extract(archive: tarfile.TarFile, outer: Path) -> None:
    """As ``extractall(filter="data")`` does, which Python has from 3.11.4 only."""
    root = os.path.realpath(outer)

    def inside(path: str) -> str:
        if os.path.commonpath([root, os.path.realpath(path)]) != root:
            raise tarfile.ExtractError(f"{member.name} leads out of its folder")
        return path

    for member in archive.getmembers():
        place = os.path.join(root, member.name)
        os.makedirs(inside(place if member.isdir() else os.path.dirname(place)), exist_ok=True)
        if member.issym():
            inside(os.path.join(os.path.dirname(place), member.linkname))
            os.symlink(member.linkname, inside(place))
        elif member.isreg() or member.islnk():
            try:
                content = archive.extractfile(member)
            except KeyError as error:
                raise tarfile.ExtractError(f"{member.name}: {error}") from None
            assert content is not None  # it is a file
            with content, open(inside(place), "wb") as file:
                shutil.copyfileobj(content, file)
            os.chmod(place, 0o755 if member.mode & 0o100 else 0o644)
            os.utime(place, (member.mtime, member.mtime))
        elif not member.isdir():
            raise tarfile.ExtractError(f"{member.name} is neither a file nor a folder")


def _refuse_outside(filename: str, names: list[str]) -> None:
    """Both unpackers would mend such names silently."""
    for name in names:
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts:
            raise PrepareError("unpack", f"{filename} holds {name!r}, which leaves its folder")


def release_tree(manifest: Manifest, version: str, store: Store) -> Path:
    """The unpacked sdist of a pinned release (raises PrepareError)."""
    release: Release = manifest.find_release(version)
    target = store.home / "trees" / release.sha256
    with store.locked(f"tree-{release.sha256}"):
        if not target.exists():
            data = fetch_sdist(manifest.name, release, store)
            with store.building(target) as place:
                _unpack(data, release.filename, place)
    return target


def root_of(manifest: Manifest) -> Path:
    """The folder of an embedded or local repository."""
    assert manifest.root is not None
    return manifest.place(manifest.root)


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _belongs_to_tests(path: str, layout: Layout) -> bool:
    return path in CONFIGURATION or layout.is_test(path)


def build_tree(
    manifest: Manifest, release: str, tests_release: str | None, store: Store, target: Path
) -> None:
    """Fill ``target``: one release, or its source with another's tests and configuration."""
    if manifest.root is not None:
        source = root_of(manifest)
        for path in files_below(source):
            place = target / path
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / path, place)
    else:
        source = release_tree(manifest, release, store)
        layout = manifest.layout_of(release)
        for path in files_below(source):
            if tests_release is None or not _belongs_to_tests(path, layout):
                _link(source / path, target / path)
        if tests_release is not None:
            tests = release_tree(manifest, tests_release, store)
            tests_layout = manifest.layout_of(tests_release)
            for path in files_below(tests):
                if _belongs_to_tests(path, tests_layout):
                    _link(tests / path, target / path)
    write_metadata(manifest, release, source, target)
    open_to_readers(target)
