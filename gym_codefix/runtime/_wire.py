"""Reading what a job reports: its pipe is untrusted input, its supervisor's is not."""

from __future__ import annotations

import json
import os
import selectors
import time
from typing import Any

from ._job import Job, Start, Verdict

_GRACE_S = 10.0
_CHUNK = 1 << 16
_OUTCOMES = frozenset({"passed", "failed", "error", "skipped", "xfailed"})
_STATUS_BYTES = 1 << 16
_MAX_SECONDS = 1e6
_ID_CHARS = 10_000
_MOST_DROPPED = 1_000


def _drain(result_fd: int, status_fd: int, job: Job) -> tuple[bytes, bytes, bool]:
    """Read until the supervisor has reported or is gone: (result, status, result over its limit).

    The status is one line. Whoever else holds the result pipe is not waited for; a job that floods
    it is given up, which its supervisor notices when our ends of the pipes are closed.
    """
    buffers = {result_fd: bytearray(), status_fd: bytearray()}
    bounds = {result_fd: job.limits.result_bytes, status_fd: _STATUS_BYTES}
    deadline = time.monotonic() + job.limits.wall_s + _GRACE_S
    with selectors.DefaultSelector() as selector:
        for descriptor in buffers:
            selector.register(descriptor, selectors.EVENT_READ)
        reported = False
        while (left := deadline - time.monotonic()) > 0:
            ready = [key.fd for key, _ in selector.select(0 if reported else left)]
            if reported and result_fd not in ready:
                break
            for descriptor in ready:
                buffer = buffers[descriptor]
                chunk = os.read(descriptor, _CHUNK)
                buffer += chunk
                if len(buffer) > bounds[descriptor]:
                    return bytes(buffers[result_fd]), bytes(buffers[status_fd]), True
                if descriptor == status_fd and (not chunk or buffer.endswith(b"\n")):
                    reported = True
                if not chunk or (descriptor == status_fd and reported):
                    selector.unregister(descriptor)
    return bytes(buffers[result_fd]), bytes(buffers[status_fd]), False


def _messages(data: bytes) -> tuple[list[dict[str, Any]], bool]:
    """Whole, well-formed lines, and whether there were too many of others to read on.

    A few others are dropped, as silence would be.
    """
    found: list[dict[str, Any]] = []
    dropped = at = 0
    while at < len(data) and dropped <= _MOST_DROPPED:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        try:
            message = json.loads(data[at:end])
        except (ValueError, RecursionError):
            message = None
        at = end + 1
        if isinstance(message, dict) and isinstance(message.get("kind"), str):
            found.append(message)
        else:
            dropped += 1
    return found, dropped > _MOST_DROPPED


def _text(value: object, limit: int) -> str:
    """At most ``limit`` characters and a little, all of which can be encoded."""
    text = value[: limit + 100] if isinstance(value, str) else ""
    return text.encode(errors="replace").decode()


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, float | int) and 0 <= value <= _MAX_SECONDS else None


class _Reading:
    """A verdict being put together from untrusted messages."""

    def __init__(self, job: Job) -> None:
        self._limit = job.log_chars
        self._coverage, self._start = job.coverage, job.start
        self.outcomes: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.seconds: dict[str, float] = {}
        self.collected: tuple[str, ...] | None = None
        self.errors: dict[str, str] = {}
        self.ended, self.end_text = False, ""
        self.refused: str | None = None
        self.lines: dict[str, tuple[int, ...]] | None = None
        self.contexts: dict[str, Any] | None = None

    def take(self, message: dict[str, Any]) -> None:
        kind = message["kind"]
        if kind == "test":
            self._take_test(message)
        elif kind == "collected" and isinstance(ids := message.get("ids"), list):
            self.collected = tuple(_text(item, _ID_CHARS) for item in ids if isinstance(item, str))
        elif kind == "collect-error":
            text = _text(message.get("text"), self._limit)
            self.errors[_text(message.get("path"), 1_000)] = text
        elif kind == self._coverage == "lines" and isinstance(files := message.get("files"), dict):
            self.lines = {
                path: tuple(line for line in lines if isinstance(line, int))
                for path, lines in files.items()
                if isinstance(lines, list)
            }
        elif kind == self._coverage == "contexts":
            self.contexts = message
        elif kind == "swap-refused" and self._start is Start.TEMPLATE:
            self.refused = _text(message.get("why"), 1_000) or "refused"
        elif kind == "end":
            self.ended = True
            self.end_text = _text(message.get("text"), self._limit)

    def _take_test(self, message: dict[str, Any]) -> None:
        test, outcome = _text(message.get("id"), _ID_CHARS), message.get("outcome")
        if not test or not isinstance(outcome, str) or outcome not in _OUTCOMES:
            return
        # A test reported twice is not believed: the worse outcome stays.
        if self.outcomes.get(test, "passed") == "passed":
            self.outcomes[test] = outcome
        if (seconds := _seconds(message.get("seconds"))) is not None:
            self.seconds[test] = seconds
        if text := _text(message.get("text"), self._limit):
            self.texts[test] = text


def read_verdict(result_fd: int, status_fd: int, job: Job) -> Verdict:
    """Wait for a job to end and say what it reported; nothing, when its supervisor is gone."""
    result, status, flooded = _drain(result_fd, status_fd, job)
    messages, garbage = _messages(result)
    if flooded or garbage:
        report: dict[str, Any] = {"killed": "result"}
    else:
        try:
            report = json.loads(status)
        except ValueError:
            return Verdict(failure="the job's supervisor was killed from outside")
    if "failure" in report:
        return Verdict(failure=report["failure"])
    reading = _Reading(job)
    for message in messages:
        reading.take(message)
    return Verdict(
        outcomes=reading.outcomes,
        texts=reading.texts,
        seconds=reading.seconds,
        collected=reading.collected,
        collect_errors=reading.errors,
        # A suite that somebody killed may have been made to say that it ended.
        ended=reading.ended and report.get("killed") is None and report.get("exit") == 0,
        end_text=reading.end_text,
        killed=report.get("killed"),
        refused=reading.refused,
        lines=reading.lines,
        contexts=reading.contexts,
        cpu_s=report.get("cpu_s", 0.0),
        wall_s=report.get("wall_s", 0.0),
        peak_bytes=report.get("peak_bytes", 0),
    )
