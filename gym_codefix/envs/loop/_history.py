"""Which release of a distribution added or removed a name, from its wheels."""

from __future__ import annotations

import ast
import itertools
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from packaging.version import Version

from ._retrieve import Document
from ._surface import Surface, read_surface

_MAX_WHEEL_BYTES = 400_000_000  # of Python text, unpacked
# `zipfile` raises RuntimeError for encrypted files, NotImplementedError for unknown compression.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OSError)


@dataclass(frozen=True)
class NameChange:
    """A name that differs between ``version`` and ``previous``, the known version before it."""

    name: str
    version: str
    kind: Literal["added", "removed"]
    previous: str


def public_names(wheel: Path) -> frozenset[str]:
    """Modules, their functions, classes and assigned names, and the members of classes, dotted.

    Names come from the text of the modules (see ``_surface``). A package offers what it imports
    from other modules, except from the standard library; any module what its ``__all__`` lists.
    Members count with those that a class has from bases in the same wheel, and wherever the class
    is offered: what moves and is still offered at its old place is not lost. No part begins with
    an underscore.

    A wheel that is damaged, or has more than 400 MB of Python text, has no names; a module that
    does not parse has its own name only.

    Raises:
        FileNotFoundError: there is no such wheel.
    """
    if not wheel.exists():
        raise FileNotFoundError(f"no wheel {wheel}")
    try:
        with zipfile.ZipFile(wheel) as archive:
            entries = {_installed_path(entry.filename): entry for entry in archive.infolist()}
            text = [entry for path, entry in entries.items() if path.endswith((".py", ".pyi"))]
            if sum(entry.file_size for entry in text) > _MAX_WHEEL_BYTES:
                return frozenset()
            surface = read_surface(entries, lambda path: archive.read(entries[path]))
    except _DAMAGE:
        return frozenset()
    return frozenset(_names(surface))


def name_history(names_by_version: Mapping[str, frozenset[str]]) -> tuple[NameChange, ...]:
    """What each version changed against the one before it, by version, kind and name.

    The first version changes nothing, as nothing is known of the one before it. A version without
    names (a damaged wheel, or compiled code only) tells nothing and is passed over.

    Raises:
        packaging.version.InvalidVersion: a key is no version. A ValueError.
    """
    known = [version for version, names in names_by_version.items() if names]
    ordered = sorted(known, key=lambda version: (Version(version), version))
    changes: list[NameChange] = []
    for previous, version in itertools.pairwise(ordered):
        before, after = names_by_version[previous], names_by_version[version]
        changes += (NameChange(name, version, "added", previous) for name in sorted(after - before))
        changes += (
            NameChange(name, version, "removed", previous) for name in sorted(before - after)
        )
    return tuple(changes)


def history_documents(distribution: str, changes: Iterable[NameChange]) -> tuple[Document, ...]:
    """One document a version: what it removed, then what it added, a name a line."""
    documents = []
    for version, group in itertools.groupby(changes, key=lambda change: change.version):
        of_version = list(group)
        release = f"{distribution} {version}"
        lines = [f"{release}, compared with {distribution} {of_version[0].previous}:"]
        # The sort keeps the order of names. What is gone is asked for more often.
        for change in sorted(of_version, key=lambda change: change.kind == "added"):
            lines.append(f"{change.kind}: {change.name}")
        title = f"{release}: names added and removed"
        documents.append(Document(f"history of {distribution}", title, "\n".join(lines)))
    return tuple(documents)


def _installed_path(path: str) -> str:
    """Where a file of a wheel lies once it is installed, relative to the import path."""
    parts = PurePosixPath(path).parts
    if len(parts) > 2 and parts[0].endswith(".data") and parts[1] in ("purelib", "platlib"):
        return "/".join(parts[2:])
    return path


def _names(surface: Surface) -> Iterable[str]:
    for module in surface.modules():
        yield module.name
        for name, found in surface.offered(module).items():
            qualified = f"{module.name}.{name}"
            yield qualified
            if found is not None and isinstance(found[1], ast.ClassDef):
                members = surface.members(found[0], found[1])
                yield from (f"{qualified}.{member}" for member in members)
