"""Running jobs: warm servers come and go, and every way to run one gives the same verdict."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from gym_codefix.catalog import manifest
from gym_codefix.runtime import (
    Job,
    Runtime,
    Snapshot,
    Start,
    Store,
    Verdict,
    choose_isolation,
    default_runtime,
    load_snapshot,
)

CALENDAR, GRAPH = "taskgraph/calendar.py", "taskgraph/graph.py"


@pytest.fixture
def own_runtime(shared_store: Store) -> Iterator[Runtime]:
    """A runtime whose servers the test may end."""
    one = Runtime(shared_store, max_servers=1)
    yield one
    one.close()


def broken(snapshot: Snapshot, path: str) -> dict[str, str]:
    """An edit that some tests notice: the first comparison turned around."""
    text = snapshot.read(path)
    assert text is not None
    edited = text.replace(" < ", " >= ", 1).replace(" == ", " != ", 1)
    assert edited != text
    return {path: edited}


def seen(verdict: Verdict) -> tuple[object, ...]:
    """What of a verdict does not depend on how fast the machine is."""
    assert verdict.failure is None
    assert verdict.refused is None
    return dict(verdict.outcomes), verdict.collected, verdict.ended, verdict.killed


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("start", list(Start))
def test_the_pristine_tree_passes_its_baseline(
    runtime: Runtime, rowquery: Snapshot, start: Start
) -> None:
    verdict = runtime.run(rowquery, Job(start=start))
    assert verdict.passed() >= set(rowquery.baseline.passing)


def test_a_broken_file_gives_one_verdict_however_it_is_run(
    runtime: Runtime, shared_store: Store, taskgraph: Snapshot
) -> None:
    edits = broken(taskgraph, GRAPH)
    verdict = runtime.run(taskgraph, Job(edits=edits))
    assert not verdict.passed() >= set(taskgraph.baseline.passing)
    assert seen(runtime.run(taskgraph, Job(edits=edits, start=Start.FRESH))) == seen(verdict)
    plain = Runtime(shared_store, isolation="process")
    try:
        assert plain.isolation == "process"
        assert seen(plain.run(taskgraph, Job(edits=edits))) == seen(verdict)
        assert seen(plain.run(taskgraph, Job())) == seen(runtime.run(taskgraph, Job()))
    finally:
        plain.close()
    assert taskgraph.read(GRAPH) not in edits.values()


@pytest.mark.parametrize("isolation", ["auto", "process"])
@pytest.mark.parametrize("path", ["../escaped.py", "/tmp/escaped.py", "taskgraph/../../escaped.py"])
def test_an_edit_that_leaves_the_tree_is_refused(
    shared_store: Store, taskgraph: Snapshot, isolation: str, path: str
) -> None:
    one = Runtime(shared_store, isolation=isolation)
    with pytest.raises(ValueError, match="leaves the tree"):
        one.run(taskgraph, Job(edits={path: "x = 1\n"}))
    assert not Path("/tmp/escaped.py").exists()


def test_only_so_many_servers_are_kept(
    own_runtime: Runtime, rowquery: Snapshot, taskgraph: Snapshot
) -> None:
    own_runtime.run(rowquery, Job(tests=rowquery.baseline.passing[:1]))
    (first,) = own_runtime.server_pids()
    own_runtime.run(taskgraph, Job(tests=taskgraph.baseline.passing[:1]))
    (second,) = own_runtime.server_pids()
    assert second != first
    assert not alive(first)


def test_threads_share_servers(
    own_runtime: Runtime, rowquery: Snapshot, taskgraph: Snapshot
) -> None:
    jobs = [
        (snapshot, Job(start=start))
        for snapshot in (rowquery, taskgraph)
        for start in (Start.BASE, Start.TEMPLATE)
    ] * 2
    with ThreadPoolExecutor(4) as pool:
        verdicts = list(pool.map(lambda one: own_runtime.run(*one), jobs))
    for (snapshot, _), verdict in zip(jobs, verdicts, strict=True):
        assert verdict.failure is None
        assert verdict.passed() >= set(snapshot.baseline.passing)
    assert len(own_runtime.server_pids()) == 1


def test_a_killed_server_is_replaced(own_runtime: Runtime, taskgraph: Snapshot) -> None:
    job = Job(tests=taskgraph.baseline.passing[:2])
    own_runtime.run(taskgraph, job)
    (pid,) = own_runtime.server_pids()
    os.kill(pid, signal.SIGKILL)
    verdict = own_runtime.run(taskgraph, job)
    assert verdict.failure is None
    assert verdict.passed() == set(job.tests or ())
    assert own_runtime.server_pids() != [pid]


def test_a_job_whose_server_is_killed_is_run_again(
    own_runtime: Runtime, taskgraph: Snapshot
) -> None:
    job = Job(tests=taskgraph.baseline.passing[:2])
    own_runtime.run(taskgraph, job)
    (pid,) = own_runtime.server_pids()
    text = taskgraph.read("taskgraph/__init__.py") or ""
    slow = Job(
        tests=job.tests, edits={"taskgraph/__init__.py": f"{text}\nimport time\ntime.sleep(1)\n"}
    )
    killer = threading.Timer(0.5, os.kill, (pid, signal.SIGKILL))
    killer.start()
    verdict = own_runtime.run(taskgraph, slow)
    killer.join()
    assert verdict.failure is None
    assert verdict.passed() == set(job.tests or ())
    assert own_runtime.server_pids() != [pid]


def test_a_closed_runtime_may_be_closed_and_used_again(
    own_runtime: Runtime, taskgraph: Snapshot
) -> None:
    job = Job(tests=taskgraph.baseline.passing[:1])
    own_runtime.run(taskgraph, job)
    (pid,) = own_runtime.server_pids()
    own_runtime.close()
    own_runtime.close()
    assert own_runtime.server_pids() == []
    assert not alive(pid)
    assert own_runtime.run(taskgraph, job).passed()


def run_job(home: str, job: Job) -> tuple[object, ...]:
    """What a worker of a pool does; the same in a thread and in a process."""
    store = Store(home)
    one = Runtime(store, max_servers=1)
    try:
        return seen(one.run(load_snapshot(manifest("taskgraph"), store=store), job))
    finally:
        one.close()


def test_verdicts_are_identical_across_executors(shared_store: Store, taskgraph: Snapshot) -> None:
    jobs = [
        Job(edits=broken(taskgraph, CALENDAR)),
        Job(edits=broken(taskgraph, CALENDAR), start=Start.FRESH),
    ]
    spawn = multiprocessing.get_context("spawn")
    pools: list[Executor] = [ThreadPoolExecutor(2), ProcessPoolExecutor(2, mp_context=spawn)]
    results = []
    for pool in pools:
        with pool:
            results.append(list(pool.map(run_job, [str(shared_store.home)] * len(jobs), jobs)))
    assert results[0] == results[1]
    assert results[0][0] == results[0][1]


def test_a_forked_child_does_not_talk_to_its_parents_servers(
    runtime: Runtime, taskgraph: Snapshot
) -> None:
    job = Job(tests=taskgraph.baseline.passing[:3])
    expected = seen(runtime.run(taskgraph, job))
    pids = runtime.server_pids()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if runtime.server_pids() == [] and seen(runtime.run(taskgraph, job)) == expected:
                runtime.close()
                status = 0
        finally:
            os._exit(status)
    assert seen(runtime.run(taskgraph, job)) == expected
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert runtime.server_pids() == pids
    assert seen(runtime.run(taskgraph, job)) == expected


def test_a_server_ends_at_once_though_a_forked_child_lives(
    own_runtime: Runtime, taskgraph: Snapshot
) -> None:
    own_runtime.run(taskgraph, Job(tests=taskgraph.baseline.passing[:1]))
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    try:
        begin = time.monotonic()
        own_runtime.close()
        assert time.monotonic() - begin < 3
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_bad_arguments_are_refused(shared_store: Store) -> None:
    with pytest.raises(ValueError, match="max_servers must be at least 1"):
        Runtime(shared_store, max_servers=0)
    with pytest.raises(ValueError, match="unknown isolation 'none'; valid: auto, strict"):
        Runtime(shared_store, isolation="none")


@pytest.mark.parametrize(("limit", "servers"), [("max", None), (str(2 << 30), 8), ("no", None)])
def test_as_many_servers_are_kept_as_memory_allows(
    shared_store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: str, servers: int
) -> None:
    (tmp_path / "memory.max").write_text(limit + "\n")
    monkeypatch.setattr("gym_codefix.runtime._runtime._CONTAINER_MEMORY", tmp_path / "memory.max")
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    kept = Runtime(shared_store)._max_servers
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert kept == servers if servers else 8 <= kept <= max(8, total // 8 // (64 << 20))


def test_the_default_runtime_is_one_for_each_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GYM_CODEFIX_HOME", str(tmp_path / "a"))
    one = default_runtime()
    assert default_runtime() is one
    assert one.isolation == choose_isolation()
    monkeypatch.setenv("GYM_CODEFIX_HOME", str(tmp_path / "b"))
    assert default_runtime() is not one
