"""The ledger: posted entries, and the questions that one asks of them."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date

from ledgerbook.journal import Entry, Item, Posting
from ledgerbook.money import Money, sum_by_currency


class LedgerError(ValueError):
    """An entry breaks a rule of the ledger; nothing of it was posted."""


@dataclass(frozen=True)
class RegisterLine:
    """One posting to an account, and the balance after it in the posting's currency."""

    on: date
    title: str
    amount: Money
    balance: Money


@dataclass
class _Account:
    opened: date | None = None
    closed: date | None = None
    floors: dict[str, Money] = field(default_factory=dict)


def is_within(account: str, parent: str) -> bool:
    """Whether `account` is `parent` or lies below it."""
    return account == parent or account.startswith(parent + ":")


class Ledger:
    """Entries by date. With `strict`, only accounts that were opened may be used."""

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self._accounts: dict[str, _Account] = {}
        self._entries: list[Entry] = []

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries by date; those of one day in the order of posting."""
        return tuple(self._entries)

    def open_account(self, account: str, on: date) -> None:
        """Allow postings to `account` from a day on. Raises LedgerError if it is open already."""
        known = self._accounts.setdefault(account, _Account())
        if known.opened is not None and known.closed is None:
            raise LedgerError(f"{account} is open since {known.opened}")
        if known.closed is not None and on <= known.closed:
            raise LedgerError(f"{account} was closed on {known.closed} only")
        known.opened, known.closed = on, None

    def close_account(self, account: str, on: date) -> None:
        """Refuse postings to `account` after a day.

        Raises LedgerError if the account is not open, holds money, or was used later.
        """
        known = self._accounts.get(account)
        if known is None or known.opened is None or known.closed is not None:
            raise LedgerError(f"{account} is not open")
        if on < known.opened:
            raise LedgerError(f"{account} was opened on {known.opened} only")
        if any(entry.on > on for entry, _ in self._postings(account)):
            raise LedgerError(f"{account} has postings after {on}")
        if any(sum_by_currency(p.amount for _, p in self._postings(account)).values()):
            raise LedgerError(f"{account} still holds money")
        known.closed = on

    def set_floor(self, account: str, floor: Money) -> None:
        """Refuse entries that bring the latest balance of `account` below `floor`."""
        self._accounts.setdefault(account, _Account()).floors[floor.currency] = floor

    def post(self, entry: Entry) -> None:
        """Add an entry, or raise LedgerError and add nothing."""
        for currency, total in sum_by_currency(p.amount for p in entry.postings).items():
            if total:
                raise LedgerError(f"{entry.title!r} is {total} over in {currency}")
        for account in sorted({posting.account for posting in entry.postings}):
            self._check_open(account, entry.on)
            self._check_floor(account, entry)
        insort(self._entries, entry, key=lambda known: known.on)

    def post_all(self, items: Iterable[Item]) -> int:
        """Apply journal items in turn; returns how many entries were posted."""
        posted = 0
        for item in items:
            if isinstance(item, Entry):
                self.post(item)
                posted += 1
            elif item.kind == "open":
                self.open_account(item.account, item.on)
            else:
                self.close_account(item.account, item.on)
        return posted

    def reverse(self, entry: Entry, on: date) -> Entry:
        """Post and return the entry that undoes `entry`; it may not be dated before it."""
        if entry not in self._entries:
            raise LedgerError(f"{entry.title!r} was never posted")
        if on < entry.on:
            raise LedgerError("a reversal may not come before its entry")
        postings = tuple(Posting(p.account, -p.amount) for p in entry.postings)
        reversal = Entry(on, f"Reversal of {entry.title}", postings)
        self.post(reversal)
        return reversal

    def accounts(self) -> list[str]:
        """Every account that was opened or posted to, in alphabetical order."""
        used = {posting.account for entry in self._entries for posting in entry.postings}
        return sorted(used | {name for name, known in self._accounts.items() if known.opened})

    def balance(
        self, account: str, *, until: date | None = None, cleared: bool = False
    ) -> dict[str, Money]:
        """Totals by currency of an account and all below it, up to and including a day.

        `cleared` leaves pending entries out.
        """
        return sum_by_currency(
            posting.amount
            for entry, posting in self._postings(account, below=True)
            if (until is None or entry.on <= until) and not (cleared and entry.pending)
        )

    def register(self, account: str, *, since: date | None = None) -> list[RegisterLine]:
        """The postings to an account and those below it from a day on, each with its balance."""
        running: dict[str, Money] = {}
        lines: list[RegisterLine] = []
        for entry, posting in self._postings(account, below=True):
            amount = posting.amount
            balance = running.get(amount.currency, Money.zero(amount.currency)) + amount
            running[amount.currency] = balance
            if since is None or entry.on >= since:
                lines.append(RegisterLine(entry.on, entry.title, amount, balance))
        return lines

    def _postings(self, account: str, *, below: bool = False) -> Iterator[tuple[Entry, Posting]]:
        for entry in self._entries:
            for posting in entry.postings:
                if posting.account == account or (below and is_within(posting.account, account)):
                    yield entry, posting

    def _check_open(self, account: str, on: date) -> None:
        known = self._accounts.get(account)
        if known is None or known.opened is None:
            if self._strict:
                raise LedgerError(f"{account} was never opened")
            return
        if on < known.opened:
            raise LedgerError(f"{account} opens on {known.opened} only")
        if known.closed is not None and on > known.closed:
            raise LedgerError(f"{account} was closed on {known.closed}")

    def _check_floor(self, account: str, entry: Entry) -> None:
        known = self._accounts.get(account)
        if known is None:
            return
        for currency, floor in known.floors.items():
            held = [posting for _, posting in self._postings(account)]
            held += [posting for posting in entry.postings if posting.account == account]
            totals = sum_by_currency(posting.amount for posting in held)
            after = totals.get(currency, Money.zero(currency))
            if after < floor:
                raise LedgerError(f"{account} would fall to {after}, below {floor}")
