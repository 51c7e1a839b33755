"""Exact amounts of money, kept as whole minor units of a currency."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

EXPONENTS = {"EUR": 2, "GBP": 2, "USD": 2, "CHF": 2, "JPY": 0, "KWD": 3}

_AMOUNT = re.compile(
    r"(?P<sign>[-+]?)(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<part>\d+))?\s*(?P<currency>[A-Z]{3})"
)


class MoneyError(ValueError):
    """The amount or its currency is not valid."""


class CurrencyMismatch(MoneyError):
    """Two amounts in different currencies met in one operation."""


def exponent_of(currency: str) -> int:
    """The number of decimal places of a currency.

    Raises MoneyError for a currency that is not known.
    """
    try:
        return EXPONENTS[currency]
    except KeyError:
        known = ", ".join(sorted(EXPONENTS))
        raise MoneyError(f"unknown currency {currency!r}; known are {known}") from None


@dataclass(frozen=True)
class Money:
    """An amount of `minor` units (cents, yen, fils) of `currency`."""

    minor: int
    currency: str

    def __post_init__(self) -> None:
        exponent_of(self.currency)

    @classmethod
    def zero(cls, currency: str) -> Money:
        return cls(0, currency)

    @classmethod
    def parse(cls, text: str) -> Money:
        """Read `1,234.50 EUR`, `-3 JPY` or, as accountants write a negative, `(12.00 USD)`.

        Raises MoneyError when the text is not an amount, or has more decimals than its currency.
        """
        stripped = text.strip()
        bracketed = stripped.startswith("(") and stripped.endswith(")")
        if bracketed:
            stripped = stripped[1:-1].strip()
        match = _AMOUNT.fullmatch(stripped)
        if match is None:
            raise MoneyError(f"not an amount: {text!r}")
        if bracketed and match["sign"]:
            raise MoneyError(f"both brackets and a sign: {text!r}")
        places = exponent_of(match["currency"])
        part = match["part"] or ""
        if len(part) > places:
            raise MoneyError(f"{match['currency']} has {places} decimal places: {text!r}")
        minor = int(match["whole"].replace(",", "") + part.ljust(places, "0"))
        if bracketed or match["sign"] == "-":
            minor = -minor
        return cls(minor, match["currency"])

    def __str__(self) -> str:
        places = exponent_of(self.currency)
        sign = "-" if self.minor < 0 else ""
        whole, part = divmod(abs(self.minor), 10**places)
        decimals = f".{part:0{places}d}" if places else ""
        return f"{sign}{whole:,}{decimals} {self.currency}"

    def __bool__(self) -> bool:
        return self.minor != 0

    def __neg__(self) -> Money:
        return Money(-self.minor, self.currency)

    def __add__(self, other: Money) -> Money:
        self._check(other)
        return Money(self.minor + other.minor, self.currency)

    def __sub__(self, other: Money) -> Money:
        self._check(other)
        return Money(self.minor - other.minor, self.currency)

    def __lt__(self, other: Money) -> bool:
        self._check(other)
        return self.minor < other.minor

    def __le__(self, other: Money) -> bool:
        self._check(other)
        return self.minor <= other.minor

    def times(self, ratio: int | Fraction | str) -> Money:
        """The amount multiplied by an exact ratio, rounded half to even.

        A string is read by Fraction: `"0.19"`, `"1/3"`. Floats are refused, for they are not exact.
        """
        if isinstance(ratio, float):
            raise TypeError("a float is not an exact ratio; pass a string or a Fraction")
        return Money(round(self.minor * Fraction(ratio)), self.currency)

    def allocate(self, weights: Sequence[int]) -> list[Money]:
        """Share the amount by weights; the shares add up to the amount exactly.

        What division leaves over goes, one unit at a time, to the largest remainders, and among
        equal remainders to the first. Raises MoneyError without a positive weight, or with a
        negative one.
        """
        if any(weight < 0 for weight in weights):
            raise MoneyError("weights may not be negative")
        total = sum(weights)
        if total == 0:
            raise MoneyError("at least one weight must be positive")
        sign = -1 if self.minor < 0 else 1
        shares, remainders = [], []
        for weight in weights:
            share, remainder = divmod(abs(self.minor) * weight, total)
            shares.append(share)
            remainders.append(remainder)
        left_over = abs(self.minor) - sum(shares)
        by_remainder = sorted(range(len(weights)), key=lambda index: -remainders[index])
        for index in by_remainder[:left_over]:
            shares[index] += 1
        return [Money(sign * share, self.currency) for share in shares]

    def _check(self, other: Money) -> None:
        if self.currency != other.currency:
            raise CurrencyMismatch(f"{self.currency} and {other.currency} do not mix")


def sum_by_currency(amounts: Iterable[Money]) -> dict[str, Money]:
    """One total for each currency that occurs, in alphabetical order; zero totals are kept."""
    totals: dict[str, Money] = {}
    for amount in amounts:
        so_far = totals.get(amount.currency, Money.zero(amount.currency))
        totals[amount.currency] = so_far + amount
    return dict(sorted(totals.items()))
