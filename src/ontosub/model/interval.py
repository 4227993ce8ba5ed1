"""Intervals of event time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ontosub.model.errors import UsageError


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """A closed stretch of time, [start, end]. Both ends know their time zone; an instant has equal ends."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        for moment in (self.start, self.end):
            if moment.tzinfo is None:
                raise UsageError(f"the time {moment.isoformat()} has no time zone: add one, for example timezone.utc")
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
