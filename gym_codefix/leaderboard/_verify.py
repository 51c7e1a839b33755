"""Checking a published row without the agent that made it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gym_codefix.leaderboard._aggregate import aggregate, check_records
from gym_codefix.leaderboard._errors import Fault, LeaderboardError
from gym_codefix.leaderboard._files import parse_records, read_result, write_result
from gym_codefix.leaderboard._json import differences, sha256_hex
from gym_codefix.leaderboard._record import (
    REFERENCE_AGENT,
    REFERENCE_PREFIX,
    SPENT,
    EpisodeRecord,
    SuiteTask,
)
from gym_codefix.leaderboard._result import Result, python_version

Replay = Callable[[EpisodeRecord], EpisodeRecord]
Progress = Callable[[int, int], None]

# Recomputed numbers may differ by this much: one unit of the last decimal kept, for machines
# whose vector units sum in another order.
_TOLERANCE = 1.5e-6
_LONGEST_VALUE = 80


@dataclass(frozen=True)
class VerifyReport:
    """The outcome of ``verify``: accepted when ``ok``, else refused for every fault listed."""

    result: Result | None
    replayed: int
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...]

    @property
    def ok(self) -> bool:
        """Whether the file is accepted."""
        return not self.faults


def verify(
    result_path: Path,
    *,
    replay: Replay,
    suite_tasks: Sequence[SuiteTask],
    suite_hash: str,
    progress: Progress | None = None,
    write_status: bool = False,
    python: str = python_version(),
) -> VerifyReport:
    """Replay every recorded action and recompute the row from the records.

    Everything must come out equal but tokens, seconds and cost. Another isolation level is a
    warning, and so is another log under another ``python`` than the row's, or an episode that
    failed by no fault of the agent's (it counts as not resolved, whatever its replay gives).
    Faults are reported, not raised, each with file and line or JSON path. Nothing is replayed when
    the records are not one full run over the suite. ``progress`` is called with (records done,
    records in all). With ``write_status``, an accepted ``self-reported`` row becomes ``replayed``
    in its file.

    Raises:
        OSError: when the result file cannot be read, or its status not written.
    """
    file = str(result_path)
    try:
        result = read_result(result_path)
    except LeaderboardError as error:
        return VerifyReport(None, 0, error.faults, ())
    faults = []
    if result.suite.hash != suite_hash:
        faults.append(
            Fault("$.suite.hash", f"is {result.suite.hash!r}, but the suite is {suite_hash!r}")
        )
    records_path = result_path.parent / result.records.file
    try:
        data = records_path.read_bytes()
        records = parse_records(data, str(records_path))
    except OSError as error:
        why = f"{records_path} cannot be read: {error.strerror}; records lie beside their row"
        faults.append(Fault("$.records.file", why))
        return VerifyReport(result, 0, tuple(fault.in_file(file) for fault in faults), ())
    except LeaderboardError as error:
        named = [fault.in_file(file) for fault in faults]
        return VerifyReport(result, 0, (*named, *error.faults), ())
    if result.records.sha256 != sha256_hex(data):
        faults.append(Fault("$.records.sha256", f"is not that of {records_path.name}"))
    named = [fault.in_file(file) for fault in faults]
    structure = [*check_records(records, suite_tasks), *_borrowed(result, records)]
    if structure:
        named += [fault.in_file(str(records_path)) for fault in structure]
        return VerifyReport(result, 0, tuple(named), ())
    named += [fault.in_file(file) for fault in _recompute(result, records, suite_tasks)]
    lenient = {"isolation"} if result.python == python else {"isolation", "verdict.log_sha256"}
    found, warned = _replay_all(records, replay, progress, lenient)
    named += [fault.in_file(str(records_path)) for fault in found]
    warnings = tuple(fault.in_file(str(records_path)) for fault in warned)
    if not named and write_status and result.status == "self-reported":
        result = replace(result, status="replayed")
        write_result(result, result_path)
    return VerifyReport(result, len(records), tuple(named), warnings)


def _borrowed(result: Result, records: Sequence[EpisodeRecord]) -> list[Fault]:
    """A reference replays as the right answer: on another row than gold's it is not a patch."""
    if result.agent == REFERENCE_AGENT:
        return []
    return [
        Fault(f"line {line}", f"{record.task_id}: only {REFERENCE_AGENT} may submit a reference")
        for line, record in enumerate(records, 1)
        if record.action == REFERENCE_PREFIX + record.task_id
    ]


def _recompute(
    result: Result, records: Sequence[EpisodeRecord], suite_tasks: Sequence[SuiteTask]
) -> list[Fault]:
    recomputed = aggregate(
        records,
        suite_tasks,
        agent=result.agent,
        parameters=result.parameters,
        suite_name=result.suite.name,
        suite_hash=result.suite.hash,
        git_commit=result.git.commit,
        git_dirty=result.git.dirty,
        lock_sha256=result.lock_sha256,
        python=result.python,
        records_file=result.records.file,
        command=result.command,
        status=result.status,
    )
    return [
        Fault(path, f"is {_shown(claimed)}, but the records give {_shown(computed)}")
        for path, computed, claimed in differences(recomputed.to_dict(), result.to_dict())
        # A wrong sha256 was reported before, and says nothing about the metrics.
        if path != "$.records.sha256" and not _close(computed, claimed)
    ]


def _close(one: Any, other: Any) -> bool:
    numbers = (int, float)
    return (
        isinstance(one, numbers) and isinstance(other, numbers) and abs(one - other) <= _TOLERANCE
    )


def _replay_all(
    records: Sequence[EpisodeRecord],
    replay: Replay,
    progress: Progress | None,
    lenient: Collection[str],
) -> tuple[list[Fault], list[Fault]]:
    faults: list[Fault] = []
    warnings: list[Fault] = []
    for line, record in enumerate(records, 1):
        again = replay(record)
        place = f"line {line}"
        if not record.reward_valid:
            why = f"{record.task_id}: failed when it was played ({record.failure_reason})"
            warnings.append(Fault(place, why))
        elif not again.reward_valid:
            faults.append(
                Fault(
                    place,
                    f"{record.task_id}: this replay failed ({again.failure_reason}); verify again",
                )
            )
        else:
            for path, now, then in differences(again.to_dict(), record.to_dict()):
                name = path.removeprefix("$.")
                if name in SPENT:
                    continue
                told = warnings if name in lenient else faults
                message = f"{name} is {_shown(then)}, but its replay gives {_shown(now)}"
                told.append(Fault(place, f"{record.task_id}: {message}"))
        if progress is not None:
            progress(line, len(records))
    return faults, warnings


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
