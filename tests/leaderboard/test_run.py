"""A real board on a few embedded tasks: rows, replay, and tampering."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gym_codefix.agents import make_agent
from gym_codefix.catalog import Suite, repos_root, suite
from gym_codefix.leaderboard import (
    FULL,
    SIMPLE,
    Episodes,
    build_page,
    read_records,
    run_agent,
    verify,
)
from gym_codefix.leaderboard._run import lock_hash, row_name


@pytest.fixture(scope="module")
def small() -> Suite:
    return Suite("embedded", suite("embedded").tasks[:6])


@pytest.fixture(scope="module")
def board(small: Suite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("board")
    runs = [run_agent(small, make_agent(n), out, command="test") for n in ("noop", "gold")]
    build_page(runs, out / "index.html", title="test")
    return out


def check(board: Path, small: Suite, name: str) -> list[str]:
    report = verify(
        board / f"{name}.json",
        replay=Episodes(small).replay,
        suite_tasks=small.tasks,
        suite_hash=small.hash,
    )
    return [str(fault) for fault in report.faults]


def test_gold_resolves_everything_and_noop_nothing(board: Path, small: Suite) -> None:
    for name, resolved in (("gold", True), ("noop", False)):
        records = read_records(board / f"{name}.records.jsonl")
        assert [record.resolved for record in records] == [resolved] * len(small.tasks)


def test_no_reference_text_is_published(board: Path) -> None:
    for record in read_records(board / "gold.records.jsonl"):
        assert record.action == f"reference:{record.task_id}"


def test_a_row_survives_its_replay(board: Path, small: Suite) -> None:
    assert check(board, small, "gold") == []
    assert check(board, small, "noop") == []


def test_a_changed_reward_is_found(board: Path, small: Suite, tmp_path: Path) -> None:
    records = read_records(board / "noop.records.jsonl")
    document = json.loads(records[2].to_line()) | {"reward": 1.0, "resolved": True}
    lines = [record.to_line() for record in records]
    lines[2] = json.dumps(document, sort_keys=True, separators=(",", ":"))
    (tmp_path / "noop.records.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "noop.json").write_text((board / "noop.json").read_text())
    assert check(tmp_path, small, "noop")


def test_another_suite_is_refused(board: Path, small: Suite) -> None:
    other = Suite("embedded", small.tasks[:5])
    faults = check(board, other, "gold")
    assert any("hash" in fault for fault in faults)


def test_the_hash_of_the_locks_is_that_of_the_suite_s_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `repos add` writes beside them does not change a row."""
    shutil.copytree(repos_root(), tmp_path / "repos")
    monkeypatch.setenv("GYM_CODEFIX_REPOS", str(tmp_path / "repos"))
    locks = tmp_path / "repos" / "locks"
    before = lock_hash(["click", "ledgerbook"])
    (locks / "added.txt").write_text("added==1\n")
    (locks / "sqlparse.txt").write_text("other==1\n")
    assert lock_hash(["ledgerbook", "click"]) == before
    (locks / "click.txt").write_text("other==1\n")
    assert lock_hash(["click", "ledgerbook"]) != before


@pytest.mark.parametrize(
    ("agent", "env_id", "name"),
    [
        ("search@10", SIMPLE, "search-10"),
        ("gold", FULL, "gold-coderepair-full-v0"),
        ("org/a model", SIMPLE, "org-a-model"),
        ("../../up", SIMPLE, "up"),
        ("…", SIMPLE, "agent"),
    ],
)
def test_a_row_has_a_file_name_of_its_own(agent: str, env_id: str, name: str) -> None:
    assert row_name(agent, env_id) == name
