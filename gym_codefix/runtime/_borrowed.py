"""The packages of an interpreter that the user already has, in place of a lock."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ._errors import PrepareError
from ._store import sha256_of

_ASK = """
import json, sys
folders = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
print(json.dumps([list(sys.version_info[:2]), folders]))
"""
_TIMEOUT_S = 60
# Paths outside of the sandbox, and what we make ourselves.
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pth", "__editable__*", "*.egg-link")


@dataclass(frozen=True)
class Borrowed:
    """Its major and minor version, and its package folders, the first one searched first."""

    version: tuple[int, int]
    folders: tuple[str, ...]

    def fingerprint(self) -> str:
        """Changes when a distribution is installed, removed or replaced."""
        found = [
            f"{entry.path}\0{entry.stat().st_mtime_ns}"
            for folder in self.folders
            if os.path.isdir(folder)
            for entry in os.scandir(folder)
            if entry.name.endswith((".dist-info", ".egg-info"))
        ]
        return sha256_of("\n".join(sorted(found)).encode())


@functools.cache
def borrowed(python: str) -> Borrowed:
    """What an interpreter says of itself (raises PrepareError)."""
    try:
        done = subprocess.run(
            [python, "-c", _ASK], capture_output=True, text=True, timeout=_TIMEOUT_S, check=True
        )
        (major, minor), folders = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        log = getattr(error, "stderr", None) or ""
        raise PrepareError(
            "python",
            f"{python} does not run as a Python interpreter: {error}",
            log_tail=log[-2_000:],
            advice="give the path of a working interpreter, such as .venv/bin/python",
        ) from error
    return Borrowed((major, minor), tuple(folders))


def copy_packages(source: Borrowed, site: Path, leave_out: str) -> None:
    """Put its packages into ``site``, all but the distribution of the repository itself."""
    for folder in reversed(source.folders):
        if os.path.isdir(folder):
            shutil.copytree(
                folder,
                site,
                symlinks=True,
                ignore=_LEFT_OUT,
                dirs_exist_ok=True,
                copy_function=_link,
            )
    for dist in importlib.metadata.distributions(path=[str(site)]):
        if normal_name(dist.name) == normal_name(leave_out):
            for file in dist.files or ():
                if ".." not in file.parts:
                    site.joinpath(*file.parts).unlink(missing_ok=True)


def normal_name(name: str) -> str:
    """A distribution's name as an index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _link(source: str, target: str) -> None:
    if os.path.lexists(target):
        os.unlink(target)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
