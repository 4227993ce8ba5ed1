"""Moments and durations as whole microseconds, which is how the detector counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ontosub.model.errors import UsageError
from ontosub.model.interval import Interval

FOREVER = 1 << 62
"""A moment that never comes."""
UNBOUNDED = 2 * FOREVER
"""A window that never ends, whenever it began."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def ticks(moment: datetime) -> int:
    """Return the microseconds since 1970. Raises UsageError for a moment without a time zone."""
    if moment.tzinfo is None:
        raise UsageError(f"{moment} has no time zone: give it one, for example tzinfo=UTC")
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


LAST = ticks(_LAST)
"""The last moment of the calendar."""


def ticks_of(duration: timedelta) -> int:
    """Return the microseconds of a duration."""
    return (duration.days * 86_400 + duration.seconds) * 1_000_000 + duration.microseconds


def moment_of(ticks: int) -> datetime:
    """Return the moment, or the first or last one of the calendar."""
    try:
        return _EPOCH + timedelta(microseconds=ticks)
    except OverflowError:
        return _FIRST if ticks < 0 else _LAST


def interval_of(start: int, end: int) -> Interval:
    """Return the interval between two moments."""
    return Interval(moment_of(start), moment_of(end))
