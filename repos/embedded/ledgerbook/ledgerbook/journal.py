"""The journal: entries in plain text, and the parser that reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from ledgerbook.money import Money, MoneyError, sum_by_currency

_ACCOUNT = re.compile(r"[a-z][a-z0-9-]*(?::[a-z0-9][a-z0-9-]*)*")
_HEADER = re.compile(r"(?P<date>\d{4}-\d{2}-\d{2})\s+(?:(?P<flag>[!*])\s+)?(?P<title>.*\S)")
_COLUMN_GAP = re.compile(r"\s{2,}|\t")


class JournalError(ValueError):
    """The journal cannot be read; `line` is where, counted from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


@dataclass(frozen=True)
class Posting:
    account: str
    amount: Money


@dataclass(frozen=True)
class Entry:
    """A transaction whose postings add up to zero in each currency."""

    on: date
    title: str
    postings: tuple[Posting, ...]
    pending: bool = False


@dataclass(frozen=True)
class AccountEvent:
    """An account is opened or closed on a day."""

    on: date
    account: str
    kind: str


Item = Entry | AccountEvent


def parse_journal(text: str) -> list[Item]:
    """Read the items of a journal, in the order of the text.

    Raises JournalError with the line at fault. `include` needs a folder: use load_journal.
    """
    items: list[Item] = []
    for number, block in _blocks(text):
        if block[0].startswith("include "):
            raise JournalError(number, "include works in files only")
        items.append(_parse_block(number, block))
    return items


def load_journal(path: Path) -> list[Item]:
    """Read a journal file and what it includes, each item at its place.

    Raises JournalError for a file that cannot be found or that includes itself.
    """
    return _load(path.resolve(), ())


def _load(path: Path, parents: tuple[Path, ...]) -> list[Item]:
    items: list[Item] = []
    for number, block in _blocks(path.read_text(encoding="utf-8")):
        if not block[0].startswith("include "):
            items.append(_parse_block(number, block))
            continue
        target = (path.parent / block[0].removeprefix("include ").strip()).resolve()
        if target == path or target in parents:
            raise JournalError(number, f"{target.name} includes itself")
        if not target.is_file():
            raise JournalError(number, f"no such file: {target.name}")
        items.extend(_load(target, (*parents, path)))
    return items


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Group each line that starts in the first column with the indented lines below it."""
    start, block = 0, list[str]()
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.split(";", 1)[0].rstrip()
        if not line or line.startswith("#"):
            continue
        if line[0].isspace():
            if not block:
                raise JournalError(number, "a posting without an entry")
            block.append(line.strip())
            continue
        if block:
            yield start, block
        start, block = number, [line]
    if block:
        yield start, block


def _parse_block(number: int, block: list[str]) -> Item:
    head, *lines = block
    word, _, rest = head.partition(" ")
    if word in ("open", "close"):
        if lines:
            raise JournalError(number, f"{word} takes no postings")
        account, _, day = rest.strip().partition(" ")
        return AccountEvent(_date(number, day.strip()), _account(number, account), word)
    header = _HEADER.fullmatch(head)
    if header is None:
        raise JournalError(number, f"expected a date and a title: {head!r}")
    postings = _parse_postings(number, lines)
    on = _date(number, header["date"])
    return Entry(on, header["title"], postings, pending=header["flag"] == "!")


def _parse_postings(number: int, lines: list[str]) -> tuple[Posting, ...]:
    """Read the postings of the entry at line `number`, and fill in the amount left out."""
    if len(lines) < 2:
        raise JournalError(number, "an entry needs at least two postings")
    given: list[tuple[str, Money | None]] = []
    for line in lines:
        name, *columns = _COLUMN_GAP.split(line, maxsplit=1)
        try:
            given.append((_account(number, name), Money.parse(columns[0]) if columns else None))
        except MoneyError as error:
            raise JournalError(number, str(error)) from error
    totals = sum_by_currency(amount for _, amount in given if amount is not None)
    unbalanced = [total for total in totals.values() if total]
    missing = sum(amount is None for _, amount in given)
    if missing > 1:
        raise JournalError(number, "only one posting may leave its amount out")
    if not missing:
        if unbalanced:
            raise JournalError(number, f"does not balance: {', '.join(map(str, unbalanced))} over")
        return tuple(Posting(account, amount) for account, amount in given if amount is not None)
    postings: list[Posting] = []
    for account, amount in given:
        if amount is not None:
            postings.append(Posting(account, amount))
        else:
            postings.extend(Posting(account, -total) for total in unbalanced)
    return tuple(postings)


def _account(number: int, name: str) -> str:
    if _ACCOUNT.fullmatch(name) is None:
        raise JournalError(number, f"not an account name: {name!r}")
    return name


def _date(number: int, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise JournalError(number, f"not a date: {text!r}") from None
