from __future__ import annotations

from datetime import date, datetime, time

import pytest

from taskgraph import WorkCalendar

# 2024-03-01 is a Friday.
OFFICE = WorkCalendar(holidays=[date(2024, 3, 4)])


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        (date(2024, 3, 1), True),
        (date(2024, 3, 2), False),
        (date(2024, 3, 4), False),
        (date(2024, 3, 5), True),
    ],
)
def test_is_workday(day: date, expected: bool) -> None:
    assert OFFICE.is_workday(day) is expected


@pytest.mark.parametrize(
    ("start", "minutes", "end"),
    [
        (datetime(2024, 2, 29, 10), 90, datetime(2024, 2, 29, 11, 30)),
        (datetime(2024, 2, 29, 7), 30, datetime(2024, 2, 29, 9, 30)),
        (datetime(2024, 2, 29, 9), 480, datetime(2024, 2, 29, 17)),
        (datetime(2024, 2, 29, 16), 120, datetime(2024, 3, 1, 10)),
        (datetime(2024, 3, 1, 16), 61, datetime(2024, 3, 5, 9, 1)),
        (datetime(2024, 3, 2, 12), 0, datetime(2024, 3, 5, 9)),
    ],
)
def test_add(start: datetime, minutes: int, end: datetime) -> None:
    assert OFFICE.add(start, minutes) == end


def test_add_refuses_negative_work() -> None:
    with pytest.raises(ValueError, match="negative"):
        OFFICE.add(datetime(2024, 3, 1), -1)


def test_minutes_between() -> None:
    start, end = datetime(2024, 3, 1, 15), datetime(2024, 3, 5, 9, 30)
    assert OFFICE.minutes_between(start, end) == 150
    assert OFFICE.minutes_between(end, start) == -150


def test_a_calendar_needs_time() -> None:
    with pytest.raises(ValueError, match="close after it opens"):
        WorkCalendar(opens=time(9), closes=time(9))
