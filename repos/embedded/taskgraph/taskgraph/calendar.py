"""Working time: what a number of minutes of work is on the calendar."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta

ONE_DAY = timedelta(days=1)


class WorkCalendar:
    """Days of work from `opens` to `closes`, on some weekdays (0 is Monday), less the holidays.

    Raises ValueError if no day has any time to work in.
    """

    def __init__(
        self,
        *,
        opens: time = time(9),
        closes: time = time(17),
        weekdays: Iterable[int] = range(5),
        holidays: Iterable[date] = (),
    ) -> None:
        self._opens, self._closes = opens, closes
        self._weekdays = frozenset(weekdays)
        self._holidays = frozenset(holidays)
        if opens >= closes:
            raise ValueError("a day must close after it opens")
        if not self._weekdays or not self._weekdays <= set(range(7)):
            raise ValueError("weekdays are some of 0 (Monday) to 6 (Sunday)")

    def is_workday(self, day: date) -> bool:
        return day.weekday() in self._weekdays and day not in self._holidays

    def next_moment(self, moment: datetime) -> datetime:
        """The first moment at which work can go on: this one, or the next opening."""
        day = moment.date()
        if self.is_workday(day):
            if moment.time() < self._opens:
                return datetime.combine(day, self._opens)
            if moment.time() < self._closes:
                return moment
        day += ONE_DAY
        while not self.is_workday(day):
            day += ONE_DAY
        return datetime.combine(day, self._opens)

    def add(self, start: datetime, minutes: int) -> datetime:
        """When work begun at `start` is done. Work that fills a day ends when the day closes."""
        if minutes < 0:
            raise ValueError("work may not be negative")
        moment = self.next_moment(start)
        left = timedelta(minutes=minutes)
        while left:
            until_close = datetime.combine(moment.date(), self._closes) - moment
            if left <= until_close:
                return moment + left
            left -= until_close
            moment = self.next_moment(moment + until_close)
        return moment

    def minutes_between(self, start: datetime, end: datetime) -> int:
        """The whole minutes of work from one moment to another; negative if `end` is before."""
        if end < start:
            return -self.minutes_between(end, start)
        total = timedelta()
        day = start.date()
        while day <= end.date():
            if self.is_workday(day):
                begin = max(start, datetime.combine(day, self._opens))
                finish = min(end, datetime.combine(day, self._closes))
                total += max(finish - begin, timedelta())
            day += ONE_DAY
        return int(total.total_seconds() // 60)
