from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from gym_codefix.leaderboard import (
    EpisodeRecord,
    read_records,
    read_result,
    verify,
    write_records,
    write_result,
)

SUITE_HASH = "sha256:" + "5" * 64


@pytest.fixture
def check(published, suite) -> Callable:
    """Verifies the published result against the episodes as they truly were."""
    truth = {
        (record.task_id, record.attempt): replace(record, tokens=None, seconds=99.0, cost=None)
        for record in read_records(published.with_suffix(".jsonl"))
    }

    def run(**options):
        options = {
            "replay": lambda record: truth[record.task_id, record.attempt],
            "suite_tasks": suite,
            "suite_hash": SUITE_HASH,
            "python": "3.11",
        } | options
        return verify(published, **options)

    return run


def rewrite(published, change, result_of=None):
    """Change the records file; with ``result_of``, the result is forged to fit."""
    path = published.with_suffix(".jsonl")
    records = change(read_records(path))
    write_records(records, path)
    if result_of is not None:
        write_result(result_of(records), published)


def raise_reward(records: list[EpisodeRecord]) -> list[EpisodeRecord]:
    records[3] = replace(records[3], reward=1.0, resolved=True)
    return records


def test_an_honest_file_is_accepted_whatever_was_spent(check):
    steps = []
    report = check(progress=lambda done, total: steps.append((done, total)))
    assert report.ok
    assert report.warnings == ()
    assert report.replayed == 24
    assert steps[-1] == (24, 24)


def test_acceptance_can_be_written(check, published):
    assert check().result.status == read_result(published).status == "self-reported"
    assert check(write_status=True).result.status == "replayed"
    assert read_result(published).status == "replayed"
    assert check().ok


def test_refusal_is_never_written(check, published):
    check(write_status=True, suite_hash="other")
    assert read_result(published).status == "self-reported"


def test_one_changed_reward_is_found_at_its_line(check, published):
    rewrite(published, raise_reward)
    report = check()
    assert any(
        "tester.jsonl: line 4: " in str(fault) and "reward is 1.0" in fault.message
        for fault in report.faults
    )
    assert any(fault.where == "$.records.sha256" for fault in report.faults)


def test_one_changed_reward_is_found_though_everything_else_was_made_to_fit(
    check, published, result_of
):
    rewrite(published, raise_reward, result_of)
    faults = check().faults
    assert faults
    assert {fault.where for fault in faults} == {"line 4"}


def test_a_task_twice_is_refused_at_its_line_and_nothing_runs(check, published):
    rewrite(published, lambda records: [*records, records[0]])
    report = check(replay=lambda record: pytest.fail("replayed"))
    assert any(
        fault.where == "line 25" and "repeats line 1" in fault.message for fault in report.faults
    )


def test_an_unknown_task_is_refused_at_its_line(check, published):
    rewrite(published, lambda records: [replace(records[0], task_id="no/such"), *records[1:]])
    assert any(
        fault.where == "line 1" and "unknown task 'no/such'" in fault.message
        for fault in check().faults
    )


def test_a_left_out_task_is_refused(check, published):
    rewrite(published, lambda records: records[1:])
    assert any("is missing" in fault.message for fault in check().faults)


def test_another_suite_is_refused(check):
    (fault,) = check(suite_hash="sha256:other").faults
    assert fault.where == "$.suite.hash"
    assert fault.file.endswith("tester.json")


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("metrics", "resolved_at_1", "value"), 0.99),
        (("metrics", "resolved_at_1", "low"), 0.9),
        (("metrics", "by_repository", 1, "tasks"), 60),
        (("counts", "tampering"), 3),
        (("seeds",), [7, 8]),
        (("intervals", "resamples"), 10),
        (("metrics", "tokens", "total"), 1),
        (("records", "sha256"), "0" * 64),
    ],
)
def test_an_edited_number_is_refused_at_its_path(check, published, keys, value):
    document = inner = json.loads(published.read_text())
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    published.write_text(json.dumps(document))
    (fault,) = check().faults
    path = "$" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    assert fault.where.startswith(path)


def test_another_isolation_level_is_a_warning(check):
    report = check(replay=lambda record: replace(record, isolation="landlock"))
    assert report.ok
    assert len(report.warnings) == 24
    assert "isolation is 'bubblewrap', but its replay gives 'landlock'" in str(report.warnings[0])


def test_another_log_is_a_fault(check):
    other = {"log_sha256": "0" * 64, "tests": {}}
    report = check(replay=lambda record: replace(record, verdict=other))
    assert report.faults[0].where == "line 1"
    assert "verdict.log_sha256" in report.faults[0].message


def test_another_log_is_a_warning_under_another_python(check):
    def replay(record):
        return replace(record, verdict={**record.verdict, "log_sha256": "0" * 64})

    report = check(replay=replay, python="3.13")
    assert report.ok and len(report.warnings) == 24
    assert not check(replay=replay, python="3.11").ok


def test_a_failure_of_the_replay_itself_says_so(check):
    def replay(record):
        return replace(
            record, resolved=False, reward=0.0, reward_valid=False, failure_reason="disk full"
        )

    report = check(replay=replay)
    assert "this replay failed (disk full); verify again" in str(report.faults[0])


def test_unreadable_files_are_refused(check, published):
    published.with_suffix(".jsonl").unlink()
    (fault,) = check().faults
    assert (fault.where, "cannot be read" in fault.message) == ("$.records.file", True)
    published.write_text("{")
    (fault,) = check().faults
    assert (fault.where, "not JSON" in fault.message) == ("$", True)


def test_a_spoiled_line_is_refused_at_its_line(check, published):
    path = published.with_suffix(".jsonl")
    path.write_bytes(path.read_bytes().replace(b'"seed":7', b'"seed":null', 1))
    (fault,) = check().faults
    assert fault.where == "line 1"
    assert "$.seed" in fault.message


def test_only_gold_may_submit_a_reference(check, published, result_of):
    def borrow(records):
        return [replace(records[0], action=f"reference:{records[0].task_id}"), *records[1:]]

    rewrite(published, borrow, result_of)
    (fault,) = check(replay=lambda record: pytest.fail("replayed")).faults
    assert fault.where == "line 1"
    assert "only gold may submit a reference" in fault.message


def test_an_episode_that_failed_by_no_fault_of_the_agent_may_replay_otherwise(
    published, check, result_of
):
    def fail(records: list[EpisodeRecord]) -> list[EpisodeRecord]:
        none = {"resolved": False, "reward": 0.0, "reward_valid": False}
        records[3] = replace(records[3], **none, failure_reason="the worker was killed")
        return records

    rewrite(published, fail, result_of)
    report = check()
    assert report.ok, report.faults
    (warning,) = report.warnings
    assert "line 4" in str(warning) and "the worker was killed" in str(warning)


def test_what_is_not_valid_pays_nothing(record_of, suite):
    with pytest.raises(ValueError, match="cannot pay"):
        record_of(suite[0], resolved=False, reward=0.5, reward_valid=False, failure_reason="x")
