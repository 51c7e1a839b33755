"""Reading what a job reports: its pipe is untrusted input, its supervisor's is not."""

from __future__ import annotations

import json
import os
import selectors
import time
from typing import Any

from ._job import Job, Verdict

_GRACE_S = 10.0
_CHUNK = 1 << 16
_OUTCOMES = frozenset({"passed", "failed", "error", "skipped", "xfailed"})
_STATUS_BYTES = 1 << 16


class _Flood(Exception):
    """A job reports more than its limit."""


def _drain(result_fd: int, status_fd: int, job: Job) -> tuple[bytes, bytes, bool]:
    """Read both pipes to their ends: (result, status, whether the result was cut at its limit)."""
    buffers = {result_fd: bytearray(), status_fd: bytearray()}
    bounds = {result_fd: job.limits.result_bytes, status_fd: _STATUS_BYTES}
    deadline = time.monotonic() + job.limits.wall_s + _GRACE_S
    flooded = False
    with selectors.DefaultSelector() as selector:
        for descriptor in buffers:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                descriptor = key.fd
                chunk = os.read(descriptor, _CHUNK)
                if len(buffers[descriptor]) + len(chunk) > bounds[descriptor]:
                    flooded, chunk = True, b""
                if chunk:
                    buffers[descriptor] += chunk
                else:
                    selector.unregister(descriptor)
            if status_fd not in selector.get_map() and buffers[status_fd]:
                # The supervisor is done, so the job's processes are gone: take what is left.
                while not flooded and (chunk := _read_left(result_fd, selector)):
                    buffers[result_fd] += chunk
                    flooded = len(buffers[result_fd]) > bounds[result_fd]
                break
    return bytes(buffers[result_fd]), bytes(buffers[status_fd]), flooded


def _read_left(descriptor: int, selector: selectors.BaseSelector) -> bytes:
    if descriptor not in selector.get_map():
        return b""
    ready = selector.select(0)
    return os.read(descriptor, _CHUNK) if ready else b""


def _messages(data: bytes) -> list[dict[str, Any]]:
    """Whole, well-formed lines; anything else is dropped, as silence would be."""
    found = []
    for line in data.split(b"\n"):
        if not line:
            continue
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict) and isinstance(message.get("kind"), str):
            found.append(message)
    return found


def _text(value: object, limit: int) -> str:
    return value[: limit + 100] if isinstance(value, str) else ""


class _Reading:
    """A verdict being put together from untrusted messages."""

    def __init__(self, job: Job) -> None:
        self._limit = job.log_chars
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
            self.collected = tuple(item for item in ids if isinstance(item, str))
        elif kind == "collect-error":
            text = _text(message.get("text"), self._limit)
            self.errors[_text(message.get("path"), 1_000)] = text
        elif kind == "lines" and isinstance(files := message.get("files"), dict):
            self.lines = {
                path: tuple(line for line in lines if isinstance(line, int))
                for path, lines in files.items()
                if isinstance(lines, list)
            }
        elif kind == "contexts":
            self.contexts = message
        elif kind == "swap-refused":
            self.refused = _text(message.get("why"), 1_000) or "refused"
        elif kind == "end":
            self.ended = True
            self.end_text = _text(message.get("text"), self._limit)

    def _take_test(self, message: dict[str, Any]) -> None:
        test, outcome = message.get("id"), message.get("outcome")
        if not isinstance(test, str) or outcome not in _OUTCOMES:
            return
        # A test reported twice is not believed: the worse outcome stays.
        if self.outcomes.get(test, "passed") == "passed":
            self.outcomes[test] = str(outcome)
        if isinstance(seconds := message.get("seconds"), int | float):
            self.seconds[test] = float(seconds)
        if text := _text(message.get("text"), self._limit):
            self.texts[test] = text


def read_verdict(result_fd: int, status_fd: int, job: Job) -> Verdict:
    """Wait for a job to end and say what it reported."""
    result, status, flooded = _drain(result_fd, status_fd, job)
    reading = _Reading(job)
    for message in _messages(result):
        reading.take(message)
    try:
        report = json.loads(status)
    except ValueError:
        report = {"failure": "the job's supervisor was killed from outside"}
    return Verdict(
        outcomes=reading.outcomes,
        texts=reading.texts,
        seconds=reading.seconds,
        collected=reading.collected,
        collect_errors=reading.errors,
        ended=reading.ended and not flooded and report.get("killed") is None,
        end_text=reading.end_text,
        killed="result" if flooded else report.get("killed"),
        failure=report.get("failure"),
        refused=reading.refused,
        lines=reading.lines,
        contexts=reading.contexts,
        cpu_s=report.get("cpu_s", 0.0),
        wall_s=report.get("wall_s", 0.0),
        peak_bytes=report.get("peak_bytes", 0),
    )
