"""Cached byte code of a tree: what jobs could not write, and what they may not see."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable


def bytecode_of(root: str, paths: Iterable[str]) -> list[str]:
    """The cached byte code of these modules of a tree."""
    found = []
    for path in paths:
        folder, name = os.path.split(path)
        cache = os.path.join(folder, "__pycache__")
        if name.endswith(".py") and os.path.isdir(os.path.join(root, cache)):
            prefix = name[:-2]
            names = os.listdir(os.path.join(root, cache))
            found += [os.path.join(cache, entry) for entry in names if entry.startswith(prefix)]
    return found


def cache_tests(tree: str, paths: Iterable[str], seen_at: str) -> None:
    """Cache test modules with rewritten assertions, for jobs that see ``tree`` at ``seen_at``.

    Run by a repository's own interpreter. The code is compiled, never executed.
    """
    import _imp
    from pathlib import Path

    from _pytest.assertion import rewrite

    for path in paths:
        source = Path(tree, path)
        target = rewrite.get_cache_dir(source) / (source.name[: -len(".py")] + rewrite.PYC_TAIL)
        try:
            stamp, code = rewrite._rewrite_test(source, None)  # type: ignore[arg-type]
            _imp._fix_co_filename(code, os.path.join(seen_at, path))  # type: ignore[attr-defined]
            target.parent.mkdir(exist_ok=True)
            with open(target, "wb") as file:
                rewrite._write_pyc_fp(file, stamp, code)
        except (SyntaxError, ValueError, RecursionError):
            continue  # a test of another Python, or meant to be broken


if __name__ == "__main__":
    cache_tests(sys.argv[1], sys.stdin.read().splitlines(), sys.argv[2])
