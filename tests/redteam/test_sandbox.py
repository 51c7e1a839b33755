"""Attacks on the sandbox from inside a job, at every level that this machine can give.

Started as root, the module runs itself once more as an ordinary user.
"""

from __future__ import annotations

import ast
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import gym_codefix
from gym_codefix.runtime._isolation import BUBBLEWRAP, NAMESPACES, PROCESS, explain
from gym_codefix.runtime._job import Job, Limits, Verdict
from gym_codefix.runtime._server import Server, ServerSpec

pytestmark = pytest.mark.redteam

HERE = Path(__file__).parent
PROBES = (HERE / "sandbox_probes.py").read_text()
PROBE_NAMES = [
    node.name
    for node in ast.parse(PROBES).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
]
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
ORDINARY_ID = 4242
CONFINED = (NAMESPACES, BUBBLEWRAP)


def tiny_spec(root: Path) -> ServerSpec:
    tree = root / "tree"
    (tree / "pk").mkdir(parents=True)
    (tree / "tests").mkdir()
    (tree / "pk" / "__init__.py").write_text("")
    for name in ("attack", "probes", "honest"):
        (tree / "tests" / f"test_{name}.py").write_text("def test_ok(): pass\n")
    return ServerSpec(
        tree=tree,
        environment=Path(sys.prefix),
        source=("pk",),
        paths=("tests",),
        import_paths=(".",),
        pytest_args=(),
    )


def descendants(pid: int) -> set[int]:
    found, todo = set(), [pid]
    while todo:
        current = todo.pop()
        try:
            children = Path(f"/proc/{current}/task/{current}/children").read_text().split()
        except OSError:
            continue
        todo += map(int, children)
        found |= set(map(int, children))
    return found


def settles(server: Server, before: set[int]) -> bool:
    """Whether the server's processes are soon those of before."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if descendants(server.pid) <= before:
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(scope="module", params=[NAMESPACES, BUBBLEWRAP, PROCESS])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    if reason := explain()[request.param]:
        pytest.skip(f"no {request.param} here: {reason}")
    root = tmp_path_factory.mktemp("sandbox")
    os.chmod(root, 0o755)
    one = Server(tiny_spec(root), level=request.param, hash_seed=0, preload=True)
    yield one
    one.close()


@pytest.fixture(scope="module")
def confined(server: Server) -> Server:
    if server.level not in CONFINED:
        pytest.skip("this level confines nothing")
    return server


def attack(server: Server, body: str, limits: Limits = SMALL) -> Verdict:
    """Run ``body`` as a test between two honest ones; nothing of it may be left after."""
    text = (
        "import os, sys, time, signal\n\ndef test_first(): pass\n\n"
        "def test_attack():\n"
        + textwrap.indent(textwrap.dedent(body).strip(), "    ")
        + "\n\ndef test_last(): pass\n"
    )
    before_it = descendants(server.pid)
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


def test_exit_by_exception_fails_its_test_only(server: Server) -> None:
    assert passed(attack(server, "sys.exit(0)")) == {"test_first", "test_last"}


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
    ],
    ids=["private", "shared"],
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
    import threading

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
            return str(venv / "bin" / "python")
    pytest.skip(f"no {version} that an ordinary user may run")


@pytest.mark.skipif(os.getuid() != 0, reason="is an ordinary user's run already")
@pytest.mark.slow
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
        shutil.copytree(Path(gym_codefix.__file__).parent, home / "gym_codefix")
        (home / "tests").mkdir()
        for name in ("sandbox_probes.py", Path(__file__).name):
            shutil.copy(HERE / name, home / "tests" / name)
        (home / "pytest.ini").write_text(
            "[pytest]\npythonpath = .\naddopts = --import-mode=importlib -p no:cacheprovider\n"
            "markers =\n    slow\n    redteam\n"
        )
        subprocess.run(["chown", "-R", f"{ORDINARY_ID}:{ORDINARY_ID}", str(home)], check=True)
        done = as_ordinary_user([python, "-m", "pytest", "-q", "-rs", "--tb=short", "tests"], home)
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
        assert " passed" in done.stdout
        print(done.stdout[-3000:])
