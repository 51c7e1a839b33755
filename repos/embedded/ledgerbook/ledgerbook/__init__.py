"""Double-entry bookkeeping in plain text."""

from __future__ import annotations

from ledgerbook.journal import (
    AccountEvent,
    Entry,
    JournalError,
    Posting,
    load_journal,
    parse_journal,
)
from ledgerbook.ledger import Ledger, LedgerError, RegisterLine
from ledgerbook.money import CurrencyMismatch, Money, MoneyError
from ledgerbook.report import render_balances, render_register

__version__ = "0.4.0"

__all__ = [
    "AccountEvent",
    "CurrencyMismatch",
    "Entry",
    "JournalError",
    "Ledger",
    "LedgerError",
    "Money",
    "MoneyError",
    "Posting",
    "RegisterLine",
    "load_journal",
    "parse_journal",
    "render_balances",
    "render_register",
]
