"""The server's second tier: a process that has collected and forks itself for every job."""

from __future__ import annotations

import gc
import importlib
import os
import socket
import threading
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

import pytest

from . import protocol, reduce, suite, swap

Serve = Callable[..., tuple[dict[str, Any], int] | None]


class TemplatePlugin:
    """Stops pytest between collection and run, serves there, and lets a fork go on."""

    def __init__(
        self,
        spec: Mapping[str, Any],
        channel: socket.socket,
        serve: Serve,
    ) -> None:
        self._spec, self._channel, self._serve = spec, channel, serve
        self._texts: dict[str, str] = {}
        self._outlines: dict[str, reduce.Outline] = {}
        self._reduced: dict[str, tuple[str, str] | None] = {}  # of the job that comes next
        self._pristine: dict[str, CodeType] = {}
        self._errors: list[str] = []
        self.failure: str | None = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._errors.append(report.longreprtext)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if self._errors and not session.items:
            self.failure = "collection failed: " + self._errors[0][-2000:]
            return True
        if threading.active_count() > 1:
            self.failure = "the repository starts threads when it is imported"
            return True
        root = self._spec["repo"] + os.sep
        self._compile_test = swap.test_compiler(session.config)
        self._rewritten = swap.rewritten_files()
        self._index = swap.index_functions(root)
        gc.collect()
        gc.freeze()
        protocol.send(
            self._channel, {"ready": True, "ids": [item.nodeid for item in session.items]}
        )
        taken = self._serve(self._channel, self._spec, self._compile_pristine)
        if taken is None:
            os._exit(0)
        self._run(session, *taken)
        return None  # pytest's own loop goes on, over the chosen items

    def _compiler(self, path: str) -> swap.Compiler:
        place = os.path.join(self._spec["repo"], path)
        return self._compile_test if place in self._rewritten else swap.compile_source

    def _compile_pristine(self, job: Mapping[str, Any]) -> None:
        """Before the fork, so that later jobs on the same file find it done."""
        for path, changed in job["swap"].items():
            if path not in self._texts:
                place = os.path.join(self._spec["repo"], path)
                with open(place, encoding="utf-8", newline="") as file:
                    self._texts[path] = file.read()
                self._outlines[path] = reduce.Outline(self._texts[path])
            self._reduced[path] = self._outlines[path].reduced(job["edits"][path], changed)
            if self._reduced[path] is None and path not in self._pristine:
                self._pristine[path] = self._compile(path, self._texts[path])

    def _compile(self, path: str, text: str) -> CodeType:
        return self._compiler(path)(text, os.path.join(self._spec["repo"], path))

    def _codes(self, path: str, text: str) -> tuple[CodeType, CodeType]:
        """The module before and after an edit, or what of it the edit touches."""
        reduced = self._reduced[path]
        if reduced is None:
            return self._pristine[path], self._compile(path, text)
        old, new = reduced
        return self._compile(path, old), self._compile(path, new)

    def _run(self, session: pytest.Session, job: Mapping[str, Any], result_fd: int) -> None:
        report = suite.reporter(result_fd)
        os.chdir(self._spec["repo"])
        importlib.invalidate_caches()
        lost = set(job["tests"] or ()) - {item.nodeid for item in session.items}
        if lost:  # their module cannot be imported: from base the job says why
            report({"kind": "swap-refused", "why": f"{min(lost)} was not collected"})
            os._exit(0)
        try:
            for path, changed in job["swap"].items():
                old, new = self._codes(path, job["edits"][path])
                swap.swap(self._index, old, new, set(changed))
        except (swap.SwapRefused, SyntaxError, ValueError) as error:
            report({"kind": "swap-refused", "why": str(error)})
            os._exit(0)
        outcomes = suite.OutcomePlugin(job, report, suite.leave, collected=False)
        session.config.pluginmanager.register(outcomes)
        outcomes.choose(session.items)


def main(spec: Mapping[str, Any], channel: socket.socket, serve: Serve) -> None:
    """Collect, serve; in a fork, run its job. Raises RuntimeError when templates are impossible."""
    errors = suite.quieten()
    suite.hide_current_test()
    importlib.invalidate_caches()
    plugin = TemplatePlugin(spec, channel, serve)
    code = pytest.main(suite.arguments(spec, spec["paths"]), plugins=[plugin])
    raise RuntimeError(
        plugin.failure or f"pytest ended with {int(code)}: {errors.getvalue()[-2000:]}"
    )
