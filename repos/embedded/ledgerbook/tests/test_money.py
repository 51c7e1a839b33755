from __future__ import annotations

from fractions import Fraction

import pytest

from ledgerbook import CurrencyMismatch, Money, MoneyError
from ledgerbook.money import sum_by_currency


@pytest.mark.parametrize(
    ("text", "minor", "currency"),
    [
        ("12.34 EUR", 1234, "EUR"),
        ("12.5 EUR", 1250, "EUR"),
        ("1,234,567.00 USD", 123456700, "USD"),
        ("-3 JPY", -3, "JPY"),
        ("+7 JPY", 7, "JPY"),
        ("(12.00 USD)", -1200, "USD"),
        ("0.005 KWD", 5, "KWD"),
        ("  4CHF ", 400, "CHF"),
    ],
)
def test_parse(text: str, minor: int, currency: str) -> None:
    assert Money.parse(text) == Money(minor, currency)


@pytest.mark.parametrize(
    "text", ["", "EUR", "12,34 EUR", "1.234 EUR", "1.5 JPY", "1 eur", "(-1 EUR)"]
)
def test_parse_refuses(text: str) -> None:
    with pytest.raises(MoneyError):
        Money.parse(text)


def test_unknown_currency_names_the_known() -> None:
    with pytest.raises(MoneyError, match="known are CHF, EUR"):
        Money(1, "XXX")


@pytest.mark.parametrize(
    ("money", "text"),
    [
        (Money(123456789, "EUR"), "1,234,567.89 EUR"),
        (Money(-5, "USD"), "-0.05 USD"),
        (Money(1500, "JPY"), "1,500 JPY"),
        (Money(1, "KWD"), "0.001 KWD"),
    ],
)
def test_str(money: Money, text: str) -> None:
    assert str(money) == text


def test_arithmetic() -> None:
    assert Money(5, "EUR") + Money(7, "EUR") == Money(12, "EUR")
    assert Money(5, "EUR") - Money(7, "EUR") == Money(-2, "EUR")
    assert -Money(5, "EUR") == Money(-5, "EUR")


def test_order() -> None:
    assert Money(1, "EUR") < Money(2, "EUR")
    assert not Money(2, "EUR") < Money(2, "EUR")


def test_currencies_do_not_mix() -> None:
    with pytest.raises(CurrencyMismatch):
        Money(1, "EUR") + Money(1, "USD")
    with pytest.raises(CurrencyMismatch):
        sorted([Money(1, "EUR"), Money(1, "USD")])


@pytest.mark.parametrize(
    ("minor", "ratio", "product"),
    [(1000, "0.19", 190), (5, "1/2", 2), (15, "1/2", 8), (-7, 3, -21), (10, Fraction(1, 3), 3)],
)
def test_times_rounds_half_to_even(minor: int, ratio: int | str | Fraction, product: int) -> None:
    assert Money(minor, "EUR").times(ratio) == Money(product, "EUR")


def test_times_refuses_floats() -> None:
    with pytest.raises(TypeError):
        Money(1, "EUR").times(0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("minor", "weights", "shares"),
    [
        (100, [1, 1, 1], [34, 33, 33]),
        (100, [1, 1], [50, 50]),
        (10, [1, 2, 3], [2, 3, 5]),
        (5, [0, 1], [0, 5]),
        (-100, [1, 1, 1], [-34, -33, -33]),
    ],
)
def test_allocate(minor: int, weights: list[int], shares: list[int]) -> None:
    assert [share.minor for share in Money(minor, "EUR").allocate(weights)] == shares


def test_allocate_refuses_zero_weights() -> None:
    with pytest.raises(MoneyError, match="positive"):
        Money(1, "EUR").allocate([0, 0])


def test_sum_by_currency() -> None:
    totals = sum_by_currency([Money(1, "USD"), Money(2, "EUR"), Money(-1, "USD")])
    assert list(totals) == ["EUR", "USD"]
    assert totals["USD"] == Money.zero("USD")
