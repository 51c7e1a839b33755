from __future__ import annotations

from dataclasses import replace

import pytest

from gym_codefix.leaderboard import LeaderboardError, aggregate, records_bytes
from gym_codefix.leaderboard._json import sha256_hex


def test_rates_and_counts_of_a_run(run_of, result_of):
    records = run_of()
    result = result_of(records)
    assert result.counts.tasks == result.counts.episodes == 12
    assert result.counts.resolved == 8
    assert result.metrics.resolved_at_1.value == pytest.approx(8 / 12, abs=1e-6)
    assert result.metrics.resolved_at_1.low < 8 / 12 < result.metrics.resolved_at_1.high
    assert [each.k for each in result.metrics.pass_at_k] == [1]
    assert result.seeds == (7,)
    assert result.isolation == ("bubblewrap",)
    assert result.environments[0].version == 0
    assert result.records.sha256 == sha256_hex(records_bytes(records))


def test_attempts_give_pass_at_k_up_to_n(run_of, result_of):
    metrics = result_of(run_of(attempts=3)).metrics
    assert [(each.k, each.n) for each in metrics.pass_at_k] == [(1, 3), (2, 3), (3, 3)]
    assert metrics.resolved_at_1.value == pytest.approx(2 / 3, abs=1e-6)
    assert metrics.pass_at_k[2].value == 1.0
    assert metrics.reward_max_at_k[2].value == 1.0


def test_an_invalid_episode_is_unresolved_in_the_rate_and_counted_apart(run_of, result_of):
    records = run_of()
    resolved = next(index for index, record in enumerate(records) if record.resolved)
    records[resolved] = replace(
        records[resolved],
        resolved=False,
        reward=0.0,
        reward_valid=False,
        failure_reason="disk full",
    )
    result = result_of(records)
    assert result.counts.invalid == 1
    assert result.metrics.resolved_at_1.value == pytest.approx(7 / 12, abs=1e-6)


def test_groups_cover_kind_repository_level_and_release_year(run_of, result_of):
    metrics = result_of(run_of()).metrics
    assert [(g.name, g.tasks) for g in metrics.by_kind] == [("release", 6), ("seeded", 6)]
    assert [g.name for g in metrics.by_repository] == ["apples", "pears"]
    assert [g.name for g in metrics.by_level] == [
        "release feature",
        "release fix",
        "seeded level 1",
        "seeded level 2",
        "seeded level 3",
    ]
    assert [g.name for g in metrics.by_release_year] == ["2021", "2022", "2023"]
    whole = sum(g.tasks * g.resolved_at_1.value for g in metrics.by_kind)
    assert whole == pytest.approx(8, abs=1e-4)


def test_a_perfect_run_still_has_an_interval(suite, record_of, result_of):
    estimate = result_of([record_of(task) for task in suite]).metrics.resolved_at_1
    assert estimate.value == estimate.high == 1.0
    assert 0.7 < estimate.low < 0.8


def test_what_was_not_measured_is_not_summed(run_of, result_of):
    records = [replace(record, tokens=None) for record in run_of()]
    metrics = result_of(records).metrics
    assert metrics.tokens.total is None
    assert metrics.seconds.total == pytest.approx(3.0)
    assert metrics.seconds.mean == pytest.approx(0.25)


def test_an_unknown_task_is_an_error_with_its_line(run_of, result_of):
    records = run_of()
    records[4] = replace(records[4], task_id="apples/seeded/ffffffffffff")
    with pytest.raises(LeaderboardError, match=r"tester\.jsonl: line 5: unknown task"):
        result_of(records)


def test_a_repeated_attempt_is_an_error_with_both_lines(run_of, result_of):
    records = run_of()
    with pytest.raises(LeaderboardError, match=r"line 13: attempt 0 at .* repeats line 3"):
        result_of([*records, records[2]])


def test_a_missing_attempt_is_an_error_with_the_task(run_of, result_of):
    records = run_of(attempts=2)
    gone = records.pop(15)
    with pytest.raises(LeaderboardError, match=f"attempt 1 at '{gone.task_id}' is missing"):
        result_of(records)


def test_an_absurd_attempt_number_does_not_list_every_missing_one(run_of, result_of):
    records = run_of()
    records[0] = replace(records[0], attempt=10**12)
    with pytest.raises(LeaderboardError, match="is missing") as caught:
        result_of(records)
    assert len(caught.value.faults) == 1


def test_facts_that_are_not_the_tasks_are_an_error(run_of, result_of):
    records = run_of()
    records[1] = replace(records[1], split="train")
    with pytest.raises(LeaderboardError, match="line 2: split is 'train', but 'test'"):
        result_of(records)


@pytest.mark.parametrize("tasks", ["none", "twice"])
def test_a_suite_needs_tasks_each_once(tasks, suite, result_of):
    wrong = [] if tasks == "none" else [suite[0], suite[0]]
    with pytest.raises(ValueError, match="at least one task, and each only once"):
        aggregate(
            [],
            wrong,
            agent="x",
            parameters={},
            suite_name="s",
            suite_hash="h",
            git_commit=None,
            git_dirty=False,
            lock_sha256="0" * 64,
            python="3.11",
            records_file="x.jsonl",
            command="c",
        )


def test_an_environment_id_needs_its_version(run_of, result_of):
    records = [replace(record, env_id="gym_codefix/CodeRepair-Simple") for record in run_of()]
    with pytest.raises(ValueError, match="does not end in -v<number>"):
        result_of(records)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"overfit": True}, "both resolved and overfit"),
        ({"tampering": True}, "both resolved and tampering"),
        ({"reward_valid": False, "failure_reason": "disk"}, "its reward is not valid"),
        ({"resolved": False, "reward_valid": False}, "needs a failure_reason"),
        ({"attempt": -1}, "count from 0"),
    ],
)
def test_contradictions_in_a_record_are_refused(suite, record_of, fields, message):
    with pytest.raises(ValueError, match=message):
        replace(record_of(suite[0]), **fields)
