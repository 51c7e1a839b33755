"""The build of a repository, stage by stage, as a developer would run it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from gym_codefix.catalog import Manifest
from gym_codefix.grading.repair import (
    Plan,
    chosen_job,
    collection_log,
    failure_log,
    limits_for,
    plan_edits,
    run_reliably,
    useful_log,
    wheels_text,
)
from gym_codefix.runtime import (
    Job,
    PrepareError,
    Runtime,
    Snapshot,
    Start,
    Store,
    Verdict,
    fetch_wheels,
    file_of,
    prepare_moved,
    under,
)

from ._resolve import ConstraintError, resolve

BUILD_STAGES = ("resolve", "install", "compile", "import", "collect", "test")
_PROBE = "test_gcf_import.py"
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def compile_fault(text: str, path: str) -> str | None:
    """What keeps a source text from compiling, None when nothing does."""
    try:
        compile(text, path, "exec", dont_inherit=True)
    except _UNREADABLE as error:
        return str(error) or type(error).__name__
    return None


@dataclass(frozen=True)
class Build:
    """How far a build came.

    ``stage``: the one that failed, None when the build is green; ``logs`` by stage, the first real
    error on top; ``passed``: tests; ``lock``: what was installed, None when nothing was resolved;
    ``seconds`` by stage.
    """

    stage: str | None
    logs: Mapping[str, str]
    passed: frozenset[str] = frozenset()
    lock: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def green(self) -> bool:
        return self.stage is None

    @property
    def log(self) -> str:
        """The log of the stage that failed, or of the tests."""
        return self.logs.get(self.stage or "test", "")


class Builder:
    """Builds one release; environments are kept by their locks, so that only changes cost.

    ``snapshot``: the release as it is prepared; its baseline says how long tests take. ``wanted``:
    the tests that a green build passes, in their order; ``shown``: those whose failures a log may
    tell of; ``masks``: texts that lie over test files, so that what runs cannot read these.
    """

    def __init__(
        self,
        known: Manifest,
        snapshot: Snapshot,
        wanted: tuple[str, ...],
        shown: frozenset[str],
        runtime: Runtime,
        masks: Mapping[str, str] | None = None,
    ) -> None:
        self._known, self._snapshot, self._runtime = known, snapshot, runtime
        self._wanted, self._shown = wanted, shown
        self._masks = masks or {}

    @property
    def _store(self) -> Store:
        return self._runtime.store

    def build(
        self,
        edits: Mapping[str, str],
        constraints: str | None = None,
        floors: tuple[str, ...] = (),
        *,
        start: Start = Start.TEMPLATE,
    ) -> Build:
        """Every stage until one fails.

        ``constraints``: None leaves the environment of the snapshot. ``start``: the warmest
        process that may be used. Raises Infrastructure.
        """
        progress = _Progress()
        snapshot = self._snapshot
        lock = None
        if constraints is not None:
            with progress.stage("resolve"):
                try:
                    found = resolve(self._known, snapshot, constraints, floors, self._store)
                except ConstraintError as error:
                    return progress.failed("resolve", str(error))
            progress.logs["resolve"] = found.log
            if found.lock is None:
                return progress.failed("resolve", found.log)
            lock = found.lock
            with progress.stage("install"):
                try:
                    snapshot = self._installed(lock)
                except PrepareError as error:
                    return progress.failed("install", str(error))
        with progress.stage("compile"):
            for path, text in sorted(edits.items()):
                if (fault := compile_fault(text, path)) is not None:
                    return progress.failed("compile", f"{path}: {fault}", lock)
            try:
                plan = plan_edits(self._snapshot, edits) if edits else None
            except _UNREADABLE as error:
                return progress.failed("compile", str(error), lock)
        with progress.stage("test"):
            known = frozenset[str]()
            if constraints is None and start is not Start.FRESH:
                known = self._unreached(plan)
            if start is not Start.TEMPLATE:
                plan = None
            tests = [test for test in self._wanted if test not in known]
            verdict = self._run(snapshot, edits, tests, start, plan)
        return self._judge(progress, snapshot, edits, verdict, known, lock)

    def _unreached(self, plan: Plan | None) -> frozenset[str]:
        """Tests that pass since nothing that they run has changed."""
        reached = plan.reaching(self._snapshot) if plan is not None else ()
        return frozenset(self._snapshot.baseline.passing).difference(reached)

    def _installed(self, lock: str) -> Snapshot:
        release = self._snapshot.release
        wheels = fetch_wheels(wheels_text(self._known, release), self._store)
        moved = prepare_moved(self._known, release, lock, wheels, self._store)
        return under(self._snapshot, moved, self._store)

    def _run(
        self,
        snapshot: Snapshot,
        edits: Mapping[str, str],
        tests: Sequence[str],
        start: Start,
        plan: Plan | None,
    ) -> Verdict:
        if not tests:
            return Verdict(ended=True)
        over = {**self._masks, **edits}
        if start is Start.FRESH or snapshot is not self._snapshot:
            cold = Start.FRESH if start is Start.FRESH else Start.BASE
            limits = limits_for(snapshot, tests, slow=True)
            job = Job(edits=over, tests=tuple(tests), start=cold, limits=limits)
        else:
            job = chosen_job(snapshot, tests, over, plan=plan)
        return run_reliably(snapshot, job, self._runtime)

    def _judge(
        self,
        progress: _Progress,
        snapshot: Snapshot,
        edits: Mapping[str, str],
        verdict: Verdict,
        known: frozenset[str],
        lock: str | None,
    ) -> Build:
        passed = (verdict.passed() | known) & frozenset(self._wanted)
        missing = [test for test in self._wanted if test not in passed]
        if not missing:
            return Build(None, progress.logs, passed, lock, progress.seconds)
        failure = None
        if verdict.killed is None:  # else it would be waited for again
            with progress.stage("import"):
                failure = self._import_failure(snapshot, edits)
        if failure is not None:
            return progress.failed("import", failure, lock, passed)
        broken = {file_of(test) for test in missing} & verdict.collect_errors.keys()
        if broken or not verdict.outcomes:
            parts = collection_log({path: verdict.collect_errors[path] for path in broken})
            text = "\n\n".join(parts) or useful_log(verdict.end_text)
            return progress.failed("collect", text, lock, passed)
        return progress.failed("test", self._failures(verdict, missing), lock, passed)

    def _failures(self, verdict: Verdict, missing: list[str]) -> str:
        shown = [test for test in missing if test in self._shown]
        count = f"{len(self._wanted) - len(missing)} of {len(self._wanted)} tests pass"
        return "\n\n".join([count, *failure_log(shown, verdict)])

    def _import_failure(self, snapshot: Snapshot, edits: Mapping[str, str]) -> str | None:
        """What importing the repository says, None when it can be imported."""
        names = [PurePosixPath(path).stem for path in snapshot.layout.source]
        text = "".join(f"import {name}\n" for name in names) + "\n\ndef test_it(): pass\n"
        job = Job(edits={**self._masks, **edits, _PROBE: text}, paths=(_PROBE,))
        job = replace(job, limits=limits_for(self._snapshot, ()))
        verdict = run_reliably(snapshot, job, self._runtime)
        if verdict.passed():
            return None
        return useful_log("\n".join(verdict.collect_errors.values()) or verdict.end_text)


class _Progress:
    """Logs and times of the stages so far."""

    def __init__(self) -> None:
        self.logs: dict[str, str] = {}
        self.seconds: dict[str, float] = {}

    def stage(self, name: str) -> _Timed:
        return _Timed(self.seconds, name)

    def failed(
        self, stage: str, log: str, lock: str | None = None, passed: frozenset[str] = frozenset()
    ) -> Build:
        self.logs[stage] = log
        return Build(stage, self.logs, passed, lock, self.seconds)


class _Timed:
    """Adds the seconds of a block to a table."""

    def __init__(self, seconds: dict[str, float], name: str) -> None:
        self._seconds, self._name = seconds, name

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        taken = time.perf_counter() - self._started
        self._seconds[self._name] = self._seconds.get(self._name, 0.0) + taken
