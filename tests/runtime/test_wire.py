"""What a job writes never raises in the driver, and never says more than it may."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gym_codefix.runtime._job import Job, Limits, Start, Verdict
from gym_codefix.runtime._wire import read_verdict

DONE = b'{"exit": 0, "killed": null, "cpu_s": 0.1, "wall_s": 0.2, "peak_bytes": 5}\n'
LIMITS = Limits(wall_s=5, result_bytes=1 << 16)
JOB = Job(limits=LIMITS)
OUTCOMES = {"passed", "failed", "error", "skipped", "xfailed"}

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.text(max_size=8)
    | st.integers(-(10**400), 10**400),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
KINDS = ("test", "collected", "collect-error", "lines", "contexts", "swap-refused", "end", "status")
KEYS = ("id", "outcome", "seconds", "text", "ids", "path", "files", "why", "failure", "killed")
MESSAGES = st.builds(
    lambda kind, fields: {"kind": kind, **fields},
    st.sampled_from(KINDS),
    st.dictionaries(
        st.sampled_from(KEYS), VALUES | st.sampled_from(sorted(OUTCOMES)), max_size=len(KEYS)
    ),
)
LINES = st.binary(max_size=60) | MESSAGES.map(lambda message: json.dumps(message).encode())
JOBS = st.builds(
    lambda start, coverage: replace(JOB, start=start, coverage=coverage),
    st.sampled_from(Start),
    st.sampled_from([None, "lines", "contexts"]),
)


def read(result: bytes, status: bytes = DONE, job: Job = JOB) -> Verdict:
    result_in, result_out = os.pipe()
    status_in, status_out = os.pipe()

    def write() -> None:
        for descriptor, data in ((result_out, result), (status_out, status)):
            try:
                while data:
                    data = data[os.write(descriptor, data) :]
            except BrokenPipeError:
                pass
            os.close(descriptor)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        return read_verdict(result_in, status_in, job)
    finally:
        os.close(result_in)
        os.close(status_in)
        writer.join()


def line(**message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


@given(st.lists(LINES, max_size=12), JOBS)
def test_garbage_never_raises(lines: list[bytes], job: Job) -> None:
    verdict = read(b"\n".join(lines), job=job)
    assert verdict.failure is None and verdict.killed is None
    assert set(verdict.outcomes.values()) <= OUTCOMES
    assert all(0 <= seconds <= 1e6 for seconds in verdict.seconds.values())
    for text in (*verdict.texts.values(), *verdict.outcomes, *verdict.collect_errors.values()):
        assert len(text.encode()) <= 4 * 10_100
    assert verdict.lines is None or job.coverage == "lines"
    assert verdict.contexts is None or job.coverage == "contexts"
    assert verdict.refused is None or job.start is Start.TEMPLATE


@given(st.lists(st.sampled_from(sorted(OUTCOMES)), min_size=1, max_size=6))
def test_a_test_passed_only_if_it_never_did_anything_else(outcomes: list[str]) -> None:
    data = b"".join(line(kind="test", id="t", outcome=outcome) for outcome in outcomes)
    assert (read(data).outcomes["t"] == "passed") == (set(outcomes) == {"passed"})


def test_floods_are_cut_at_once() -> None:
    data = line(kind="test", id="t", outcome="passed") + line(kind="end")
    started = time.monotonic()
    verdict = read(data + b"x" * (LIMITS.result_bytes * 40), status=b"")
    assert time.monotonic() - started < 2
    assert verdict.killed == "result" and not verdict.ended and verdict.failure is None


def test_much_garbage_is_not_read() -> None:
    started = time.process_time()
    data = line(kind="test", id="t", outcome="passed") + b"1\n" * 1_000_000
    verdict = read(data, job=replace(JOB, limits=replace(LIMITS, result_bytes=1 << 24)))
    assert verdict.killed == "result" and not verdict.ended
    assert time.process_time() - started < 2


def test_deep_and_long_values() -> None:
    data = b"[" * 20_000 + b"\n" + b'{"kind": "test", "id": "t", "outcome": "passed", "seconds": '
    data += b"9" * 4_000 + b"}\n" + b'{"kind": "end", "text": "\\ud800"}\n'
    verdict = read(data)
    assert verdict.outcomes == {"t": "passed"} and verdict.seconds == {}
    verdict.end_text.encode()


def test_without_a_status_nothing_is_believed() -> None:
    data = line(kind="test", id="t", outcome="passed") + line(kind="end")
    for status in (b"", b"{", b'{"exit": 0'):
        verdict = read(data, status)
        assert verdict.failure and not verdict.outcomes and not verdict.ended


def test_killed_jobs_did_not_end() -> None:
    data = line(kind="test", id="t", outcome="passed") + line(kind="end")
    verdict = read(data, b'{"exit": -9, "killed": "wall"}\n')
    assert verdict.killed == "wall" and not verdict.ended
    assert verdict.outcomes == {"t": "passed"}


def test_a_held_result_pipe_is_not_waited_for() -> None:
    result_in, result_out = os.pipe()
    status_in, status_out = os.pipe()
    os.write(result_out, line(kind="end"))
    os.write(status_out, DONE)
    started = time.monotonic()
    verdict = read_verdict(result_in, status_in, JOB)
    assert verdict.ended and time.monotonic() - started < 1
    for descriptor in (result_in, result_out, status_in, status_out):
        os.close(descriptor)


def test_a_lost_supervisor_is_not_waited_for() -> None:
    result_in, result_out = os.pipe()
    status_in, status_out = os.pipe()
    os.close(status_out)
    started = time.monotonic()
    assert read_verdict(result_in, status_in, JOB).failure
    assert time.monotonic() - started < 1
    for descriptor in (result_in, result_out, status_in):
        os.close(descriptor)
