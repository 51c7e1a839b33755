"""Attacks on what a job may take: time, processes, memory, output."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gym_codefix.runtime._server import Server
from tests.redteam.sandbox_attacks import ATTACK, SMALL, attack, passed

pytestmark = pytest.mark.redteam


def test_sleeping_past_the_wall(server: Server) -> None:
    verdict = attack(server, "time.sleep(60)", replace(SMALL, wall_s=1))
    assert verdict.killed == "wall" and not verdict.ended
    assert verdict.wall_s < 4
    assert passed(verdict) == {"test_first"}


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
        "for _ in range(4):\n    if os.fork() == 0:\n        while True: pass\ntime.sleep(60)",
    ],
    ids=["spin", "ignoring the signal", "children"],
)
def test_spinning(server: Server, body: str) -> None:
    verdict = attack(server, body, replace(SMALL, cpu_s=1, wall_s=20))
    assert verdict.killed == "cpu"
    assert passed(verdict) == {"test_first"}


def test_fork_bomb(confined: Server) -> None:
    verdict = attack(
        confined,
        """
        while True:
            try:
                os.fork()
            except OSError:
                time.sleep(0.01)
        """,
        replace(SMALL, wall_s=3, cpu_s=30),
    )
    assert verdict.killed in ("wall", "cpu")
    assert f"{ATTACK}::test_last" not in verdict.passed()


def test_processes_are_bounded(confined: Server) -> None:
    verdict = attack(
        confined,
        f"""
        made = 0
        try:
            while made < 200:
                if os.fork() == 0:
                    time.sleep(60)
                    os._exit(0)
                made += 1
        except BlockingIOError:
            pass
        assert made < {SMALL.processes}
        """,
    )
    assert "test_attack" in passed(verdict), verdict.texts


def test_large_allocation_fails(server: Server) -> None:
    verdict = attack(server, "bytearray(1 << 30)")
    assert passed(verdict) == {"test_first", "test_last"}


@pytest.mark.parametrize(
    "take",
    [
        "held = bytearray(150 << 20)",
        "import mmap; m = mmap.mmap(-1, 150 << 20); m[:] = bytes(len(m))",
        "import ctypes; ctypes.CDLL(None).prctl(15, b'\\xff\\xfe'); held = bytearray(150 << 20)",
    ],
    ids=["private", "shared", "named by no text"],
)
def test_many_processes_share_one_bound(server: Server, take: str) -> None:
    body = f"""
    for _ in range(10):
        if os.fork() == 0:
            {take}
            time.sleep(60)
            os._exit(0)
    time.sleep(60)
    """
    verdict = attack(server, body)
    assert verdict.killed == "memory"
    assert passed(verdict) == {"test_first"}


def test_forks_that_share_memory_are_not_counted_twice(server: Server) -> None:
    body = """
    held = bytearray(100 << 20)
    children = []
    for _ in range(12):
        pid = os.fork()
        if pid == 0:
            time.sleep(1)
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    """
    assert passed(attack(server, body)) == {"test_first", "test_attack", "test_last"}


def test_endless_output(server: Server) -> None:
    verdict = attack(
        server,
        """
        end = time.monotonic() + 1
        while time.monotonic() < end:
            os.write(1, b'x' * 65536)
            os.write(2, b'x' * 65536)
        """,
    )
    assert passed(verdict) == {"test_first", "test_attack", "test_last"}
