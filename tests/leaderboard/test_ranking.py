from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from gym_codefix.leaderboard import render_table
from gym_codefix.leaderboard._ranking import (
    amount,
    dollars,
    duration,
    percent,
    ranked,
    short_hash,
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
    assert row.split()[5] == "3"


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
