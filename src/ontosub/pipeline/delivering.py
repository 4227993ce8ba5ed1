"""Delivering a micro-batch: every sink gets its rows, however long one of them cannot be reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Event as Signal

from ontosub.composite.table import DETECTIONS
from ontosub.matching.batch import MATCHES, REJECTS
from ontosub.model import Diagnostic, Severity
from ontosub.model.errors import Unavailable
from ontosub.pipeline.staging import Outcome, Staging
from ontosub.sinks import Delivery, Sink

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0

ASKED_WAIT_S_MAX = 300.0
"""How long one who asks for time is waited for at the most: everybody else waits with it."""


class Stopped(Exception):
    """The pipeline was told to stop while it waited: the batch is delivered when it runs again."""


@dataclass(frozen=True, slots=True)
class Delivering:
    """Who gets matches and detections, and who gets dead letters.

    `stop` ends the waiting for one that cannot be reached. Batches are numbered from `first_batch` on; see `State`.
    """

    pipeline: str
    first_batch: int
    sinks: Sequence[Sink]
    dead_letters: Sequence[Sink]
    staging: Staging
    stop: Signal
    say: Callable[[Diagnostic], None]

    def deliver(self, batch: int, outcome: Outcome) -> None:
        """Deliver a batch to all sinks; return when all have it. Raises Stopped."""
        number = self.first_batch + batch
        matches = Delivery(self.pipeline, number, MATCHES, self.staging.files(batch, outcome.matches_files))
        rejects = Delivery(self.pipeline, number, REJECTS, self.staging.files(batch, outcome.rejects_files))
        found = Delivery(self.pipeline, number, DETECTIONS, self.staging.files(batch, outcome.detections_files))
        for delivery, sinks in ((matches, self.sinks), (found, self.sinks), (rejects, self.dead_letters)):
            if delivery.files:
                for sink in sinks:
                    self._deliver(sink, delivery)

    def _deliver(self, sink: Sink, delivery: Delivery) -> None:
        waits = _waits()
        while True:
            try:
                sink.deliver(delivery)
                return
            except Unavailable as error:
                if error.has_progressed:  # it has answered in between: this is another outage
                    waits = _waits()
                wait = max(next(waits), min(error.wait_s, ASKED_WAIT_S_MAX))
                told = f"batch {delivery.batch} waits: {error}; trying again in {wait:g} s"
                self.say(Diagnostic(told, Severity.WARNING))
                if self.stop.wait(wait):
                    raise Stopped from error


def _waits() -> Iterator[float]:
    wait = FIRST_WAIT_S
    while True:
        yield wait
        wait = min(2 * wait, LONGEST_WAIT_S)
