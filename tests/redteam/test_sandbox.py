"""Attacks on the sandbox from inside a job: what it sees, how it leaves, what it reports."""

from __future__ import annotations

import ast
import os
import socket
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import gym_codefix
from gym_codefix.runtime._job import Job, Verdict
from gym_codefix.runtime._server import Server
from tests.redteam.sandbox_attacks import ATTACK, SMALL, attack, passed

pytestmark = pytest.mark.redteam

PROBES = (Path(__file__).parent / "sandbox_probes.py").read_text()
PROBE_NAMES = [
    node.name
    for node in ast.parse(PROBES).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
]


@pytest.fixture(scope="module")
def probed(confined: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verdict]:
    abstract = f"gym-codefix-{os.getpid()}"
    secret = tmp_path_factory.mktemp("secret") / "secret"
    secret.write_text("secret")
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_UNIX) as named,
    ):
        named.bind("\0" + abstract)
        named.listen()
        host = {
            "port": listener.getsockname()[1],
            "abstract": abstract,
            "files": [str(secret), __file__, str(Path(gym_codefix.__file__))],
            "pid": max(os.getpid(), 5000),
            "tmp_bytes": SMALL.tmp_bytes,
            "tmp_files": SMALL.tmp_files,
            "file_bytes": SMALL.file_bytes,
        }
        text = PROBES.replace("HOST: dict = {}", f"HOST = {host!r}")
        path = "tests/test_probes.py"
        limits = replace(SMALL, cpu_s=20, wall_s=40)
        yield confined.run(Job(edits={path: text}, paths=(path,), limits=limits))


@pytest.mark.parametrize("name", PROBE_NAMES)
def test_probe(probed: Verdict, name: str) -> None:
    assert probed.ended, probed
    prefix = f"tests/test_probes.py::{name}"
    ours = {
        test: outcome
        for test, outcome in probed.outcomes.items()
        if test == prefix or test.startswith(prefix + "[")
    }
    assert ours
    assert set(ours.values()) <= {"passed", "skipped"}, [probed.texts.get(test) for test in ours]


@pytest.mark.parametrize(
    "body",
    [
        "os._exit(0)",
        "os.abort()",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os.kill(os.getpid(), signal.SIGTERM)",
        "os.kill(0, signal.SIGKILL)",
        "os.killpg(os.getpgrp(), signal.SIGTERM)",
        "import ctypes; ctypes.string_at(0)",
        "os.execv('/bin/true', ['true'])",
        "import pytest; pytest.exit('done', 0)",
        "raise KeyboardInterrupt",
    ],
)
def test_leaving_in_the_middle_passes_nothing(server: Server, body: str) -> None:
    verdict = attack(server, body)
    assert passed(verdict) == {"test_first"}
    assert f"{ATTACK}::test_last" not in verdict.outcomes
    assert verdict.failure is None


def test_exit_by_exception_fails_its_test_only(server: Server) -> None:
    assert passed(attack(server, "sys.exit(0)")) == {"test_first", "test_last"}


FIND_PIPE = """
fds = []
for number in range(3, 64):
    try:
        if os.readlink(f'/proc/self/fd/{number}').startswith('pipe:'):
            fds.append(number)
    except OSError:
        pass
assert fds
"""


@pytest.mark.parametrize(
    "line", ["b'x' * 65536", 'b\'{"kind":"end"}\\n\' * 4096'], ids=["garbage", "messages"]
)
def test_flooding_the_result_pipe(server: Server, line: str) -> None:
    started = time.monotonic()
    verdict = attack(server, FIND_PIPE + f"while True: os.write(fds[0], {line})")
    assert verdict.killed == "result" and not verdict.ended
    assert time.monotonic() - started < SMALL.wall_s
    assert f"{ATTACK}::test_last" not in verdict.passed()


def test_garbage_on_the_result_pipe_costs_nothing(server: Server) -> None:
    garbage = (
        r"""os.write(fds[0], b'\x00\xff[[[{"kind": 3}\n{"kind":"test","id":[],"outcome":{}}\n')"""
    )
    verdict = attack(server, FIND_PIPE + garbage)
    assert {"test_first", "test_last"} <= passed(verdict)


def test_closing_the_result_pipe(server: Server) -> None:
    verdict = attack(server, FIND_PIPE + "for fd in fds: os.close(fd)")
    assert "test_last" not in passed(verdict)


def test_status_cannot_be_forged(server: Server) -> None:
    forged = r"""
for fd in fds:
    os.write(fd, b'{"exit": 0, "killed": null, "failure": "not the agent"}\n')
    os.write(fd, b'{"kind": "status", "killed": "wall", "failure": "not the agent"}\n')
"""
    verdict = attack(server, FIND_PIPE + forged)
    assert verdict.failure is None and verdict.killed is None


def test_failure_already_reported_cannot_be_mended(server: Server) -> None:
    message = rb'{"kind": "test", "id": "tests/test_attack.py::test_attack", "outcome": "%s"}\n'
    lines = b"".join(message.replace(b"%s", word) for word in (b"failed", b"passed"))
    verdict = attack(
        server, FIND_PIPE + f"os.write(fds[0], {lines.replace(bytes([92, 110]), bytes([10]))!r})"
    )
    assert "test_attack" not in passed(verdict)


@pytest.mark.parametrize("held", ["holding the pipe", "letting go"])
def test_daemon_ends_with_its_job(server: Server, held: str) -> None:
    body = f"""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        if {held!r} == "letting go":
            os.closerange(0, 256)
        for number in range(1, 32):
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_IGN)
        time.sleep(60)
    """
    started = time.monotonic()
    verdict = attack(server, body)
    assert verdict.ended and verdict.killed is None
    assert time.monotonic() - started < SMALL.wall_s


def test_jobs_at_once_do_not_see_each_other(confined: Server) -> None:
    planting = """
    import socket
    one = socket.socket(socket.AF_UNIX)
    one.bind("\\0neighbour")
    one.listen()
    two = socket.create_server(("127.0.0.1", 45454))
    open("/tmp/neighbour", "w").close()
    open("/dev/shm/neighbour", "w").close()
    time.sleep(2)
    """
    looking = """
    import socket
    time.sleep(0.7)
    for family, address in (
        (socket.AF_UNIX, "\\0neighbour"), (socket.AF_INET, ("127.0.0.1", 45454))
    ):
        try:
            socket.socket(family).connect(address)
        except ConnectionRefusedError:
            continue
        raise AssertionError(address)
    assert not os.path.exists("/tmp/neighbour") and not os.path.exists("/dev/shm/neighbour")
    assert len([name for name in os.listdir("/proc") if name.isdigit()]) <= 2
    """
    verdicts = {}

    def play(name: str, body: str) -> None:
        text = "import os, time\n\ndef test_attack():\n" + textwrap.indent(
            textwrap.dedent(body), "    "
        )
        job = Job(edits={ATTACK: text}, paths=(ATTACK,), limits=SMALL)
        verdicts[name] = confined.run(job)

    threads = [
        threading.Thread(target=play, args=item)
        for item in {"planting": planting, "looking": looking}.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for verdict in verdicts.values():
        assert verdict.passed(), verdict
