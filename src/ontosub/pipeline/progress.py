"""How a pipeline is doing: counts since it began, rates of late, and how far behind it is."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

from ontosub.pipeline.batches import Done

_RECENT_S = 10.0
"""How far back rates look."""


@dataclass(frozen=True, slots=True)
class Standings:
    """Where a pipeline stands.

    `unused` matches came too late for composites, or had no time. For `overruns` instances a composite did not try all
    combinations.
    """

    batches: int
    payloads: int
    matches: int
    detections: int
    rejects: int
    unused: int
    overruns: int
    payloads_per_s: float
    matches_per_s: float
    batch_s: float
    lag: int | None

    def line(self) -> str:
        """Return all of it in a line."""
        told = [
            f"{self.payloads:,} events ({self.payloads_per_s:,.0f}/s)",
            f"{self.matches:,} matches ({self.matches_per_s:,.0f}/s)",
            *([f"{self.detections:,} composite events"] if self.detections else []),
            f"{self.rejects:,} rejects",
            *([f"{self.unused:,} too late or without time"] if self.unused else []),
            *([f"{self.overruns:,} overruns of composites"] if self.overruns else []),
            f"batch {self.batches:,}: {self.batch_s:.2f} s",
            *([f"lag {self.lag:,}"] if self.lag is not None else []),
        ]
        return " · ".join(told)


class Progress:
    """Adds up what is done."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._recent: deque[tuple[float, int, int]] = deque([(clock(), 0, 0)])
        self._batches = self._payloads = self._matches = self._detections = self._rejects = self._unused = 0
        self._overruns = 0
        self._batch_s = 0.0

    def add(self, done: Done) -> None:
        """Take in a batch."""
        now, outcome = self._clock(), done.outcome
        self._batches += 1
        self._payloads += outcome.payloads
        self._matches += outcome.matches
        self._detections += outcome.detections
        self._rejects += outcome.rejects
        self._unused += outcome.late + outcome.untimed
        self._overruns += sum(outcome.overruns.values())
        self._batch_s = done.seconds
        self._recent.append((now, self._payloads, self._matches))
        while len(self._recent) > 2 and self._recent[1][0] < now - _RECENT_S:
            self._recent.popleft()

    def now(self, lag: int | None = None) -> Standings:
        """Return where things stand; `lag` is how many events wait."""
        since, payloads, matches = self._recent[0]
        seconds = max(self._clock() - since, 1e-9)
        return Standings(
            self._batches,
            self._payloads,
            self._matches,
            self._detections,
            self._rejects,
            self._unused,
            self._overruns,
            (self._payloads - payloads) / seconds,
            (self._matches - matches) / seconds,
            self._batch_s,
            lag,
        )


def lag_of(progress: dict[str, Any] | None) -> int | None:
    """Return how many events wait, from what Spark says of a query; None when its source does not tell.

    Kafka's connector says it; of a source whose offsets are numbers it is the difference.
    """
    for source in (progress or {}).get("sources", ()):
        behind = (source.get("metrics") or {}).get("totalOffsetsBehindLatest")
        if behind is not None:
            return int(float(behind))
        latest, end = _offset(source.get("latestOffset")), _offset(source.get("endOffset"))
        if latest is not None and end is not None:
            return max(0, latest - end)
    return None


def _offset(told: Any) -> int | None:
    """Return the number in an offset like 7 or {"offset": 7}, as Spark or as JSON has it."""
    if isinstance(told, str):
        try:
            told = json.loads(told)
        except ValueError:
            return None
    if isinstance(told, dict):
        numbers = [value for value in told.values() if isinstance(value, int)]
        return numbers[0] if len(numbers) == 1 else None
    return told if isinstance(told, int) else None
