"""What a worker is asked to run, and what it reports."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


def file_of(test: str) -> str:
    """The test file of a node id."""
    return test.partition("::")[0]


@dataclass(frozen=True)
class Limits:
    """Bounds on one job: CPU and wall seconds, bytes and counts for its whole process tree.

    ``cpu_s`` and ``memory_bytes`` also bind each single process.
    """

    cpu_s: int = 30
    wall_s: int = 60
    memory_bytes: int = 2 << 30
    file_bytes: int = 32 << 20
    tmp_bytes: int = 64 << 20
    tmp_files: int = 20_000
    open_files: int = 512
    processes: int = 128
    result_bytes: int = 16 << 20

    def to_json(self) -> dict[str, int]:
        """As the worker reads it."""
        return asdict(self)


class Start(enum.Enum):
    """Where a job's process comes from."""

    TEMPLATE = "template"  # fork of a process that has collected; edits by swapped code objects
    BASE = "base"  # fork of a process that has imported pytest and the dependencies
    FRESH = "fresh"  # a new process in a new sandbox


@dataclass(frozen=True)
class Job:
    """One run of some tests of a snapshot with some files changed.

    ``edits``: whole texts by path, over the snapshot's tree. ``swap``: for TEMPLATE, the edited
    files and the qualified names of their changed functions. ``paths``: test files to collect
    (None: the repository's). ``tests``: node ids to run (None: all that is collected).
    ``coverage``: None, ``"lines"`` or ``"contexts"``. ``date``: ISO time to which the clock is set.
    ``log_chars``: how much is told of each failure; nothing at all is quickest. ``stop_early``: end
    at the first of ``tests`` that does not pass. ``gate``: those of them that run first, in this
    order and whatever becomes of them, and end the job if one did not pass; ``first``: those that
    run next.
    """

    edits: Mapping[str, str] = field(default_factory=dict)
    swap: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    paths: tuple[str, ...] | None = None
    tests: tuple[str, ...] | None = None
    start: Start = Start.BASE
    hash_seed: int = 0
    order_seed: int | None = None
    cwd: str | None = None
    date: str | None = None
    coverage: str | None = None
    log_chars: int = 4_000
    stop_early: bool = False
    gate: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    limits: Limits = Limits()

    def to_json(self) -> dict[str, Any]:
        """As the worker reads it."""
        return {
            "edits": dict(self.edits),
            "swap": {path: list(names) for path, names in self.swap.items()},
            "paths": None if self.paths is None else list(self.paths),
            "tests": None if self.tests is None else list(self.tests),
            "order_seed": self.order_seed,
            "cwd": self.cwd,
            "date": self.date,
            "coverage": self.coverage,
            "log_chars": self.log_chars,
            "stop_early": self.stop_early,
            "gate": list(self.gate),
            "first": list(self.first),
            "limits": self.limits.to_json(),
        }


@dataclass(frozen=True)
class Verdict:
    """What one job reported. Outcomes are claims of a process that ran the agent's code.

    ``outcomes``: passed, failed, error, skipped or xfailed by node id; a test that was chosen and
    is missing did not finish. ``ended``: the suite ran to its end. ``killed``: the limit that ended
    the job (``wall``, ``cpu``, ``memory``, ``result``) or None. ``failure``: why the result may not
    be trusted to say anything about the agent (a fault of ours), or None. ``refused``: why a
    template could not run this job.
    """

    outcomes: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    collected: tuple[str, ...] | None = None
    collect_errors: Mapping[str, str] = field(default_factory=dict)
    ended: bool = False
    end_text: str = ""
    killed: str | None = None
    failure: str | None = None
    refused: str | None = None
    lines: Mapping[str, tuple[int, ...]] | None = None
    contexts: Mapping[str, Any] | None = None
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_bytes: int = 0

    def passed(self) -> frozenset[str]:
        """The tests that ran their call phase and passed."""
        return frozenset(test for test, outcome in self.outcomes.items() if outcome == "passed")
