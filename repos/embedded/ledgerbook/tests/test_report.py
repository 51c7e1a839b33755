from __future__ import annotations

from datetime import date

import pytest

from ledgerbook import Ledger, Money, render_balances, render_register
from ledgerbook.report import monthly_totals, shorten


def test_balances(household: Ledger) -> None:
    assert render_balances(household).splitlines() == [
        "assets                1,515.65 EUR",
        "  bank                1,515.65 EUR",
        "expenses     61.00 CHF, 984.35 EUR",
        "  food                   84.35 EUR",
        "  home                  900.00 EUR",
        "    rent                900.00 EUR",
        "  travel                 61.00 CHF",
        "income               -2,500.00 EUR",
        "  salary             -2,500.00 EUR",
        "liabilities             -61.00 CHF",
        "  card                  -61.00 CHF",
    ]


def test_balances_to_a_depth(household: Ledger) -> None:
    labels = [line.split()[0] for line in render_balances(household, depth=1).splitlines()]
    assert labels == ["assets", "expenses", "income", "liabilities"]


def test_depth_must_be_positive(household: Ledger) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        render_balances(household, depth=0)


def test_register(household: Ledger) -> None:
    text = render_register(household, "assets", since=date(2024, 2, 1), width=8)
    assert text.splitlines() == [
        "2024-02-03  Superma…   -84.35 EUR  2,415.65 EUR",
        "2024-04-01  Rent      -900.00 EUR  1,515.65 EUR",
    ]


def test_monthly_totals_fill_empty_months(household: Ledger) -> None:
    totals = monthly_totals(household, "expenses", "EUR")
    assert totals == {
        "2024-02": Money(8435, "EUR"),
        "2024-03": Money.zero("EUR"),
        "2024-04": Money(90000, "EUR"),
    }


@pytest.mark.parametrize(
    ("text", "short"), [("abcd", "abcd"), ("abcde", "abc…"), ("ab cdef", "ab…")]
)
def test_shorten(text: str, short: str) -> None:
    assert shorten(text, 4) == short
