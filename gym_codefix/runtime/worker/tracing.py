"""Which lines ran, and for which test: coverage.py with a context per test and per wide fixture."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Generator, Sequence
from typing import Any

import coverage
import pytest

IMPORT_CONTEXT = ""
FIXTURE_PREFIX = "fixture:"
_SPAWNING = frozenset(
    {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork", "os.forkpty"}
)
# They run no code but their own: a test that starts one depends on its own process alone.
_PLAIN_PROGRAMS = frozenset({"cat", "echo", "false", "head", "tail", "true", "wc"})
_SYSTEM_FOLDERS = ("/bin/", "/usr/bin/")
_SHELL = re.compile(r"(?:/usr)?/bin/sh")
_WORD = re.compile(r"[\w./-]+")


def runs_no_python(arguments: tuple[Any, ...]) -> bool:
    """Whether what ``subprocess.Popen`` starts (the arguments of its audit event) is one of the
    system's plain programs, alone, with nothing for a shell to interpret."""
    executable, command, _, environment = arguments
    listed = [command] if isinstance(command, str | bytes) else list(command)
    words: list[str] = [os.fsdecode(word) for word in listed]
    program: str = os.fsdecode(executable) if executable else words[0]
    if _SHELL.fullmatch(program) and words[1:2] == ["-c"] and len(words) == 3:
        program = words[2]
        if not _WORD.fullmatch(program):
            return False
    variables = os.environ if environment is None else environment
    path = shutil.which(program, path=variables.get("PATH", os.defpath))
    return (
        path is not None
        and os.path.basename(path) in _PLAIN_PROGRAMS
        and path.startswith(_SYSTEM_FOLDERS)
    )


class Tracer:
    """Measures from construction on; ``lines`` or ``contexts`` read the result once."""

    def __init__(self, repo: str, source: Sequence[str]) -> None:
        self._repo = repo
        self._coverage = coverage.Coverage(
            data_file=None,
            config_file=False,
            messages=False,
            include=[
                place + ("/*" if os.path.isdir(place) else "")
                for place in (os.path.join(repo, path) for path in source)
            ],
        )
        self._coverage.start()

    def switch(self, context: str) -> None:
        """Attribute what runs from now on to ``context``."""
        self._coverage.switch_context(context)

    def lines(self) -> dict[str, list[int]]:
        """Executed lines by path relative to the repository."""
        data = self._data()
        return {
            os.path.relpath(path, self._repo): sorted(data.lines(path) or ())
            for path in sorted(data.measured_files())
        }

    def contexts(self) -> dict[str, Any]:
        """``{"contexts": [name], "sets": [hex masks], "files": {path: {line: set}}}``."""
        data = self._data()
        names = sorted(data.measured_contexts())
        bit = {name: 1 << index for index, name in enumerate(names)}
        sets: dict[int, int] = {}
        files: dict[str, dict[int, int]] = {}
        for path in sorted(data.measured_files()):
            lines = {}
            for line, found in sorted(data.contexts_by_lineno(path).items()):
                mask = 0
                for name in found:
                    mask |= bit[name]
                lines[line] = sets.setdefault(mask, len(sets))
            files[os.path.relpath(path, self._repo)] = lines
        return {"contexts": names, "sets": [f"{mask:x}" for mask in sets], "files": files}

    def _data(self) -> coverage.CoverageData:
        self._coverage.stop()
        return self._coverage.get_data()


class ContextPlugin:
    """Switches the tracer's context, and notes which tests start processes or import the source."""

    def __init__(self, tracer: Tracer, repo: str) -> None:
        self._tracer = tracer
        self._prefix = repo + os.sep
        self._context = IMPORT_CONTEXT
        self._spawned = False
        self._known: set[str] = set()
        self.spawning: list[str] = []
        self.importing: list[str] = []
        self.fixtures: dict[str, list[str]] = {}
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _SPAWNING and not self._spawned:
            try:
                self._spawned = event != "subprocess.Popen" or not runs_no_python(arguments)
            except Exception:  # from an audit hook it would go to the test
                self._spawned = True

    def _imports_source(self) -> bool:
        new = sys.modules.keys() - self._known
        self._known |= new
        return any(
            (getattr(sys.modules.get(name), "__file__", None) or "").startswith(self._prefix)
            for name in new
        )

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._imports_source()
        self._spawned = False
        self.fixtures[item.nodeid] = sorted(getattr(item, "fixturenames", ()))
        self._switch(item.nodeid)
        try:
            return (yield)
        finally:
            self._switch(IMPORT_CONTEXT)
            if self._spawned:
                self.spawning.append(item.nodeid)
            if self._imports_source():
                self.importing.append(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        before = self._context  # the test's, or that of a fixture that asked for this one
        self._switch(FIXTURE_PREFIX + fixturedef.argname)
        try:
            return (yield)
        finally:
            self._switch(before)

    def _switch(self, context: str) -> None:
        self._context = context
        self._tracer.switch(context)
