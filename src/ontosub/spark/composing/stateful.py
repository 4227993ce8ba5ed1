"""Shards in Spark's state: what a micro-batch brings is given to them, and what they hold is stored.

A shard lives on in the process that worked on it last. A token beside the stored state says which shard is the one
that stored it; another process, or this one after a failure, goes on from what is stored.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any
from uuid import uuid4

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from ontosub.composite.moments import FOREVER
from ontosub.spark.composing.shard import Chunk, Shard, Work
from ontosub.spark.composing.telling import report

_live: dict[tuple[str, int], tuple[str, Shard]] = {}
"""The shards that this process worked on last, each with the token of the state that it stored."""

_pieces = count(1)
"""Numbers the pieces of work that this process does."""
_COLLECTED = 50
"""At every so many of them, all that there is may be collected."""


class Composing(StatefulProcessor):
    """What Spark runs for each shard; with `has_timers`, also when its watermark lets the shard decide something."""

    def __init__(self, work: Work, *, has_timers: bool) -> None:
        self._work, self._has_timers = work, has_timers

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name what is stored."""
        self._handle = handle
        self._token = handle.getValueState("token", "token string")
        self._stored = handle.getValueState("shard", "shard binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Give a shard its chunks."""
        chunks = [Chunk(row.version, row.latest, row.untimed, row.matches and bytes(row.matches)) for row in rows]
        return self._worked(key[0], chunks, timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Tell a shard the time."""
        return self._worked(key[0], (), timerValues)

    def close(self) -> None:
        """Keep the shards: the next micro-batch is likely to come here."""

    def _worked(self, key: int, chunks: Sequence[Chunk], times: Any) -> Iterator[Row]:
        token = uuid4().hex
        with _uncollected():
            shard = self._shard(key)
            done = shard.take(chunks, _watermark(times) if self._has_timers else None)
            told = report(key, shard, done)
            self._stored.update((shard.stored(),))
        self._token.update((token,))
        if self._has_timers:
            self._set_timer(shard.detector.due)
        _live[self._work.id, key] = token, shard
        return iter([Row(**told)])

    def _shard(self, key: int) -> Shard:
        """Return the shard that the state is of; it is no longer live until its work has been stored."""
        token, live = self._token.get(), _live.pop((self._work.id, key), None)
        if token is None:
            return self._work.begun(key)
        if live is not None and live[0] == token[0]:
            return live[1]
        stored = self._stored.get()
        assert stored is not None, "a token is stored with its shard"  # noqa: S101
        return self._work.restored(key, bytes(stored[0]))

    def _set_timer(self, due: int) -> None:
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)
        if due < FOREVER:
            self._handle.registerTimer(due // 1000 + 1)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Hide what shards hold from the collector: going again and again through all of it would double the time.

    It would do so by itself, and Spark has workers collect after every task, besides.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        if next(_pieces) % _COLLECTED:
            gc.freeze()
        else:
            gc.unfreeze()


def _watermark(times: Any) -> int | None:
    """Return the moment by which all matches have come; one that ends exactly at Spark's watermark may still come."""
    milliseconds = times.getCurrentWatermarkInMs()
    return milliseconds * 1000 - 1 if milliseconds > 0 else None
