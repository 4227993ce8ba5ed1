"""The calendar of XSD: Gregorian in both directions, with a year 0, and years of any size."""

from __future__ import annotations

from datetime import date

_CYCLE_YEARS = 400
_CYCLE_DAYS = 146_097
"""The calendar repeats after 400 years, so `datetime.date`, which ends with the year 9999, can count the rest."""


def day_number(year: int, month: int, day: int) -> int:
    """Return the days from 0001-01-01, which is day 1, to the date."""
    cycles, rest = divmod(year - 1, _CYCLE_YEARS)
    return cycles * _CYCLE_DAYS + date(rest + 1, month, day).toordinal()


def date_of(number: int) -> tuple[int, int, int]:
    """Return the year, month and day with that day number."""
    cycles, rest = divmod(number - 1, _CYCLE_DAYS)
    found = date.fromordinal(rest + 1)
    return cycles * _CYCLE_YEARS + found.year, found.month, found.day


def days_in_month(year: int, month: int) -> int:
    """Return how many days the month has in that year."""
    return 30 + (month + month // 8) % 2 if month != 2 else 29 if _is_leap(year) else 28


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def add_months(year: int, month: int, day: int, months: int) -> tuple[int, int, int]:
    """Return the date that many months later; a day that its month does not have becomes the month's last."""
    years, index = divmod(month - 1 + months, 12)
    year, month = year + years, index + 1
    return year, month, min(day, days_in_month(year, month))
