"""What attacks on the sandbox share: a tiny repository, limits, and how a job is attacked."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

from gym_codefix.runtime._isolation import PROCESS
from gym_codefix.runtime._job import Job, Limits, Verdict
from gym_codefix.runtime._server import Server, ServerSpec
from tests.servers import descendants, package_spec

SMALL = Limits(
    cpu_s=5,
    wall_s=8,
    memory_bytes=768 << 20,
    file_bytes=16 << 20,
    tmp_bytes=24 << 20,
    tmp_files=500,
    processes=24,
    result_bytes=1 << 20,
)
ATTACK = "tests/test_attack.py"


def tiny_spec(root: Path) -> ServerSpec:
    tests = [f"tests/test_{name}.py" for name in ("attack", "probes", "honest")]
    return package_spec(
        root, {"pk/__init__.py": "", **dict.fromkeys(tests, "def test_ok(): pass\n")}
    )


def settles(server: Server, before: set[int]) -> bool:
    """Whether the server's processes are soon those of before."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if set(descendants(server.pid)) <= before:
            return True
        time.sleep(0.05)
    return False


def attack(server: Server, body: str, limits: Limits = SMALL) -> Verdict:
    """Run ``body`` as a test between two honest ones; nothing of it may be left after."""
    text = (
        "import os, sys, time, signal\n\ndef test_first(): pass\n\n"
        "def test_attack():\n"
        + textwrap.indent(textwrap.dedent(body).strip(), "    ")
        + "\n\ndef test_last(): pass\n"
    )
    before_it = set(descendants(server.pid))
    if server.level == PROCESS:
        tree = Path(server.tree)
        (tree / ATTACK).write_text(text)
        job = Job(paths=(ATTACK,), limits=limits)
    else:
        job = Job(edits={ATTACK: text}, paths=(ATTACK,), limits=limits)
    verdict = server.run(job)
    assert verdict.failure is None
    assert settles(server, before_it), "processes outlive the job"
    honest = server.run(Job(paths=("tests/test_honest.py",)))
    assert honest.passed() == {"tests/test_honest.py::test_ok"}
    return verdict


def passed(verdict: Verdict) -> set[str]:
    return {test.rpartition("::")[2] for test in verdict.passed()}
