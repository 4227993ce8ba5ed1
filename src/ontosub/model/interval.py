"""Intervals of event time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ontosub.model.errors import UsageError


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """A closed stretch of time, [start, end]; an instant has equal ends.

    Both ends are given with a time zone and kept in UTC: two moments that share a zone with summer time would otherwise
    be compared by the clock on the wall. In UTC they lie in the years 1 to 9999, which is all that a datetime can say.
    """

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", _in_utc(self.start))
        object.__setattr__(self, "end", _in_utc(self.end))
        if self.end < self.start:
            raise UsageError(f"the interval ends ({self.end.isoformat()}) before it starts ({self.start.isoformat()})")

    @classmethod
    def instant(cls, moment: datetime) -> Interval:
        """Return the interval that starts and ends at `moment`."""
        return cls(moment, moment)

    def __str__(self) -> str:
        if self.start == self.end:
            return self.start.isoformat()
        return f"{self.start.isoformat()}/{self.end.isoformat()}"


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is UTC:
        return moment
    if moment.utcoffset() is None:
        raise UsageError(f"the time {moment.isoformat()} has no time zone: add one, for example timezone.utc")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise UsageError(f"the time {moment.isoformat()} is outside of the years 1 to 9999 in UTC") from None
