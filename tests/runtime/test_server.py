"""One server: its three starts agree, it survives its jobs, and its own end is told apart."""

from __future__ import annotations

import compileall
import importlib.util
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gym_codefix.runtime._isolation import PROCESS, choose
from gym_codefix.runtime._job import Job, Limits, Start, Verdict
from gym_codefix.runtime._server import Server, ServerDied, ServerSpec
from tests.servers import children, descendants, package_spec

MODULE = """\
def add(x, y):
    total = x + y
    return total


class Shape:
    def area(self):
        return self.side * self.side

    def __init__(self, side):
        self.side = side


def counter(start):
    step = 1

    def more():
        return start + step

    return more
"""
TESTS = """\
import os
import time
import pytest
from pk import Shape, add, counter

def test_add(): assert add(1, 2) == 3
def test_area(): assert Shape(3).area() == 9
def test_counter(): assert counter(4)() == 5

@pytest.mark.parametrize("x", [0, 1])
def test_zero(x): assert add(x, 0) == x

@pytest.mark.xfail
def test_known(): assert add(1, 1) == 3

def test_skipped(): pytest.skip("no")

@pytest.fixture
def broken(): raise RuntimeError
def test_error(broken): pass

def test_where(): assert os.path.exists("pk/__init__.py")
"""
PATH = "pk/__init__.py"


def spec(root: Path) -> ServerSpec:
    return package_spec(root, {PATH: MODULE, "tests/test_pk.py": TESTS})


def started(root: Path, level: str, *, preload: bool = True) -> Server:
    return Server(spec(root), level=level, hash_seed=0, preload=preload)


@pytest.fixture(scope="module")
def level() -> str:
    strongest = choose("auto")
    if strongest == PROCESS:
        pytest.skip("no sandbox here")
    return strongest


@pytest.fixture(scope="module")
def server(level: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    one = started(tmp_path_factory.mktemp("server"), level)
    yield one
    one.close()


@pytest.fixture
def own(level: str, tmp_path: Path) -> Iterator[Server]:
    one = started(tmp_path, level)
    yield one
    one.close()


def wait_for(condition: object, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.02)
    return False


def test_outcomes(server: Server) -> None:
    verdict = server.run(Job())
    assert {test.rpartition("::")[2]: outcome for test, outcome in verdict.outcomes.items()} == {
        "test_add": "passed",
        "test_area": "passed",
        "test_counter": "passed",
        "test_zero[0]": "passed",
        "test_zero[1]": "passed",
        "test_known": "xfailed",
        "test_skipped": "skipped",
        "test_error": "error",
        "test_where": "passed",
    }
    assert verdict.ended and verdict.failure is None and verdict.killed is None
    assert verdict.collected == tuple(verdict.outcomes) == server.template_ids()


@pytest.mark.parametrize("start", [Start.BASE, Start.TEMPLATE])
def test_a_module_that_cannot_be_imported_loses_its_own_tests_only(
    level: str, tmp_path: Path, start: Start
) -> None:
    broken = spec(tmp_path)
    (broken.tree / "tests" / "test_bad.py").write_text("import nothing\ndef test_lost(): pass\n")
    good, lost = "tests/test_pk.py::test_add", "tests/test_bad.py::test_lost"
    one = Server(broken, level=level, hash_seed=0, preload=True)
    try:
        fine = one.run(Job(start=start, tests=(good,)))
        both = one.run(Job(start=start, tests=(good, lost)))
    finally:
        one.close()
    assert fine.outcomes == {good: "passed"} and fine.ended
    if start is Start.TEMPLATE:
        assert both.refused == f"{lost} was not collected" and not both.outcomes
    else:
        assert both.outcomes == {good: "passed"}
        assert "No module named 'nothing'" in both.collect_errors["tests/test_bad.py"]


@pytest.mark.parametrize("others", [{}, {"pk/more.py": ""}])
@pytest.mark.parametrize("start", [Start.BASE, Start.TEMPLATE])
def test_bytecode_of_what_an_edit_replaces_is_hidden(
    level: str, tmp_path: Path, start: Start, others: dict[str, str]
) -> None:
    compiled = spec(tmp_path)
    compileall.compile_dir(compiled.tree / "pk", quiet=1)
    pyc = importlib.util.cache_from_source(PATH)
    assert (compiled.tree / pyc).stat().st_size
    edit = MODULE.replace("x + y", f"x + y + __import__('os').stat({pyc!r}).st_size")
    test = "tests/test_pk.py::test_add"
    one = Server(compiled, level=level, hash_seed=0, preload=True)
    try:
        swap = {PATH: ("add",)} if start is Start.TEMPLATE else {}
        edits = {PATH: edit, **others}
        verdict = one.run(Job(start=start, edits=edits, swap=swap, tests=(test,)))
    finally:
        one.close()
    assert verdict.outcomes == {test: "passed"}, verdict


def without_addresses(verdict: Verdict) -> dict[str, str]:
    return {test: re.sub("0x[0-9a-f]+", "0x", text) for test, text in verdict.texts.items()}


EDITS = {
    "body": (MODULE.replace("x + y", "x - y"), ("add",)),
    "longer": (MODULE.replace("    total = x + y\n", "    total = x\n    total += y\n"), ("add",)),
    "method": (MODULE.replace("self.side * self.side", "self.side + self.side"), ("Shape.area",)),
    "two": (
        MODULE.replace("x + y", "y + x").replace("self.side * ", "4 * "),
        ("add", "Shape.area"),
    ),
    "raises": (MODULE.replace("return total", "raise LookupError"), ("add",)),
    "inner": (MODULE.replace("start + step", "start - step"), ("counter",)),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_swap_says_what_base_says(server: Server, name: str) -> None:
    text, functions = EDITS[name]
    base = server.run(Job(edits={PATH: text}))
    swapped = server.run(Job(edits={PATH: text}, swap={PATH: functions}, start=Start.TEMPLATE))
    assert swapped.refused is None
    assert swapped.outcomes == base.outcomes
    assert without_addresses(swapped) == without_addresses(base)
    pristine = server.run(Job(start=Start.TEMPLATE))
    assert pristine.outcomes == server.run(Job()).outcomes


def test_an_assertion_of_the_source_is_swapped_as_source(level: str, tmp_path: Path) -> None:
    """Where tests lie inside the package, its modules are still not compiled as tests."""
    one = replace(spec(tmp_path), paths=("pk",))
    text = "def add(a, b):\n    assert a\n    return a - b\n"
    inside = "import pk, pytest\n"
    inside += "\ndef test_refuses():\n    pytest.raises(AssertionError, pk.add, 0, 2)\n"
    inside += "\ndef test_add():\n    assert pk.add(1, 2) == 3\n"
    (one.tree / PATH).write_text(text)
    (one.tree / "pk" / "test_in.py").write_text(inside)
    edits = {PATH: text.replace("assert a\n", "assert a != 0\n").replace("a - b", "a + b")}
    twin = {"pk/test_in.py": inside.replace("== 3", "== 4")}
    server = Server(one, level=level, hash_seed=0, preload=True)
    try:
        repaired = server.run(Job(edits=edits, swap={PATH: ("add",)}, start=Start.TEMPLATE))
        swap = {"pk/test_in.py": ("test_add",)}
        broken = server.run(Job(edits=twin, swap=swap, start=Start.TEMPLATE))
    finally:
        server.close()
    assert repaired.passed() == {"pk/test_in.py::test_refuses", "pk/test_in.py::test_add"}
    assert "where -1 = " in broken.texts["pk/test_in.py::test_add"]  # a test is rewritten as one


@pytest.mark.parametrize(
    ("text", "function"),
    [
        (MODULE.replace("return self.side *", "return super().area() *"), "Shape.area"),
        (MODULE, "missing"),
        ("def add(:\n", "add"),
    ],
    ids=["free variables", "no such function", "not Python"],
)
def test_swaps_that_would_be_unsound_are_refused(server: Server, text: str, function: str) -> None:
    job = Job(edits={PATH: text}, swap={PATH: (function,)}, start=Start.TEMPLATE)
    verdict = server.run(job)
    assert verdict.refused and not verdict.outcomes


def test_fresh_says_what_base_says(level: str, server: Server, tmp_path: Path) -> None:
    fresh = started(tmp_path, level, preload=False)
    try:
        verdict = fresh.run(Job(start=Start.FRESH))
    finally:
        fresh.close()
    assert verdict.outcomes == server.run(Job()).outcomes


def test_new_files_are_laid_over(server: Server) -> None:
    edits = {"pk/more/__init__.py": "VALUE = 7\n", PATH: MODULE + "from .more import VALUE\n"}
    edits["tests/test_pk.py"] = "import pk\n\ndef test_more(): assert pk.VALUE == 7\n"
    assert server.run(Job(edits=edits)).passed() == {"tests/test_pk.py::test_more"}
    assert not (server.tree / "pk" / "more").exists()


def test_a_template_that_cannot_collect_refuses(level: str, tmp_path: Path) -> None:
    one = spec(tmp_path)
    (one.tree / PATH).write_text("import threading, time\n" + MODULE + (
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    ))  # fmt: skip
    server = Server(one, level=level, hash_seed=0, preload=True)
    try:
        assert "threads" in (server.run(Job(start=Start.TEMPLATE)).refused or "")
        assert server.run(Job()).ended
    finally:
        server.close()


@pytest.mark.parametrize(
    "others",
    [
        {"pytest.ini": "[pytest]\nfilterwarnings =\n    error::pk.Old\n"},
        {"tests/conftest.py": "import pk\n"},
        {"tests/__init__.py": "", "tests/conftest.py": "import pk\n"},
        {},
    ],
)
def test_an_edit_is_seen_however_early_pytest_imports_it(
    level: str, tmp_path: Path, others: dict[str, str]
) -> None:
    text = MODULE + "\nclass Old(UserWarning):\n    pass\n"
    tests = "import pk\n\ndef test_add():\n    assert pk.add(1, 2) == 3\n"
    one = package_spec(tmp_path, {PATH: text, "tests/test_pk.py": tests, **others})
    server = Server(one, level=level, hash_seed=0, preload=True)
    try:
        assert set(server.run(Job()).outcomes.values()) == {"passed"}
        wrong = Job(edits={PATH: text.replace("x + y", "x - y")})
        assert set(server.run(wrong).outcomes.values()) == {"failed"}
        broken = server.run(Job(edits={PATH: text + "raise LookupError\n"}))
        assert not broken.passed()
        new = server.run(Job(edits={PATH: text + "import pk.more\n", "pk/more.py": ""}))
        assert set(new.outcomes.values()) == {"passed"}
        swapped = server.run(replace(wrong, swap={PATH: ("add",)}, start=Start.TEMPLATE))
        assert set(swapped.outcomes.values()) == {"failed"}
    finally:
        server.close()


@pytest.mark.parametrize("log_chars", [0, 4_000])
def test_a_conftest_that_cannot_be_imported_ends_the_job(
    level: str, tmp_path: Path, log_chars: int
) -> None:
    files = {PATH: MODULE, "tests/conftest.py": "import pk\n", "tests/test_pk.py": TESTS}
    server = Server(package_spec(tmp_path, files), level=level, hash_seed=0, preload=True)
    try:
        edits = {PATH: MODULE + "raise LookupError('at import')\n"}
        verdict = server.run(Job(edits=edits, log_chars=log_chars))
        assert verdict.ended and not verdict.outcomes
        assert ("LookupError: at import" in verdict.end_text) == bool(log_chars)
    finally:
        server.close()


def without_area(start: Start, *names: str) -> tuple[Job, tuple[str, ...]]:
    """A job under which ``test_area`` alone fails, and the node ids that it runs."""
    tests = tuple(f"tests/test_pk.py::{name}" for name in names)
    text = MODULE.replace("self.side * self.side", "0")
    swap = {PATH: ("Shape.area",)} if start is Start.TEMPLATE else {}
    return Job(edits={PATH: text}, swap=swap, start=start, tests=tests), tests


@pytest.mark.parametrize("start", [Start.BASE, Start.TEMPLATE])
def test_the_first_that_fails_ends_it(server: Server, start: Start) -> None:
    job, tests = without_area(start, "test_add", "test_area", "test_counter", "test_zero[0]")
    job = replace(job, stop_early=True)
    verdict = server.run(job)
    assert verdict.outcomes == {tests[0]: "passed", tests[1]: "failed"} and verdict.ended
    verdict = server.run(replace(job, first=tests[1:3]))
    assert verdict.outcomes == {tests[1]: "failed"}
    verdict = server.run(replace(job, first=tests[2:], tests=(tests[0], *tests[2:])))
    assert list(verdict.outcomes) == [*tests[2:], tests[0]]
    assert set(verdict.outcomes.values()) == {"passed"}


@pytest.mark.parametrize("start", [Start.BASE, Start.TEMPLATE])
def test_a_gate_runs_first_and_whole_and_lets_the_others_run(server: Server, start: Start) -> None:
    job, tests = without_area(start, "test_area", "test_counter", "test_add", "test_zero[0]")
    closed = server.run(replace(job, gate=tests[:2]))
    assert closed.outcomes == {tests[0]: "failed", tests[1]: "passed"} and closed.ended
    opened = server.run(replace(job, gate=tests[1:3], first=tests[3:], stop_early=True))
    assert list(opened.outcomes) == [*tests[1:], tests[0]] and opened.ended
    gone = "tests/test_pk.py::test_gone"
    absent = server.run(replace(job, tests=(*tests, gone), gate=(gone, tests[1])))
    assert absent.outcomes == ({tests[1]: "passed"} if start is Start.BASE else {})


@pytest.mark.parametrize("text", ["raise LookupError\n", "from pk import gone\n"])
def test_what_cannot_be_collected_ends_it(server: Server, text: str) -> None:
    broken = {"tests/test_pk.py": text, "tests/test_z.py": "def test_z(): pass\n"}
    tests = ("tests/test_pk.py::test_add", "tests/test_z.py::test_z")
    job = Job(edits=broken, tests=tests)
    assert server.run(job).passed() == {tests[1]}
    assert not server.run(replace(job, stop_early=True)).outcomes
    gone = {**broken, "tests/test_pk.py": "def test_other(): pass\n"}
    assert not server.run(replace(job, edits=gone, stop_early=True)).outcomes


def test_a_job_shares_no_namespace_with_its_server(server: Server) -> None:
    kinds = ("mnt", "ipc", "net", "pid", "user")
    ask = f"[os.readlink(f'/proc/self/ns/{{kind}}') for kind in {kinds}]"
    text = f"import os\n\ndef test_it(): assert {ask} == 0"
    server.template_ids()  # all its tiers are up
    before = descendants(server.pid)
    seen = " ".join(server.run(Job(edits={"tests/test_pk.py": text})).texts.values())
    standing = set(before) & set(descendants(server.pid))  # the job's own init may be dying yet
    assert len(standing) >= 3
    for kind in kinds:
        assert f"{kind}:[" in seen
        for pid in standing:
            try:
                assert os.readlink(f"/proc/{pid}/ns/{kind}") not in seen
            except FileNotFoundError:
                continue  # of the job before
            except PermissionError:
                pytest.skip("an ordinary user may not ask")


def slow_job(start: Start = Start.BASE) -> Job:
    text = "import time\n\ndef test_first(): pass\n\ndef test_slow(): time.sleep(20)\n"
    limits = Limits(wall_s=25)
    return Job(edits={"tests/test_pk.py": text}, start=start, limits=limits)


def run_and(server: Server, act: object) -> tuple[Verdict, float]:
    """Run a slow job, ``act`` once its suite is at work: the verdict and how long it took."""
    server.template_ids()  # all its tiers are up
    before = set(descendants(server.pid))
    answers: list[Verdict] = []
    thread = threading.Thread(target=lambda: answers.append(server.run(slow_job())))
    began = time.monotonic()
    thread.start()
    assert wait_for(lambda: len(set(descendants(server.pid)) - before) >= 2)
    time.sleep(0.5)
    act(sorted(set(descendants(server.pid)) - before))  # type: ignore[operator]
    thread.join(15)
    assert answers, "the driver waits for what is gone"
    return answers[0], time.monotonic() - began


def test_a_killed_server_is_a_failure_of_ours(own: Server, level: str, tmp_path: Path) -> None:
    pids = descendants(own.pid)
    verdict, _ = run_and(own, lambda job: os.kill(own.pid, signal.SIGKILL))
    assert verdict.failure and not verdict.outcomes and not verdict.ended
    assert not wait_for(own.alive, 0.1)
    with pytest.raises(ServerDied):
        own.run(Job())
    with pytest.raises(ServerDied):
        own.run(Job(start=Start.TEMPLATE))
    assert wait_for(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in pids))
    again = started(tmp_path / "again", level)
    try:
        assert again.run(Job()).ended
    finally:
        again.close()


def test_a_killed_jailer_is_a_failure_of_ours(own: Server) -> None:
    kept: list[int] = []

    def kill(job: list[int]) -> None:
        kept.extend(job)
        init = job[0]
        jailer = next(pid for pid in descendants(own.pid) if init in children(pid))
        os.kill(jailer, signal.SIGKILL)

    verdict, seconds = run_and(own, kill)
    assert verdict.failure and not verdict.outcomes and seconds < 10
    assert wait_for(lambda: not set(kept) & set(descendants(own.pid)))
    assert wait_for(lambda: not own.alive())
    with pytest.raises(ServerDied):
        own.run(Job())


def test_a_killed_suite_is_the_job_s_own_end(own: Server) -> None:
    verdict, _ = run_and(own, lambda job: os.kill(job[-1], signal.SIGKILL))
    assert verdict.failure is None and not verdict.ended
    assert set(verdict.outcomes) == {"tests/test_pk.py::test_first"}


def test_closing_ends_running_jobs(own: Server) -> None:
    verdict, seconds = run_and(own, lambda job: own.close())
    assert verdict.failure and not verdict.outcomes and seconds < 15
    own.close()
    with pytest.raises(ServerDied):
        own.run(Job())


def mounts() -> int:
    return len(Path("/proc/self/mounts").read_text().splitlines())


@pytest.mark.slow
def test_many_jobs_leave_nothing(own: Server) -> None:
    own.template_ids()
    jobs = [Job(start=Start.TEMPLATE)] * 180 + [Job()] * 20
    assert all(own.run(job).ended for job in jobs[:1])
    wait_for(lambda: len(descendants(own.pid)) <= 2)
    state = [len(descendants(own.pid)), len(os.listdir("/proc/self/fd")), mounts()]
    inner = [len(os.listdir(f"/proc/{pid}/fd")) for pid in descendants(own.pid)]
    assert all(own.run(job).ended for job in jobs)
    assert wait_for(lambda: len(descendants(own.pid)) == state[0])
    assert [state[0], len(os.listdir("/proc/self/fd")), mounts()] == state
    assert [len(os.listdir(f"/proc/{pid}/fd")) for pid in descendants(own.pid)] == inner


def test_jobs_at_once(server: Server) -> None:
    verdicts: list[Verdict] = []
    starts = [Start.TEMPLATE, Start.BASE] * 3
    threads = [
        threading.Thread(target=lambda s=start: verdicts.append(server.run(Job(start=s))))
        for start in starts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(verdicts) == len(starts)
    assert len({tuple(sorted(verdict.outcomes.items())) for verdict in verdicts}) == 1


def test_without_a_sandbox_it_works_too(tmp_path: Path) -> None:
    one = started(tmp_path, PROCESS)
    try:
        assert one.run(Job()).ended
        assert one.run(Job(start=Start.TEMPLATE)).passed()
    finally:
        one.close()


def test_a_worker_that_cannot_start_says_why(level: str, tmp_path: Path) -> None:
    one = spec(tmp_path)
    missing = ServerSpec(**{**vars(one), "tree": tmp_path / "nowhere"})
    with pytest.raises(ServerDied, match="did not start"):
        Server(missing, level=level, hash_seed=0, preload=True)
