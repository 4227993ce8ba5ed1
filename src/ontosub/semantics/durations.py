"""Durations: months and seconds, which do not convert into each other, and so are ordered only in part."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from ontosub.model.terms import XSD, NamedNode
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.gregorian import add_months, day_number
from ontosub.semantics.numeric import fraction_text

DURATION = XSD["duration"]
YEAR_MONTH = XSD["yearMonthDuration"]
DAY_TIME = XSD["dayTimeDuration"]

DAY_SECONDS = 86_400

_DATE_PART = r"(?:(?P<years>[0-9]+)Y)?(?:(?P<months>[0-9]+)M)?"
_DAY_PART = r"(?:(?P<days>[0-9]+)D)?"
_TIME_PART = r"(?:T(?=[0-9])(?:(?P<hours>[0-9]+)H)?(?:(?P<minutes>[0-9]+)M)?(?:(?P<seconds>[0-9]+(?:\.[0-9]+)?)S)?)?"
_SHAPES = {
    DURATION: re.compile(rf"(?P<minus>-)?P(?=[0-9T]){_DATE_PART}{_DAY_PART}{_TIME_PART}"),
    YEAR_MONTH: re.compile(rf"(?P<minus>-)?P(?=[0-9]){_DATE_PART}"),
    DAY_TIME: re.compile(rf"(?P<minus>-)?P(?=[0-9T]){_DAY_PART}{_TIME_PART}"),
}
_UNITS = {"days": DAY_SECONDS, "hours": 3600, "minutes": 60, "seconds": 1}

_REFERENCE_DATES = ((1696, 9, 1), (1697, 2, 1), (1903, 3, 1), (1903, 7, 1))
"""XSD 1.1, part 2, section 3.3.6.2: one duration is shorter than another if it is so from each of these dates."""


@dataclass(frozen=True, slots=True)
class Duration:
    """A stretch of time. Months and seconds never have opposite signs."""

    datatype: NamedNode
    months: int
    seconds: Fraction


def parse_duration(datatype: NamedNode, text: str) -> Duration | None:
    """Return the duration that the text spells, or None."""
    shape = _SHAPES[datatype].fullmatch(text)
    if shape is None:
        return None
    parts = {name: part or "0" for name, part in shape.groupdict().items() if name != "minus"}
    months = 12 * int(parts.get("years", 0)) + int(parts.get("months", 0))
    seconds = sum((factor * Fraction(parts.get(unit, 0)) for unit, factor in _UNITS.items()), Fraction(0))
    return Duration(datatype, -months, -seconds) if shape["minus"] else Duration(datatype, months, seconds)


def duration_text(duration: Duration) -> str:
    """Return the canonical text: the largest units first, none that is zero."""
    years, months = divmod(abs(duration.months), 12)
    days, rest = divmod(abs(duration.seconds), DAY_SECONDS)
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    date_part = "".join(f"{int(n)}{unit}" for n, unit in ((years, "Y"), (months, "M"), (days, "D")) if n)
    time_part = "".join(f"{int(n)}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    if seconds:
        time_part += f"{fraction_text(seconds)}S"
    if not date_part and not time_part:
        return "P0M" if duration.datatype == YEAR_MONTH else "PT0S"
    sign = "-" if duration.months < 0 or duration.seconds < 0 else ""
    return f"{sign}P{date_part}" + (f"T{time_part}" if time_part else "")


def equal(left: Duration, right: Duration) -> bool:
    """Say whether the durations are the same stretch of time, whatever their types."""
    return left.months == right.months and left.seconds == right.seconds


def order(left: Duration, right: Duration) -> int:
    """Return -1, 0 or 1 as the left duration is shorter, equal or longer.

    Raises ExpressionError when that depends on the day from which they are counted, as for a month and 30 days.
    """
    outcomes = {_sign(_seconds_from(start, left) - _seconds_from(start, right)) for start in _REFERENCE_DATES}
    if len(outcomes) > 1:
        raise ExpressionError("the order of the durations depends on when they start")
    return outcomes.pop()


def _seconds_from(start: tuple[int, int, int], duration: Duration) -> Fraction:
    return day_number(*add_months(*start, duration.months)) * DAY_SECONDS + duration.seconds


def _sign(difference: Fraction) -> int:
    return (difference > 0) - (difference < 0)


def add(left: Duration, right: Duration) -> Duration:
    """Return the sum; of durations with different types it is an xsd:duration."""
    datatype = left.datatype if left.datatype == right.datatype else DURATION
    months, seconds = left.months + right.months, left.seconds + right.seconds
    if months * seconds < 0:
        raise ExpressionError("no duration has months and seconds of opposite signs")
    return Duration(datatype, months, seconds)


def negate(duration: Duration) -> Duration:
    """Return the duration that goes the other way."""
    return Duration(duration.datatype, -duration.months, -duration.seconds)


def mean_end(duration: Duration) -> Fraction:
    """Return the mean of a duration's ends from the four dates; the shorter of two that have an order has less."""
    return sum((_seconds_from(start, duration) for start in _REFERENCE_DATES), Fraction(0)) / len(_REFERENCE_DATES)
