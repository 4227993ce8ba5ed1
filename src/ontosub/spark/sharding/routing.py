"""Events on their way to shards: payloads in, a row for each shard that an event concerns out.

A payload in N-Triples or N-Quads goes on as it is. Every other event has been read to see where it goes, and goes on in
N-Triples, which shards read fastest. Where these would not say all of it (its home, its named graphs, a size beyond
the limits), the payload goes on as it came, with the numbers of the events in it that the shard is to read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ontosub.formats.write import write_event
from ontosub.matching.batch import Batch, Collected
from ontosub.model import Event, Interval
from ontosub.model.errors import OntosubError, UsageError
from ontosub.model.event import find_home
from ontosub.spark.answering import Numbered, rejected
from ontosub.spark.passing import Made, Passing
from ontosub.spark.payloads import Options, Payloads
from ontosub.spark.schemas import ARROW_EVENTS
from ontosub.spark.sharding.router import Router, router_of

SHARD, NUMBERS, PAYLOADS = "_ontosub_shard", "_ontosub_numbers", "_ontosub_payloads"
ADDED = (SHARD, NUMBERS, PAYLOADS)
"""The columns that rows have on their way: the shard; which events of the payload are meant, or null for its only one;
and, in a row of its own, how many payloads came in."""

ROUTED = pa.schema(
    [
        *ARROW_EVENTS,
        pa.field(SHARD, pa.int32()),
        pa.field(NUMBERS, pa.list_(pa.int32())),
        pa.field(PAYLOADS, pa.int64()),
    ]
)

WRITTEN_MAX = 1 << 20
"""Up to which size an event is written anew: no limit on payloads is below it."""

_N_TRIPLES = "application/n-triples"
_AS_THEY_ARE = (_N_TRIPLES, "application/n-quads")


@dataclass(frozen=True, slots=True)
class Routing:
    """What a worker is sent: where the shards are, how payloads are read, and how columns pass."""

    directory: str
    generations: tuple[int, ...]
    options: Options | None
    through: Passing

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Find the ways of the events of one task."""
        return self.through.batches(batches, self._make)

    def _make(self, table: pa.Table) -> Made:
        return routed(router_of(self.directory, self.generations), table, self.options)


def routed(router: Router, table: pa.Table, options: Options | None) -> Made:
    """Find the ways of the events in a table of payloads. What cannot be read is rejected here, and goes nowhere."""
    batch = Batch(table)
    events = Payloads(batch, options)
    refused, rows = Collected(events), _Rows(batch, events)
    for number, name in enumerate(events.names):
        is_plain = not events.is_read(number) and events.content_types[number] in _AS_THEY_ARE
        try:
            event = None if is_plain else replace(events.event(number), id=name)
            shards = router.of_row(events, number) if event is None else router.of_event(event)
        except OntosubError as error:
            refused.reject(number, error)
            continue
        if shards:
            rows.send(number, event, shards)
    made, sources = rows.table()
    return Made(made, sources, *rejected(batch, events, refused.result().rejects))


def payloads_in(table: pa.Table) -> int:
    """Return how many payloads a table stands for, whether it was routed or not."""
    return pc.sum(table[PAYLOADS]).as_py() or 0 if PAYLOADS in table.column_names else len(table)


def _first_numbers(sources: list[int]) -> dict[int, int]:
    """Return the number of the first event of each row."""
    return {source: number for number, source in reversed(list(enumerate(sources)))}


def _written(event: Event) -> bytes | None:
    """Return the event in N-Triples; None when these would not say all of it, or not say it within all limits."""
    if event.named_graphs or find_home(event.graph) != event.home:
        return None
    try:
        payload = write_event(event, _N_TRIPLES)
    except UsageError:
        return None
    # Statements about statements, or a text that looks like one.
    return None if len(payload) > WRITTEN_MAX or b"<<" in payload else payload


class _Rows:
    """The rows that go on, while they are collected: where from, and the columns of ROUTED."""

    def __init__(self, batch: Batch, events: Payloads) -> None:
        self._batch, self._events = batch, events
        self._first = _first_numbers(events.sources)
        self._rows: list[tuple[Any, ...]] = []
        self._left: dict[tuple[int, int], list[int]] = {}

    def send(self, number: int, event: Event | None, shards: list[int]) -> None:
        """Send an event to shards; without one, the payload that it is all of."""
        batch, events, source = self._batch, self._events, self._events.sources[number]
        written = None if event is None else _written(event)
        if event is None:
            told = events.names[number], batch.content_types[source], batch.payloads[source] or b""
            self._add(source, shards, told, batch.interval(source))
        elif written is not None:
            self._add(source, shards, (event.id, _N_TRIPLES, written), event.interval)
        else:
            for shard in shards:
                self._left.setdefault((source, shard), []).append(number - self._first[source])

    def _add(
        self,
        source: int,
        shards: list[int],
        told: tuple[str | None, str | None, bytes | None],
        interval: Interval | None,
        numbers: list[int] | None = None,
    ) -> None:
        times = (None, None) if interval is None else (interval.start, interval.end)
        self._rows += [(source, *told, *times, shard, numbers, None) for shard in shards]

    def table(self) -> tuple[pa.Table, pa.Array]:
        """Return all rows, and where they are from; a payload that goes on as it came goes but once to each shard."""
        batch = self._batch
        for (source, shard), numbers in self._left.items():
            told = batch.ids[source], batch.content_types[source], batch.payloads[source]
            self._add(source, [shard], told, batch.interval(source), numbers)
        if len(batch):
            self._rows.append((0, *[None] * (len(ROUTED) - 1), len(batch)))
        sources, *columns = list(zip(*self._rows, strict=True)) or [()] * (1 + len(ROUTED))
        arrays = [pa.array(column, each.type) for column, each in zip(columns, ROUTED, strict=True)]
        return pa.table(arrays, schema=ROUTED), pa.array(sources, pa.int64())


class Chosen(Numbered):
    """The events that are meant by rows that were routed: of some payloads only a few."""

    def __init__(self, events: Payloads, wanted: list[list[int] | None]) -> None:
        first = _first_numbers(events.sources)
        sets = [None if numbers is None else set(numbers) for numbers in wanted]
        self._events = events
        self._numbers = [
            number
            for number, source in enumerate(events.sources)
            if (meant := sets[source]) is None or number - first[source] in meant
        ]
        self.ids = [str(number) for number in range(len(self._numbers))]
        self.names = [events.names[number] for number in self._numbers]
        self.sources = [events.sources[number] for number in self._numbers]
        self.content_types = [events.content_types[number] for number in self._numbers]
        self.payloads = [events.payloads[number] for number in self._numbers]
        self.faults = []  # they were told when the way was found

    def interval(self, row: int) -> Interval | None:
        return self._events.interval(self._numbers[row])

    def is_read(self, row: int) -> bool:
        return self._events.is_read(self._numbers[row])

    def event(self, row: int) -> Event:
        return replace(self._events.event(self._numbers[row]), id=str(row))
