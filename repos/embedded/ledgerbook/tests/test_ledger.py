from __future__ import annotations

from datetime import date

import pytest

from ledgerbook import Entry, Ledger, LedgerError, Money, Posting


def transfer(on: date, source: str, target: str, minor: int, title: str = "Transfer") -> Entry:
    amount = Money(minor, "EUR")
    return Entry(on, title, (Posting(target, amount), Posting(source, -amount)))


def test_balance_includes_accounts_below(household: Ledger) -> None:
    assert household.balance("expenses") == {
        "CHF": Money(6100, "CHF"),
        "EUR": Money(98435, "EUR"),
    }
    assert household.balance("expenses:home")["EUR"] == Money(90000, "EUR")


def test_balance_does_not_match_by_prefix_alone() -> None:
    ledger = Ledger()
    ledger.post(transfer(date(2024, 1, 1), "cash", "cashbox", 100))
    assert ledger.balance("cash")["EUR"] == Money(-100, "EUR")


def test_balance_until_is_inclusive(household: Ledger) -> None:
    assert household.balance("assets", until=date(2024, 2, 3))["EUR"] == Money(241565, "EUR")
    assert household.balance("assets", until=date(2024, 2, 2))["EUR"] == Money(250000, "EUR")


def test_cleared_balance_leaves_pending_out(household: Ledger) -> None:
    assert "CHF" not in household.balance("expenses", cleared=True)


def test_entries_are_kept_by_date() -> None:
    ledger = Ledger()
    for day, title in [(3, "c"), (1, "a"), (3, "d"), (2, "b")]:
        ledger.post(transfer(date(2024, 1, day), "x", "y", 1, title))
    assert [entry.title for entry in ledger.entries] == ["a", "b", "c", "d"]


def test_register_has_running_balances(household: Ledger) -> None:
    lines = household.register("assets:bank", since=date(2024, 2, 1))
    assert [(line.amount.minor, line.balance.minor) for line in lines] == [
        (-8435, 241565),
        (-90000, 151565),
    ]


def test_unbalanced_entry_is_refused() -> None:
    ledger = Ledger()
    entry = Entry(date(2024, 1, 1), "Odd", (Posting("a", Money(1, "EUR")),))
    with pytest.raises(LedgerError, match="over in EUR"):
        ledger.post(entry)
    assert ledger.entries == ()


def test_strict_ledger_wants_open_accounts() -> None:
    ledger = Ledger(strict=True)
    ledger.open_account("a", date(2024, 1, 1))
    with pytest.raises(LedgerError, match="b was never opened"):
        ledger.post(transfer(date(2024, 1, 1), "a", "b", 1))


def test_posting_outside_the_open_days() -> None:
    ledger = Ledger()
    ledger.open_account("a", date(2024, 1, 10))
    with pytest.raises(LedgerError, match="opens on 2024-01-10"):
        ledger.post(transfer(date(2024, 1, 9), "a", "b", 1))
    ledger.close_account("a", date(2024, 2, 1))
    ledger.post(Entry(date(2024, 2, 1), "Empty", (Posting("a", Money(0, "EUR")),)))
    with pytest.raises(LedgerError, match="was closed"):
        ledger.post(transfer(date(2024, 2, 2), "a", "b", 1))


def test_close_refuses_an_account_with_money() -> None:
    ledger = Ledger()
    ledger.open_account("a", date(2024, 1, 1))
    ledger.post(transfer(date(2024, 1, 2), "b", "a", 1))
    with pytest.raises(LedgerError, match="holds money"):
        ledger.close_account("a", date(2024, 1, 3))


def test_open_twice() -> None:
    ledger = Ledger()
    ledger.open_account("a", date(2024, 1, 1))
    with pytest.raises(LedgerError, match="open since 2024-01-01"):
        ledger.open_account("a", date(2024, 1, 5))


def test_floor() -> None:
    ledger = Ledger()
    ledger.set_floor("bank", Money(-100, "EUR"))
    ledger.post(transfer(date(2024, 1, 1), "bank", "shop", 100))
    with pytest.raises(LedgerError, match=r"bank would fall to -1\.01 EUR"):
        ledger.post(transfer(date(2024, 1, 2), "bank", "shop", 1))
    assert len(ledger.entries) == 1


def test_reverse(household: Ledger) -> None:
    rent = household.entries[-1]
    reversal = household.reverse(rent, date(2024, 4, 2))
    assert reversal.title == "Reversal of Rent"
    assert household.balance("expenses:home:rent")["EUR"] == Money.zero("EUR")
    with pytest.raises(LedgerError, match="before its entry"):
        household.reverse(rent, date(2024, 3, 1))
