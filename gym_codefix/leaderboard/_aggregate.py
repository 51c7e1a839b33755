"""Records of one run over one suite -> its leaderboard row."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from gym_codefix.leaderboard import _statistics as statistics
from gym_codefix.leaderboard._errors import Fault, LeaderboardError
from gym_codefix.leaderboard._files import records_bytes
from gym_codefix.leaderboard._json import rounded, sha256_hex
from gym_codefix.leaderboard._record import FLAGS, EpisodeRecord, SuiteTask, task_facts
from gym_codefix.leaderboard._result import (
    SCHEMA_VERSION,
    Counts,
    EnvironmentRef,
    Estimate,
    EstimateAtK,
    GitRef,
    Group,
    Intervals,
    Metrics,
    RecordsRef,
    Result,
    Spent,
    SuiteRef,
)

KS = (1, 2, 3, 5, 10, 20, 50, 100)
_METHOD = "stratified bootstrap over tasks (kind × repository); Wilson where nothing varies"


def aggregate(
    records: Sequence[EpisodeRecord],
    suite_tasks: Sequence[SuiteTask],
    *,
    agent: str,
    parameters: Mapping[str, Any],
    suite_name: str,
    suite_hash: str,
    git_commit: str | None,
    git_dirty: bool,
    lock_sha256: str,
    python: str,
    records_file: str,
    command: str,
    status: str = "self-reported",
) -> Result:
    """The row of ``records``, which must hold the same number of attempts at every suite task.

    Rates divide by every task of the suite: an invalid episode counts as not resolved there,
    and is counted apart. ``records_file`` is the bare name under which ``write_records`` will
    put the records beside the result.

    Raises:
        LeaderboardError: naming the line (from 1, the order of ``records``) of each record of an
            unknown task, with facts other than the task's, or repeated, and what is missing.
        ValueError: for a suite without tasks or with one repeated, or an environment id that
            does not end in its version.
    """
    faults = check_records(records, suite_tasks)
    if faults:
        raise LeaderboardError([fault.in_file(records_file) for fault in faults])
    return Result(
        schema_version=SCHEMA_VERSION,
        agent=agent,
        parameters=dict(parameters),
        seeds=tuple(sorted({record.seed for record in records})),
        suite=SuiteRef(suite_name, suite_hash),
        environments=tuple(
            EnvironmentRef(name, _version(name)) for name in sorted({r.env_id for r in records})
        ),
        git=GitRef(git_commit, git_dirty),
        lock_sha256=lock_sha256,
        python=python,
        isolation=tuple(sorted({record.isolation for record in records})),
        counts=_counts(records, len(suite_tasks)),
        metrics=_metrics(records, suite_tasks),
        intervals=Intervals(_METHOD, statistics.CONFIDENCE, statistics.RESAMPLES, statistics.SEED),
        status=status,
        records=RecordsRef(records_file, sha256_hex(records_bytes(records))),
        command=command,
    )


def check_records(
    records: Sequence[EpisodeRecord], suite_tasks: Sequence[SuiteTask]
) -> list[Fault]:
    """What keeps ``records`` from being one full run over the suite; empty when they are.

    Raises:
        ValueError: for a suite without tasks, or one that repeats a task.
    """
    tasks = {task.id: task for task in suite_tasks}
    if not tasks or len(tasks) != len(suite_tasks):
        raise ValueError("a suite needs at least one task, and each only once")
    faults = []
    first_line: dict[tuple[str, int], int] = {}
    for line, record in enumerate(records, 1):
        place = f"line {line}"
        if record.task_id not in tasks:
            faults.append(Fault(place, f"unknown task {record.task_id!r}: not in the suite"))
            continue
        key = (record.task_id, record.attempt)
        if key in first_line:
            repeated = f"attempt {record.attempt} at {record.task_id!r} repeats"
            faults.append(Fault(place, f"{repeated} line {first_line[key]}"))
        first_line.setdefault(key, line)
        for name, fact in task_facts(tasks[record.task_id]).items():
            if getattr(record, name) != fact:
                said = f"{name} is {getattr(record, name)!r}, but {fact!r} for"
                faults.append(Fault(place, f"{said} {record.task_id!r}"))
    attempts = 1 + max((attempt for _, attempt in first_line), default=0)
    # Counting first keeps one absurd attempt number from listing a million missing lines.
    absent = len(tasks) * attempts - len(first_line)
    if absent:
        wanted = ((task, attempt) for attempt in range(attempts) for task in tasks)
        task, attempt = next(key for key in wanted if key not in first_line)
        faults.append(
            Fault(
                f"line {len(records) + 1}",
                f"attempt {attempt} at {task!r} is missing ({absent} missing in all: every task "
                f"of the suite needs attempts 0 to {attempts - 1})",
            )
        )
    return faults


def _version(env_id: str) -> int:
    found = re.search(r"-v(\d+)$", env_id)
    if found is None:
        raise ValueError(f"environment id {env_id!r} does not end in -v<number>")
    return int(found[1])


def _counts(records: Sequence[EpisodeRecord], tasks: int) -> Counts:
    flagged = {flag: sum(getattr(record, flag) for record in records) for flag in FLAGS}
    return Counts(
        tasks=tasks,
        episodes=len(records),
        resolved=sum(record.resolved for record in records),
        invalid=sum(not record.reward_valid for record in records),
        **flagged,
    )


def _metrics(records: Sequence[EpisodeRecord], suite_tasks: Sequence[SuiteTask]) -> Metrics:
    attempts: defaultdict[str, list[EpisodeRecord]] = defaultdict(list)
    for record in records:
        attempts[record.task_id].append(record)
    episodes = [attempts[task.id] for task in suite_tasks]
    n = len(episodes[0])
    ks = [k for k in KS if k <= n]
    rewards = np.array([[record.reward for record in group] for group in episodes])
    successes = [sum(record.resolved for record in group) for group in episodes]
    # One column a metric: resolved at k, greatest reward at k, mean reward.
    columns = [[statistics.pass_at_k(n, c, k) for c in successes] for k in ks]
    columns += [[statistics.max_at_k(row, k) for row in rewards.tolist()] for k in ks]
    columns.append(rewards.mean(axis=1).tolist())
    values = np.array(columns).T
    strata = [(task.kind, task.repository) for task in suite_tasks]
    means = statistics.bootstrap_means(values, strata)
    passes = [_share(values[:, i], means[:, i]) for i in range(len(ks))]
    maxima = [_mean(values[:, len(ks) + i], means[:, len(ks) + i]) for i in range(len(ks))]
    resolved = values[:, 0]

    def by(name_of: Callable[[SuiteTask], str | None]) -> tuple[Group, ...]:
        return _groups([name_of(task) for task in suite_tasks], resolved, strata)

    return Metrics(
        resolved_at_1=passes[0],
        pass_at_k=_at_k(passes, ks, n),
        reward_mean=_mean(values[:, -1], means[:, -1]),
        reward_interquartile_mean=_interquartile(rewards, strata),
        reward_max_at_k=_at_k(maxima, ks, n),
        by_kind=by(lambda task: task.kind),
        by_repository=by(lambda task: task.repository),
        by_level=by(_level_name),
        by_release_year=by(lambda task: task.date[:4] if task.date else None),
        tokens=_spent([record.tokens for record in records]),
        seconds=_spent([record.seconds for record in records]),
        cost=_spent([record.cost for record in records]),
        steps=_spent([record.verdict.get("steps") for record in records]),
        builds=_spent([record.verdict.get("builds") for record in records]),
    )


def _level_name(task: SuiteTask) -> str | None:
    if task.level is not None:
        return f"{task.kind} level {task.level}"
    return f"{task.kind} {task.label}" if task.label else None


def _groups(
    names: Sequence[str | None], resolved: statistics.Floats, strata: Sequence[Hashable]
) -> tuple[Group, ...]:
    members: defaultdict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(names):
        if name is not None:
            members[name].append(index)
    groups = []
    for name, tasks in sorted(members.items()):
        values = resolved[tasks]
        means = statistics.bootstrap_means(values[:, None], [strata[task] for task in tasks])
        groups.append(Group(name, len(tasks), _share(values, means[:, 0])))
    return tuple(groups)


def _share(values: statistics.Floats, resampled: statistics.Floats) -> Estimate:
    value = float(values.mean())
    low, high = statistics.interval(resampled)
    if rounded(low) == rounded(high):
        # Where every task came out alike, resampling cannot see that the next one may not.
        low, high = statistics.wilson(value, len(values))
    return Estimate(rounded(value), rounded(low), rounded(high))


def _mean(values: statistics.Floats, resampled: statistics.Floats) -> Estimate:
    low, high = statistics.interval(resampled)
    return Estimate(rounded(values.mean()), rounded(low), rounded(high))


def _interquartile(rewards: statistics.Floats, strata: Sequence[Hashable]) -> Estimate:
    attempts = rewards.shape[1]
    scores = rewards.ravel()
    resampled = np.concatenate(
        [
            statistics.weighted_interquartile_means(scores, np.repeat(weights, attempts, axis=1))
            for weights in statistics.stratified_weights(strata)
        ]
    )
    low, high = statistics.interval(resampled)
    value = statistics.interquartile_mean(scores)
    return Estimate(rounded(value), rounded(low), rounded(high))


def _at_k(estimates: Sequence[Estimate], ks: Sequence[int], n: int) -> tuple[EstimateAtK, ...]:
    return tuple(
        EstimateAtK(each.value, each.low, each.high, k, n)
        for each, k in zip(estimates, ks, strict=True)
    )


def _spent(amounts: Sequence[float | None]) -> Spent:
    known = [amount for amount in amounts if amount is not None]
    if len(known) < len(amounts):
        return Spent(None, None)
    total = sum(known)
    return Spent(rounded(total), rounded(total / len(known)))
