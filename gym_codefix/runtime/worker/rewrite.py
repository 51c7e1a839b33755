"""Fill pytest's cache of test modules with rewritten assertions, which jobs could not write.

Run as a script by a repository's own interpreter. The code is compiled, never executed.
"""

from __future__ import annotations

import _imp
import os
import sys
from pathlib import Path


def cache(tree: Path, paths: list[str], seen_at: str) -> None:
    """Cache the test modules ``paths`` of ``tree``, which jobs will see at ``seen_at``."""
    from _pytest.assertion import rewrite

    for path in paths:
        source = tree / path
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
    cache(Path(sys.argv[1]), sys.stdin.read().splitlines(), sys.argv[2])
