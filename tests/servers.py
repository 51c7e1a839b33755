"""A server over a tiny package, and the processes below one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from gym_codefix.runtime._server import ServerSpec


def package_spec(root: Path, files: Mapping[str, str]) -> ServerSpec:
    """The package ``pk`` and its ``tests`` below ``root``, on the interpreter that runs us."""
    tree = root / "tree"
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    return ServerSpec(
        tree=tree,
        environment=Path(sys.prefix),
        source=("pk",),
        paths=("tests",),
        import_paths=(".",),
        pytest_args=(),
    )


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def descendants(pid: int) -> list[int]:
    return [found for child in children(pid) for found in (child, *descendants(child))]
