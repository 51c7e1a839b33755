from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from gym_codefix.leaderboard import render_columns, render_table
from gym_codefix.leaderboard._ranking import (
    amount,
    boards,
    dollars,
    duration,
    percent,
    ranked,
    short_hash,
    side_by_side,
)


@pytest.fixture
def board(suite, record_of, result_of):
    """Three agents of which two share a rate, and gold."""
    shares = {"gold": 12, "b": 6, "a": 6, "c[red]": 3}
    results = []
    for agent, resolved in shares.items():
        records = [record_of(task, resolved=i < resolved) for i, task in enumerate(suite)]
        results.append(result_of(records, agent=agent, records_file="r.jsonl"))
    return results


def test_equal_rates_share_a_rank_and_references_have_none(board):
    assert [(rank, result.agent) for rank, result in ranked(board[::-1])] == [
        (None, "gold"),
        (1, "a"),
        (1, "b"),
        (3, "c[red]"),
    ]


def printed(results, width: int) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(render_table(results))
    return console.export_text()


@pytest.mark.parametrize("width", [80, 200])
def test_the_terminal_table_shows_intervals_references_and_raw_names(board, width):
    text = printed(board, width)
    for result in board:
        low, high = result.metrics.resolved_at_1.low, result.metrics.resolved_at_1.high
        assert f"{low * 100:.1f}–{high * 100:.1f}" in text
        assert result.agent in text
        assert result.status in text
    assert next(line for line in text.splitlines() if "gold" in line).split()[0] == "ref"


def test_episodes_set_apart_are_counted_in_the_terminal_table(board):
    counts = replace(board[1].counts, overfit=2, refused=1)
    row = next(
        line
        for line in printed([replace(board[1], counts=counts)], 120).splitlines()
        if "50.0%" in line
    )
    assert row.split()[4] == "3"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (percent(0.41666), "41.7%"),
        (amount(None), "–"),
        (amount(950), "950"),
        (amount(12_345), "12.3k"),
        (amount(4_500_000), "4.5M"),
        (duration(0.42), "0.42 s"),
        (duration(38.2), "38 s"),
        (duration(210), "3.5 min"),
        (duration(None), "–"),
        (dollars(0.0), "$0.00"),
        (dollars(0.0123), "$0.0123"),
        (dollars(None), "–"),
        (short_hash("sha256:0123456789"), "01234567"),
    ],
)
def test_numbers_are_short(shown, expected):
    assert shown == expected


@pytest.fixture
def loop_of(suite, record_of, result_of):
    """Makes the row of an agent in the loop that resolves so many tasks."""

    def make(agent: str, resolved: int):
        records = [
            record_of(
                task,
                resolved=i < resolved,
                env_id="gym_codefix/CodeRepair-Full-v0",
                verdict={"log_sha256": None, "tests": {}, "steps": 4 + i % 2, "builds": 2},
            )
            for i, task in enumerate(suite)
        ]
        return result_of(records, agent=agent, records_file="l.jsonl")

    return make


def test_environments_are_ranked_apart_and_shown_side_by_side(board, loop_of):
    results = [*board, loop_of("gold", 12), loop_of("a", 3), loop_of("looper", 9)]
    assert [(name, len(rows)) for (_, name), rows in boards(results).items()] == [
        ("CodeRepair-Simple-v0", 4),
        ("CodeRepair-Full-v0", 3),
    ]
    ((_, environments, lines),) = side_by_side(results)
    assert environments == ["CodeRepair-Simple-v0", "CodeRepair-Full-v0"]
    shares = {
        agent: [None if row is None else row.metrics.resolved_at_1.value for row in rows]
        for agent, rows in lines
    }
    assert list(shares.items()) == [
        ("gold", [1.0, 1.0]),
        ("looper", [None, 0.75]),
        ("a", [0.5, 0.25]),
        ("b", [0.5, None]),
        ("c[red]", [0.25, None]),
    ]
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(*render_columns(results))
    text = console.export_text()
    assert "same tasks: lite" in text and "c[red]" in text
    assert side_by_side(board) == [] == render_columns(board)


def test_a_loop_shows_its_steps_and_builds(board, loop_of):
    text = printed([*board, loop_of("looper", 9)], 120)
    row = next(line for line in text.splitlines() if "looper" in line).split()
    assert row[4:7] == ["0", "4.5", "2.0"]
    assert "Steps" not in printed(board, 120)
