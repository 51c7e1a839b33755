from __future__ import annotations

import pytest

from ledgerbook import Ledger, parse_journal

HOUSEHOLD = """
# A small household.
2024-01-31 Salary
    assets:bank           2,500.00 EUR
    income:salary

2024-02-03 * Supermarket   ; weekly
    expenses:food           84.35 EUR
    assets:bank

2024-02-10 ! Train to Basel
    expenses:travel         61.00 CHF
    liabilities:card       -61.00 CHF

2024-04-01 Rent
    expenses:home:rent     900.00 EUR
    assets:bank           -900.00 EUR
"""


@pytest.fixture
def household() -> Ledger:
    ledger = Ledger()
    ledger.post_all(parse_journal(HOUSEHOLD))
    return ledger
