"""Run chosen tests through pytest's own API and report each outcome as a line of JSON."""

from __future__ import annotations

import datetime
import importlib
import io
import json
import os
import random
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import pytest

Report = Callable[[dict[str, Any]], None]
Finish = Callable[[], None]
_ARGUMENTS = (
    *("-p", "no:cacheprovider", "-p", "no:faulthandler", "--capture=sys", "-q"),
    # A module that cannot be imported loses its own tests, not those of all the others.
    "--continue-on-collection-errors",
)


def leave() -> None:
    """End this process at once: what pytest and exit handlers would still do changes no outcome."""
    os._exit(0)


def reporter(result_fd: int) -> Report:
    """A function that writes one message to the driver (untrusted there, as this process is)."""

    def report(message: dict[str, Any]) -> None:
        data = json.dumps(message).encode("ascii") + b"\n"
        view = memoryview(data)
        while view:
            view = view[os.write(result_fd, view) :]

    return report


def places_of(items: Iterable[pytest.Item]) -> dict[str, tuple[int, ...]]:
    """Where each node id stands."""
    places: dict[str, tuple[int, ...]] = {}
    for place, item in enumerate(items):
        places[item.nodeid] = (*places.get(item.nodeid, ()), place)
    return places


class OutcomePlugin:
    """Chooses and orders the items, and reports what became of each."""

    def __init__(
        self, job: Mapping[str, Any], report: Report, finish: Finish, *, collected: bool
    ) -> None:
        self._job = job
        self._report = report
        self._finish_session = finish
        self._announce = collected
        self._phases: dict[str, dict[str, str]] = {}
        self._texts: dict[str, str] = {}
        self._seconds: dict[str, float] = {}
        self._internal_error = ""
        self._gate = frozenset(job["gate"])
        self._gate_holds = True

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if not self._gate_holds and nodeid not in self._gate:
            self._end(1)

    def pytest_configure(self, config: pytest.Config) -> None:
        if not self._job["log_chars"]:
            # The exception alone: for more, pytest parses every file that the traceback passes.
            config.option.tbstyle = "value"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._end(int(exitstatus))

    def _end(self, code: int) -> None:
        self._report({"kind": "end", "code": code, "text": self._internal_error})
        self._finish_session()

    def _not_passing(self, tests: Collection[str]) -> None:
        if not self._gate.isdisjoint(tests):
            self._gate_holds = False
        elif tests and self._job["stop_early"]:
            self._end(1)

    def pytest_internalerror(self, excrepr: object) -> None:
        self._internal_error = self._cut(str(excrepr))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            text = self._cut(report.longreprtext)
            self._report({"kind": "collect-error", "path": report.nodeid, "text": text})
            wanted = self._job["tests"] or ()
            self._not_passing([test for test in wanted if test.startswith(report.nodeid)])

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._announce:
            self._report({"kind": "collected", "ids": [item.nodeid for item in items]})
            items[:] = self.chosen(items, places_of(items))

    def chosen(
        self, items: Sequence[pytest.Item], places: Mapping[str, Sequence[int]]
    ) -> list[pytest.Item]:
        """The job's tests in the job's order; ``places``: of all items, by node id.

        What a fork looks at it copies, so that only what is wanted is looked at.
        """
        wanted = self._job["tests"]
        if wanted is None:
            found = list(items)
        else:
            at = {place for test in set(wanted) for place in places.get(test, ())}
            found = [items[place] for place in sorted(at)]
            self._not_passing([test for test in wanted if test not in places])
        if self._gate or self._job["first"]:
            gate = self._job["gate"]
            ranks = {test: rank for rank, test in enumerate(gate)}
            ranks.update({test: len(gate) for test in self._job["first"] if test not in ranks})
            found.sort(key=lambda item: ranks.get(item.nodeid, len(gate) + 1))
        if self._job["order_seed"] is not None:
            random.Random(self._job["order_seed"]).shuffle(found)
        return found

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        phases = self._phases.setdefault(report.nodeid, {})
        outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        if phases.get(report.when) not in ("failed", "xfailed"):
            phases[report.when] = outcome
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed and report.nodeid not in self._texts:
            self._texts[report.nodeid] = self._cut(report.longreprtext)
        if report.when == "teardown":
            self._finish(report.nodeid)

    def _finish(self, test: str) -> None:
        phases = self._phases.pop(test)
        seen = set(phases.values())
        if "failed" in seen:
            outcome = "failed" if phases.get("call") == "failed" else "error"
        elif "xfailed" in seen:
            outcome = "xfailed"
        elif "skipped" in seen or "call" not in phases:
            outcome = "skipped"
        else:
            outcome = "passed"
        message: dict[str, Any] = {"kind": "test", "id": test, "outcome": outcome}
        message["seconds"] = round(self._seconds.pop(test), 6)
        if test in self._texts:
            message["text"] = self._texts.pop(test)
        self._report(message)
        if outcome != "passed":
            self._not_passing([test])

    def _cut(self, text: str) -> str:
        limit = self._job["log_chars"]
        if not limit:
            return ""
        return text if len(text) <= limit else text[: limit // 2] + "\n[…]\n" + text[-limit // 2 :]


def arguments(spec: Mapping[str, Any], paths: list[str] | None) -> list[str]:
    """pytest's command line for this repository and these test paths."""
    return [
        *_ARGUMENTS,
        f"--rootdir={spec['repo']}",
        *spec["pytest_args"],
        *places(spec, paths),
    ]


def places(spec: Mapping[str, Any], paths: list[str] | None) -> list[str]:
    """What to collect: these test paths, or the repository's."""
    return [os.path.join(spec["repo"], path) for path in paths or spec["paths"]]


def hide_current_test() -> None:
    """Pytest tells the environment which test runs: code under test may see that one does."""
    from _pytest import runner

    def update(item: pytest.Item, when: str | None) -> None:
        if when:
            os.environ["PYTEST_CURRENT_TEST"] = f"test ({when})"
        else:
            os.environ.pop("PYTEST_CURRENT_TEST", None)

    runner._update_current_test_var = update


class _Nowhere(io.TextIOBase):
    """Swallows text and holds no descriptor, which a job would find closed."""

    def write(self, text: str) -> int:
        return len(text)


def quieten() -> io.StringIO:
    """Send output nowhere; errors, which pytest prints for a broken conftest, to the buffer."""
    sys.stdout = _Nowhere()
    sys.stderr = io.StringIO()
    return sys.stderr


def run(spec: Mapping[str, Any], job: Mapping[str, Any], result_fd: int) -> None:
    """Import, collect, run and report; does not return."""
    report = reporter(result_fd)
    errors = quieten()
    hide_current_test()
    if job["date"]:
        import time_machine

        # It is a pytest plugin too, and pytest warns of plugins imported before it could rewrite
        # them; where warnings are errors, nothing would run.
        time_machine.__doc__ = "PYTEST_DONT_REWRITE"
        moment = datetime.datetime.fromisoformat(job["date"])
        time_machine.travel(moment, tick=True).start()
    if job["cwd"]:
        os.makedirs(job["cwd"], exist_ok=True)
        os.chdir(job["cwd"])
    importlib.invalidate_caches()
    finish, tracing_plugins = _trace(spec, job, report) if job["coverage"] else (leave, [])
    plugins = [OutcomePlugin(job, report, finish, collected=True), *tracing_plugins]
    code = pytest.main(arguments(spec, job["paths"]), plugins=plugins)
    end(job, result_fd, int(code), errors)


def end(job: Mapping[str, Any], result_fd: int, code: int, errors: io.StringIO) -> None:
    """Report an end that came before the session's; does not return."""
    text = errors.getvalue()[-job["log_chars"] :] if job["log_chars"] else ""
    reporter(result_fd)({"kind": "end", "code": code, "text": text})
    leave()


def _plugin_packages() -> set[str]:
    """Top-level names of every installed distribution that brings a pytest plugin."""
    from importlib import metadata

    names = set()
    for point in metadata.entry_points(group="pytest11"):
        names.add(point.value.partition(":")[0].partition(".")[0])
        for file in (point.dist.files if point.dist is not None else None) or ():
            if file.suffix == ".py":
                names.add(file.parts[0].removesuffix(".py"))
    return names


def _dependencies(repo: str) -> list[str]:
    """Imported modules that are not the repository's: base may hold them ahead of jobs."""
    prefix = repo + os.sep
    roots = (sys.prefix + os.sep, os.path.dirname(os.__file__) + os.sep)
    own = _plugin_packages()  # pytest rewrites these when it loads them, so it must load them
    found = []
    for name, module in sorted(sys.modules.items()):
        origin = getattr(module, "__file__", None) or ""
        if origin.startswith(prefix):
            own.add(name.partition(".")[0])
        elif origin.startswith(roots) or not origin:
            found.append(name)
    return [name for name in found if name.partition(".")[0] not in own and name != "__main__"]


def _trace(
    spec: Mapping[str, Any], job: Mapping[str, Any], report: Report
) -> tuple[Finish, list[object]]:
    """Start measuring: what to do at the session's end, and the plugins needed."""
    from .tracing import ContextPlugin, Tracer

    tracer = Tracer(spec["repo"], spec["source"])
    if job["coverage"] == "lines":

        def finish_lines() -> None:
            report({"kind": "lines", "files": tracer.lines()})
            leave()

        return finish_lines, []
    contexts = ContextPlugin(tracer, spec["repo"])

    def finish_contexts() -> None:
        report(
            {
                "kind": "contexts",
                **tracer.contexts(),
                "spawning": contexts.spawning,
                "importing": contexts.importing,
                "fixtures": contexts.fixtures,
                "modules": _dependencies(spec["repo"]),
            }
        )
        leave()

    return finish_contexts, [contexts]
