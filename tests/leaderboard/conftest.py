"""A small suite and runs over it, made up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gym_codefix.leaderboard import (
    EpisodeRecord,
    Result,
    aggregate,
    write_records,
    write_result,
)

SUITE_HASH = "sha256:" + "5" * 64


@dataclass(frozen=True)
class MadeUpTask:
    id: str
    kind: str
    repository: str
    level: int | None
    label: str | None
    date: str | None
    split: str = "test"


def _task(repository: str, kind: str, number: int) -> MadeUpTask:
    seeded = kind == "seeded"
    return MadeUpTask(
        id=f"{repository}/{kind}/{number:012x}",
        kind=kind,
        repository=repository,
        level=1 + number % 3 if seeded else None,
        label=None if seeded else ("fix", "feature")[number % 2],
        date=None if seeded else f"{2021 + number % 3}-05-0{1 + number}",
    )


@pytest.fixture
def suite() -> list[MadeUpTask]:
    """Twelve tasks: two repositories, two kinds, three each."""
    return [
        _task(repository, kind, number)
        for repository in ("apples", "pears")
        for kind in ("seeded", "release")
        for number in range(3)
    ]


@pytest.fixture
def record_of() -> Callable[..., EpisodeRecord]:
    """Makes the record of an attempt at a task; keywords replace its fields."""

    def make(task: MadeUpTask, *, resolved: bool = True, **fields: Any) -> EpisodeRecord:
        record = EpisodeRecord(
            env_id="gym_codefix/CodeRepair-Simple-v0",
            task_id=task.id,
            kind=task.kind,
            repository=task.repository,
            level=task.level,
            label=task.label,
            split=task.split,
            date=task.date,
            seed=7,
            action="lib.py:3| return left + right\n",
            reward=float(resolved),
            reward_parts={"applies": 1.0, "flipped": float(resolved)},
            resolved=resolved,
            isolation="bubblewrap",
            verdict={
                "log_sha256": hashlib.sha256(task.id.encode()).hexdigest(),
                "tests": {"passed": 9, "failed": 0 if resolved else 2},
            },
            tokens=120,
            seconds=0.25,
            cost=0.001,
        )
        return replace(record, **fields)

    return make


@pytest.fixture
def run_of(suite, record_of) -> Callable[..., list[EpisodeRecord]]:
    """Makes a full run: every third episode is unresolved."""

    def make(attempts: int = 1) -> list[EpisodeRecord]:
        return [
            record_of(task, resolved=(index + attempt) % 3 != 0, attempt=attempt)
            for attempt in range(attempts)
            for index, task in enumerate(suite)
        ]

    return make


@pytest.fixture
def result_of(suite) -> Callable[..., Result]:
    """Makes the result of records."""

    def make(records: list[EpisodeRecord], agent: str = "tester", **fields: Any) -> Result:
        options: dict[str, Any] = {
            "parameters": {"temperature": 0.7},
            "suite_name": "lite",
            "suite_hash": SUITE_HASH,
            "git_commit": "0123abc",
            "git_dirty": False,
            "lock_sha256": "a" * 64,
            "python": "3.11",
            "records_file": f"{agent}.jsonl",
            "command": f"gym-codefix bench --agent {agent}",
        }
        return aggregate(records, suite, agent=agent, **(options | fields))

    return make


@pytest.fixture
def published(tmp_path: Path, run_of, result_of) -> Path:
    """The result file of a run of two attempts, its records beside it."""
    records = run_of(attempts=2)
    write_records(records, tmp_path / "tester.jsonl")
    write_result(result_of(records), tmp_path / "tester.json")
    return tmp_path / "tester.json"
