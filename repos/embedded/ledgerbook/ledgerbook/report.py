"""Text reports over a ledger."""

from __future__ import annotations

from datetime import date

from ledgerbook.ledger import Ledger
from ledgerbook.money import Money


def render_balances(ledger: Ledger, *, depth: int | None = None, until: date | None = None) -> str:
    """A tree of accounts with their balances, children indented below their parent.

    An account's line holds its own total and that of all below it, one amount for each currency
    that is not zero. `depth` hides accounts below that many levels. Raises ValueError for a depth
    under one.
    """
    if depth is not None and depth < 1:
        raise ValueError("depth must be at least 1")
    rows: list[tuple[str, str]] = []
    for account in _with_parents(ledger.accounts()):
        level = account.count(":")
        if depth is not None and level >= depth:
            continue
        amounts = [total for total in ledger.balance(account, until=until).values() if total]
        label = "  " * level + account.rpartition(":")[2]
        rows.append((label, ", ".join(map(str, amounts)) or "-"))
    if not rows:
        return ""
    left = max(len(label) for label, _ in rows)
    right = max(len(amount) for _, amount in rows)
    return "\n".join(f"{label:<{left}}  {amount:>{right}}" for label, amount in rows)


def render_register(
    ledger: Ledger, account: str, *, since: date | None = None, width: int = 24
) -> str:
    """One line for each posting to an account: day, title cut to `width`, amount, balance."""
    lines = ledger.register(account, since=since)
    amounts = [str(line.amount) for line in lines]
    balances = [str(line.balance) for line in lines]
    amount_width = max(map(len, amounts), default=0)
    balance_width = max(map(len, balances), default=0)
    return "\n".join(
        f"{line.on}  {shorten(line.title, width):<{width}}"
        f"  {amount:>{amount_width}}  {balance:>{balance_width}}"
        for line, amount, balance in zip(lines, amounts, balances, strict=True)
    )


def monthly_totals(ledger: Ledger, account: str, currency: str) -> dict[str, Money]:
    """What flowed into an account by month (`2024-03`), with the empty months between as zero."""
    totals: dict[str, Money] = {}
    for line in ledger.register(account):
        if line.amount.currency != currency:
            continue
        month = f"{line.on:%Y-%m}"
        for missing in _months_between(max(totals, default=month), month):
            totals.setdefault(missing, Money.zero(currency))
        totals[month] += line.amount
    return totals


def shorten(text: str, width: int) -> str:
    """Cut a text to a width, with an ellipsis for what was cut."""
    if len(text) <= width:
        return text
    return text[: width - 1].rstrip() + "…"


def _months_between(first: str, last: str) -> list[str]:
    """Every month from first to last, both included."""
    first_year, first_month = map(int, first.split("-"))
    last_year, last_month = map(int, last.split("-"))
    start = first_year * 12 + first_month - 1
    stop = last_year * 12 + last_month
    return [f"{index // 12:04d}-{index % 12 + 1:02d}" for index in range(start, stop)]


def _with_parents(accounts: list[str]) -> list[str]:
    """The accounts and all accounts above them, each parent before its children."""
    parts = {tuple(account.split(":")) for account in accounts}
    whole = {part[:end] for part in parts for end in range(1, len(part) + 1)}
    return [":".join(part) for part in sorted(whole)]
