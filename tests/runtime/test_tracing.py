"""What counts as starting a process that might run the repository."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from gym_codefix.runtime.worker.tracing import runs_no_python


def started(command: Any, executable: Any = None, environment: Any = None) -> tuple[Any, ...]:
    """The arguments of the audit event; a shell's is what `shell=True` makes of a text."""
    return executable, command, None, environment


@pytest.mark.parametrize(
    "event",
    [
        started(["cat"]),
        started(["cat", "-"], "cat"),
        started([b"/usr/bin/head", b"-c1"]),
        started(["/bin/sh", "-c", "cat"], "/bin/sh"),
        started([Path("cat"), "a"]),
    ],
)
def test_a_plain_program_runs_no_python(event: tuple[Any, ...]) -> None:
    assert shutil.which("cat") and runs_no_python(event)


@pytest.mark.parametrize(
    "event",
    [
        started(["python", "-c", ""]),
        started(["/bin/sh", "-c", "cat; python -c ''"], "/bin/sh"),
        started(["/bin/sh", "-c", "$(which python)"], "/bin/sh"),
        started(["/bin/sh", "cat"], "/bin/sh"),
        started(["cat"], "python"),
        started(["./cat"]),
        started(["env", "cat"]),
        started(["gone"]),
        started(["cat"], environment={"PATH": "/nowhere"}),
    ],
)
def test_anything_else_may(event: tuple[Any, ...]) -> None:
    assert not runs_no_python(event)


def test_a_program_of_the_tree_is_not_the_system_s(tmp_path: Path) -> None:
    (tmp_path / "cat").write_text("#!/usr/bin/env python\n")
    (tmp_path / "cat").chmod(0o755)
    assert not runs_no_python(started(["cat"], environment={"PATH": str(tmp_path)}))
