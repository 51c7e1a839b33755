"""The server's later tiers: pytest stopped on its way to the tests, forking itself for every job.

*configured* has loaded pytest's plugins and nothing of the repository, not even a conftest;
*template* has collected. It is forked from configured, or from base where that is impossible.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import threading
from collections.abc import Callable, Generator, Mapping
from types import CodeType
from typing import Any

import pytest

from . import protocol, reduce, suite, swap
from .main import holds_modules_of

Serve = Callable[..., protocol.Taken | protocol.Promoted | None]


class TierPlugin:
    """Stops pytest before or after it collects, serves there, and lets a fork go on."""

    def __init__(self, spec: Mapping[str, Any], start: protocol.Promoted, serve: Serve) -> None:
        self._spec, self._serve = spec, serve
        self._tier, self.channel = start
        self.taken: protocol.Taken | None = None  # by a fork of the configured tier
        self._texts: dict[str, str] = {}
        self._outlines: dict[str, reduce.Outline] = {}
        self._reduced: dict[str, tuple[str, str] | None] = {}  # of the job that comes next
        self._pristine: dict[str, CodeType] = {}
        self._items: list[pytest.Item] = []
        self._places: dict[str, tuple[int, ...]] = {}
        self._errors: list[str] = []
        self.failure: str | None = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # ahead of what imports categories of warnings
    def pytest_load_initial_conftests(
        self, early_config: pytest.Config, args: list[str]
    ) -> Generator[None, object, object]:
        if self._tier == protocol.CONFIGURED:
            self._serve_configured(early_config, args)
        try:
            return (yield)
        except Exception:
            if self.taken is not None and not self.taken.job["log_chars"]:
                # A conftest that cannot be imported: to say where takes longer than to find out.
                suite.end(*self.taken, pytest.ExitCode.USAGE_ERROR, io.StringIO())
            raise

    def _serve_configured(self, early_config: pytest.Config, args: list[str]) -> None:
        root = self._spec["repo"]
        source = [os.path.normpath(os.path.join(root, path)) for path in self._spec["source"]]
        if holds_modules_of(source):
            self.failure = "pytest itself imports what an edit may change"
            pytest.exit(self.failure)
        gc.collect()
        gc.freeze()
        protocol.send(self.channel, {"ready": True, "ids": []})
        taken = self._serve(self.channel)
        if taken is None:
            os._exit(0)
        importlib.invalidate_caches()
        if isinstance(taken, protocol.Promoted):
            self._tier, self.channel = taken
            return
        self.taken = taken
        job, result_fd = taken
        os.chdir(self._spec["repo"])
        places = suite.places(self._spec, job["paths"])
        args[-len(self._spec["paths"]) :] = places
        early_config.known_args_namespace.file_or_dir = places
        outcomes = suite.OutcomePlugin(job, suite.reporter(result_fd), suite.leave, collected=True)
        early_config.pluginmanager.register(outcomes)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._errors.append(report.longreprtext)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if self.taken is not None:
            return None
        if self._errors and not session.items:
            self.failure = "collection failed: " + self._errors[0][-2000:]
            return True
        if threading.active_count() > 1:
            self.failure = "the repository starts threads when it is imported"
            return True
        root = self._spec["repo"] + os.sep
        self._compile_test = swap.test_compiler(session.config)
        self._rewritten = swap.rewritten_files()
        self._items, self._places = session.items, suite.places_of(session.items)
        self._index = swap.index_functions(root)
        gc.collect()
        gc.freeze()
        protocol.send(self.channel, {"ready": True, "ids": [item.nodeid for item in session.items]})
        taken = self._serve(self.channel, self._compile_pristine)
        if not isinstance(taken, protocol.Taken):
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
        lost = [test for test in job["tests"] or () if test not in self._places]
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
        # A list of its own: to drop the others from the old one would be to write to each.
        session.items = outcomes.chosen(session.items, self._places)


def main(spec: Mapping[str, Any], start: protocol.Promoted, serve: Serve) -> None:
    """Become a tier and serve, or say why not; in a fork, go on from there. Does not return."""
    plugin = TierPlugin(spec, start, serve)
    try:
        errors = suite.quieten()
        suite.hide_current_test()
        importlib.invalidate_caches()
        code = int(pytest.main(suite.arguments(spec, None), plugins=[plugin]))
        if plugin.taken is not None:
            suite.end(*plugin.taken, code, errors)
        why = plugin.failure or f"pytest ended with {code}: {errors.getvalue()[-2000:]}"
    except BaseException as error:
        why = f"{type(error).__name__}: {error}"
    if plugin.taken is None:
        try:
            protocol.send(plugin.channel, {"ready": False, "why": why})
        except OSError:
            pass  # the driver is gone
    os._exit(1)
