"""Started as root, the red team plays once more as an ordinary user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest
from uv import find_uv_bin

pytestmark = [pytest.mark.redteam, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
ORDINARY_ID = 4242


def as_ordinary_user(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False,
        user=ORDINARY_ID, group=ORDINARY_ID, extra_groups=[],
    )  # fmt: skip


def link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def interpreter_of_everybody(folder: Path) -> str:
    """An interpreter with our packages that an ordinary user may run (skips when there is none)."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for base in (f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        venv = folder / "venv"
        command = [base, "-m", "venv", "--without-pip", str(venv)]
        if os.path.exists(base) and subprocess.run(command, check=False).returncode == 0:
            packages = venv / "lib" / version / "site-packages"
            shutil.copytree(
                sysconfig.get_path("purelib"),
                packages,
                copy_function=link_or_copy,
                dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("gym_codefix*", "__editable__*", "__pycache__"),
            )
            shutil.copy(find_uv_bin(), venv / "bin" / "uv")
            return str(venv / "bin" / "python")
    pytest.skip(f"no {version} that an ordinary user may run")


@pytest.mark.skipif(os.getuid() != 0, reason="is an ordinary user's run already")
def test_all_of_it_as_an_ordinary_user() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        os.chmod(folder, 0o755)
        python = sys.executable
        try:
            as_ordinary_user([python, "-c", ""], Path("/")).check_returncode()
        except (PermissionError, subprocess.CalledProcessError):
            python = interpreter_of_everybody(folder)
        home = folder / "home"
        for part in ("gym_codefix", "repos", "tests/redteam"):
            # honest repairs are about the judge, which nobody's rights matter to
            others = shutil.ignore_patterns("__pycache__", "test_honest_repairs.py")
            shutil.copytree(ROOT / part, home / part, ignore=others)
        for part in ("tests/conftest.py", "tests/index.py", "tests/servers.py", "setup.cfg"):
            shutil.copy(ROOT / part, home / part)
        subprocess.run(["chown", "-R", f"{ORDINARY_ID}:{ORDINARY_ID}", str(home)], check=True)
        command = [python, "-m", "pytest", "-q", "-rs", "--tb=short", "-p", "no:cacheprovider"]
        done = as_ordinary_user([*command, "tests"], home)
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
        assert " passed" in done.stdout
        print(done.stdout[-3000:])
