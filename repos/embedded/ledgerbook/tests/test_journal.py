from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from ledgerbook import (
    AccountEvent,
    Entry,
    JournalError,
    Money,
    Posting,
    load_journal,
    parse_journal,
)


def test_entry_with_amount_left_out() -> None:
    (entry,) = parse_journal("2024-03-01 Lunch\n  expenses:food  9.50 EUR\n  assets:cash\n")
    assert entry == Entry(
        date(2024, 3, 1),
        "Lunch",
        (
            Posting("expenses:food", Money(950, "EUR")),
            Posting("assets:cash", Money(-950, "EUR")),
        ),
    )


def test_amount_left_out_covers_each_currency() -> None:
    (entry,) = parse_journal("2024-03-01 Trip\n  a  1 EUR\n  b  2 USD\n  c\n")
    assert isinstance(entry, Entry)
    assert [str(p.amount) for p in entry.postings if p.account == "c"] == ["-1.00 EUR", "-2.00 USD"]


@pytest.mark.parametrize(("flag", "pending"), [("! ", True), ("* ", False), ("", False)])
def test_flag(flag: str, pending: bool) -> None:
    (entry,) = parse_journal(f"2024-03-01 {flag}Lunch\n  a  1 EUR\n  b\n")
    assert isinstance(entry, Entry)
    assert (entry.title, entry.pending) == ("Lunch", pending)


def test_open_and_close() -> None:
    items = parse_journal("open assets:cash 2024-01-01\nclose assets:cash 2024-12-31\n")
    assert items == [
        AccountEvent(date(2024, 1, 1), "assets:cash", "open"),
        AccountEvent(date(2024, 12, 31), "assets:cash", "close"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("  a  1 EUR", 1, "without an entry"),
        ("\n2024-03-01 Lunch\n  a  1 EUR", 2, "two postings"),
        ("2024-13-01 Lunch\n  a  1 EUR\n  b", 1, "not a date"),
        ("# note\nLunch\n  a  1 EUR\n  b", 2, "expected a date"),
        ("2024-03-01 Lunch\n  a  1 EUR\n  b  -2 EUR", 1, "-1.00 EUR over"),
        ("2024-03-01 Lunch\n  a  1 EUR\n  b\n  c", 1, "only one posting"),
        ("2024-03-01 Lunch\n  a  1 XYZ\n  b", 1, "unknown currency"),
        ("include other.journal", 1, "files only"),
    ],
)
def test_errors_name_the_line(text: str, line: int, message: str) -> None:
    with pytest.raises(JournalError, match=message) as caught:
        parse_journal(text)
    assert caught.value.line == line


def test_include_keeps_the_order(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "main.journal").write_text(
        "2024-01-01 First\n  a  1 EUR\n  b\ninclude sub/more.journal\n"
        "2024-01-03 Third\n  a  1 EUR\n  b\n"
    )
    (tmp_path / "sub" / "more.journal").write_text("2024-01-02 Second\n  a  1 EUR\n  b\n")
    items = load_journal(tmp_path / "main.journal")
    assert [item.title for item in items if isinstance(item, Entry)] == ["First", "Second", "Third"]


def test_include_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "one.journal").write_text("include two.journal\n")
    (tmp_path / "two.journal").write_text("\ninclude one.journal\n")
    with pytest.raises(JournalError, match=r"line 2: one\.journal includes itself"):
        load_journal(tmp_path / "one.journal")
