"""Moments: dateTimes, dates, times, and the partial dates of XSD (gYear, gMonthDay, …), on one time line.

A moment without a time zone lies, for all we know, anywhere within 14 hours of its place on the time line; so it is
never equal to a moment with a zone, and its order to one that is nearer than that is an error. There is no implicit
time zone. Fields that a type leaves out are taken from 1972-12-31T00:00:00, as XSD 1.1 does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction

from ontosub.model.terms import XSD, NamedNode
from ontosub.semantics import durations
from ontosub.semantics.durations import DAY_SECONDS, DAY_TIME, Duration
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.gregorian import add_months, date_of, day_number, days_in_month
from ontosub.semantics.numeric import fraction_text

DATE_TIME = XSD["dateTime"]
DATE_TIME_STAMP = XSD["dateTimeStamp"]
DATE = XSD["date"]
TIME = XSD["time"]

_YEAR = r"(?P<year>-?(?:[1-9][0-9]{3,}|0[0-9]{3}))"
_MONTH = r"(?P<month>0[1-9]|1[0-2])"
_DAY = r"(?P<day>0[1-9]|[12][0-9]|3[01])"
_CLOCK = (
    r"(?:(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9](?:\.[0-9]+)?)"
    r"|(?P<midnight>24:00:00(?:\.0+)?))"
)
_ZONE = r"(?P<zone>Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))"
_SHAPES = {
    datatype: re.compile(shape)
    for datatype, shape in {
        DATE_TIME: f"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_ZONE}?",
        DATE_TIME_STAMP: f"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_ZONE}",
        DATE: f"{_YEAR}-{_MONTH}-{_DAY}{_ZONE}?",
        TIME: f"{_CLOCK}{_ZONE}?",
        XSD["gYear"]: f"{_YEAR}{_ZONE}?",
        XSD["gYearMonth"]: f"{_YEAR}-{_MONTH}{_ZONE}?",
        XSD["gMonth"]: f"--{_MONTH}{_ZONE}?",
        XSD["gMonthDay"]: f"--{_MONTH}-{_DAY}{_ZONE}?",
        XSD["gDay"]: f"---{_DAY}{_ZONE}?",
    }.items()
}

MOMENT_TYPES = frozenset(_SHAPES)

_FURTHEST_ZONE_SECONDS = 14 * 3600
_SUBTRACTABLE = frozenset({DATE_TIME, DATE, TIME})


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment, by the fields that its type has. `zone` is the offset from UTC in minutes.

    `instant` is its place on the time line, in seconds: of UTC if it has a zone, of wherever it is if not.
    """

    datatype: NamedNode
    year: int | None = None
    month: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: Fraction | None = None
    zone: int | None = None
    instant: Fraction = field(init=False)

    def __post_init__(self) -> None:
        year = 1972 if self.year is None else self.year
        month = self.month or 12
        days = day_number(year, month, self.day or days_in_month(year, month))
        minutes = 60 * (self.hour or 0) + (self.minute or 0) - (self.zone or 0)
        object.__setattr__(self, "instant", days * DAY_SECONDS + 60 * minutes + (self.second or Fraction(0)))


def parse_moment(datatype: NamedNode, text: str) -> Moment | None:
    """Return the moment that the text spells, or None. A dateTimeStamp becomes a dateTime."""
    shape = _SHAPES[datatype].fullmatch(text)
    if shape is None:
        return None
    parts = shape.groupdict()
    fields = {name: int(parts[name]) for name in ("year", "month", "day", "hour", "minute") if parts.get(name)}
    if fields.get("day", 1) > days_in_month(fields.get("year", 1972), fields.get("month", 12)):
        return None
    second = Fraction(parts["second"]) if parts.get("second") else None
    plain = DATE_TIME if datatype == DATE_TIME_STAMP else datatype
    if parts.get("midnight"):
        return _end_of_day(plain, fields, _zone_minutes(parts["zone"]))
    return Moment(plain, **fields, second=second, zone=_zone_minutes(parts["zone"]))


def _zone_minutes(zone: str | None) -> int | None:
    if zone is None:
        return None
    if zone == "Z":
        return 0
    minutes = 60 * int(zone[1:3]) + int(zone[4:6])
    return -minutes if zone.startswith("-") else minutes


def _end_of_day(datatype: NamedNode, fields: dict[str, int], zone: int | None) -> Moment:
    """Return 24:00:00, which is 00:00:00 of the next day."""
    if "day" not in fields:
        return Moment(datatype, None, None, None, 0, 0, Fraction(0), zone)
    year, month, day = date_of(day_number(fields["year"], fields["month"], fields["day"]) + 1)
    return Moment(datatype, year, month, day, 0, 0, Fraction(0), zone)


def moment_text(moment: Moment) -> str:
    """Return the canonical text of a moment, by the fields that it has."""
    return _date_text(moment) + _clock_text(moment) + zone_text(moment.zone)


def _date_text(moment: Moment) -> str:
    if moment.year is None and moment.month is None and moment.day is None:
        return ""
    # A field that is left out leaves its hyphens, but for those at the end: --12-31, ---31, 2000-12.
    year = "-" if moment.year is None else f"{'-' if moment.year < 0 else ''}{abs(moment.year):04}"
    month = "" if moment.month is None else f"{moment.month:02}"
    day = "" if moment.day is None else f"-{moment.day:02}"
    return f"{year}-{month}{day}" if month or day else year


def _clock_text(moment: Moment) -> str:
    if moment.second is None:
        return ""
    clock = f"{moment.hour:02}:{moment.minute:02}:{_second_text(moment.second)}"
    return clock if moment.year is None else f"T{clock}"


def _second_text(second: Fraction) -> str:
    text = fraction_text(second)
    return f"0{text}" if second < 10 else text


def zone_text(zone: int | None) -> str:
    """Return a zone as it stands behind a moment: `Z` for UTC, nothing where there is none."""
    if not zone:
        return "" if zone is None else "Z"
    hours, minutes = divmod(abs(zone), 60)
    return f"{'-' if zone < 0 else '+'}{hours:02}:{minutes:02}"


def equal(left: Moment, right: Moment) -> bool:
    """Say whether two moments of the same type are the same."""
    return (left.zone is None) == (right.zone is None) and left.instant == right.instant


def order(left: Moment, right: Moment) -> int:
    """Return -1, 0 or 1 as the left moment is earlier, the same or later; both are of the same type."""
    difference = left.instant - right.instant
    if (left.zone is None) != (right.zone is None) and abs(difference) <= _FURTHEST_ZONE_SECONDS:
        raise ExpressionError("one of the moments has no time zone, and they are less than 14 hours apart")
    return (difference > 0) - (difference < 0)


def difference(left: Moment, right: Moment) -> Duration:
    """Return the time from the right moment to the left one, for two dateTimes, two dates or two times."""
    if left.datatype != right.datatype or left.datatype not in _SUBTRACTABLE:
        raise ExpressionError("these moments have no difference")
    if (left.zone is None) != (right.zone is None):
        raise ExpressionError("one of the moments has no time zone")
    return Duration(DAY_TIME, 0, left.instant - right.instant)


def shift(moment: Moment, duration: Duration) -> Moment:
    """Return the moment later by the duration: first the months are added, then the seconds (XSD 1.1, E.3.3)."""
    if moment.datatype == TIME and duration.datatype != durations.YEAR_MONTH:
        hour, minute, second, _ = _clock_after(moment, duration.seconds)
        return Moment(TIME, None, None, None, hour, minute, second, moment.zone)
    if moment.year is None or moment.month is None or moment.day is None:
        raise ExpressionError("a duration can only be added to a dateTime, a date or a time")
    hour, minute, second, days = _clock_after(moment, duration.seconds)
    first_day = day_number(*add_months(moment.year, moment.month, moment.day, duration.months))
    year, month, day = date_of(first_day + days)
    if moment.datatype == DATE:
        return Moment(DATE, year, month, day, zone=moment.zone)
    return Moment(DATE_TIME, year, month, day, hour, minute, second, moment.zone)


def _clock_after(moment: Moment, seconds: Fraction) -> tuple[int, int, Fraction, int]:
    """Return the hour, minute and second that much later, and the days that were passed."""
    total = 3600 * (moment.hour or 0) + 60 * (moment.minute or 0) + (moment.second or Fraction(0)) + seconds
    days, rest = divmod(total, DAY_SECONDS)
    hour, rest = divmod(rest, 3600)
    minute, second = divmod(rest, 60)
    return hour, minute, second, days
