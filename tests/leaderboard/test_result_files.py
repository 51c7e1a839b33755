from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gym_codefix.leaderboard import (
    LeaderboardError,
    read_records,
    read_result,
    schema_files,
    validate_result,
    write_records,
    write_result,
)

PUBLISHED_SCHEMAS = Path(__file__).parents[2] / "leaderboards" / "schema"


def test_a_result_read_back_is_the_one_written(tmp_path, run_of, result_of):
    result = result_of(run_of(attempts=2))
    write_result(result, tmp_path / "a.json")
    assert read_result(tmp_path / "a.json") == result
    write_result(read_result(tmp_path / "a.json"), tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    action=st.text(st.characters(codec=None, categories=None)),
    reward=st.floats(-1e6, 1e6),
    seconds=st.none() | st.floats(0, 1e6),
)
def test_records_read_back_are_the_ones_written(
    tmp_path, suite, record_of, action, reward, seconds
):
    records = [record_of(suite[0], action=action, reward=reward, seconds=seconds)]
    write_records(records, tmp_path / "r.jsonl")
    assert read_records(tmp_path / "r.jsonl") == records


def test_awkward_text_stays_on_one_ascii_line(tmp_path, suite, record_of):
    action = "\u2028\x00\r\n\u202e\ud800 é"
    write_records([record_of(suite[0], action=action)], tmp_path / "r.jsonl")
    assert (tmp_path / "r.jsonl").read_bytes().count(b"\n") == 1
    assert read_records(tmp_path / "r.jsonl")[0].action == action


def test_no_records_is_an_empty_file(tmp_path):
    write_records([], tmp_path / "r.jsonl")
    assert read_records(tmp_path / "r.jsonl") == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line.replace(b'"seed":7', b'"seed":"7"'), r"\$\.seed: '7' is not of type"),
        (lambda line: line.replace(b'"seed":7', b'"seed": 7'), "not in canonical form"),
        (lambda line: line.replace(b'"seed":7', b'"seed":7,"seed":7'), "repeated key 'seed'"),
        (lambda line: line.replace(b'"seed":7,', b""), "'seed' is a required property"),
        (lambda line: line.replace(b'"seconds":0.25', b'"seconds":NaN'), "not a JSON number"),
        (lambda line: line.replace(b'"seconds":0.25', b'"seconds":1e999'), "out of range"),
        (lambda line: line.replace(b'"seed":7', b'"seed":' + b"9" * 500), "does not fit 64 bits"),
        (lambda line: line.replace(b'"overfit":false', b'"overfit":true'), "resolved and overfit"),
        (lambda line: b"[" * 100_000, "nested too deeply|Expecting"),
        (lambda line: line[:40], "Unterminated|Expecting|delimiter"),
        (lambda line: b"\xff" + line, "codec can't decode"),
        (lambda line: b"", "Expecting value"),
    ],
)
def test_a_spoiled_line_is_named(tmp_path, run_of, change, message):
    path = tmp_path / "r.jsonl"
    write_records(run_of(), path)
    lines = path.read_bytes().split(b"\n")
    lines[2] = change(lines[2])
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(LeaderboardError, match=message) as caught:
        read_records(path)
    assert {(fault.file, fault.where) for fault in caught.value.faults} == {(str(path), "line 3")}


def test_a_cut_off_file_is_named_at_its_last_line(tmp_path, run_of):
    path = tmp_path / "r.jsonl"
    write_records(run_of(), path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(LeaderboardError, match="line 12: does not end in a newline"):
        read_records(path)


@pytest.mark.parametrize(
    ("keys", "value", "where"),
    [
        (("status",), "proven", "$.status"),
        (("metrics", "resolved_at_1", "value"), "1", "$.metrics.resolved_at_1.value"),
        (("metrics", "by_kind", 0, "tasks"), 0, "$.metrics.by_kind[0].tasks"),
        (("counts", "invalid"), -1, "$.counts.invalid"),
        (("records", "file"), "../../etc/passwd.jsonl", "$.records.file"),
        (("schema_version",), 99, "$.schema_version"),
    ],
)
def test_a_result_that_does_not_fit_is_refused_with_its_path(
    tmp_path, run_of, result_of, keys, value, where
):
    document = result_of(run_of()).to_dict()
    inner = document
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    with pytest.raises(LeaderboardError) as caught:
        validate_result(document)
    assert [fault.where for fault in caught.value.faults] == [where]
    (tmp_path / "r.json").write_text(json.dumps(document))
    with pytest.raises(LeaderboardError, match=r"r.json: "):
        read_result(tmp_path / "r.json")


def test_an_unknown_property_is_refused(run_of, result_of):
    with pytest.raises(LeaderboardError, match="extra"):
        validate_result(result_of(run_of()).to_dict() | {"extra": 1})


def test_messages_stay_short_whatever_the_value(run_of, result_of):
    with pytest.raises(LeaderboardError) as caught:
        validate_result(result_of(run_of()).to_dict() | {"status": "x" * 10_000})
    assert len(str(caught.value)) < 400


def test_a_result_that_does_not_fit_is_not_written(tmp_path, run_of, result_of):
    with pytest.raises(LeaderboardError, match=r"\$\.agent"):
        write_result(result_of(run_of(), agent="", records_file="a.jsonl"), tmp_path / "r.json")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file_alone(tmp_path, monkeypatch, run_of):
    path = tmp_path / "r.jsonl"
    write_records(run_of(), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        write_records([], path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before


def test_the_published_schemas_are_those_in_use():
    published = {path.name: path.read_text() for path in PUBLISHED_SCHEMAS.glob("*.json")}
    assert published == dict(schema_files())
    for text in published.values():
        Draft202012Validator.check_schema(json.loads(text))
