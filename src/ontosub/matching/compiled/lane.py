"""Payloads on their way through the index: those in N-Triples and N-Quads are never parsed into objects.

Only what is left to Python (a residual) asks for the event itself, which is then read like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ontosub.matching.batch import ENCODED, MATCHES, Batch, raising_faults
from ontosub.matching.compiled.events.concepts import Concepts
from ontosub.matching.compiled.events.encoded import EncodedEvent
from ontosub.matching.compiled.index.index import Index
from ontosub.matching.compiled.index.part import Part
from ontosub.matching.compiled.queries.facts import Facts, Told
from ontosub.matching.compiled.texts import Texts, subscription_ids
from ontosub.model import Event, Interval
from ontosub.model.terms import Resource
from ontosub.semantics import Entailment, EventGraph

Array = NDArray[Any]

_QUADS = {"application/n-triples": False, "application/n-quads": True}
"""The media types of the lane, and whether statements have a graph."""


@dataclass(slots=True)
class Arrival:
    """An event that has arrived: what a match says of it, its graph in numbers, and how to get at the event itself."""

    id: str
    interval: Interval | None
    encoded: EncodedEvent
    _read: Callable[[], Event]
    _entailment: Entailment
    _concepts: Concepts
    _graph: EventGraph | None = None
    _facts: Facts | None = None
    over_budget: set[str] = field(default_factory=set)
    """The subscriptions that the event would have cost too much to decide."""
    visits: int = 0
    """How many steps the walks for the event made."""

    @classmethod
    def of(cls, event: Event, index: Index) -> Self:
        """Return the arrival of an event that has been read."""
        return cls(event.id, event.interval, index.encode(event), lambda: event, index.entailment, index.concepts)

    @classmethod
    @raising_faults
    def from_row(cls, batch: Batch, row: int, index: Index) -> Self:
        """Return the arrival of a row, through the lane if it can be taken."""
        named, quads = batch.ids[row], _QUADS.get(batch.content_types[row] or "")
        if named and quads is not None and not batch.is_read(row):
            encoded = index.encode_payload(batch.payloads[row] or b"", quads=quads)
            if encoded is not None:
                return cls(
                    named, batch.interval(row), encoded, lambda: batch.event(row), index.entailment, index.concepts
                )
        return cls.of(batch.event(row), index)

    def graph(self) -> EventGraph:
        """Return the event graph in objects."""
        if self._graph is None:
            self._graph = self._entailment.event_graph(self._read())
        return self._graph

    def facts(self) -> Facts:
        """Return the event as queries see it."""
        if self._facts is None:
            self._facts = self.facts_of([self])
        return self._facts

    def facts_of(self, arrivals: Sequence[Arrival]) -> Facts:
        """Return several events, of which this is one, as queries see them."""
        told = [Told(each.encoded, each._named) for each in arrivals]
        return Facts(told, self._concepts, self._entailment.classes)

    def _named(self) -> Mapping[Resource, EventGraph]:
        return self.graph().named


class Found:
    """The subscriptions that the events of a batch match, in numbers until all have been matched."""

    def __init__(self, parts: Sequence[Part], *, encoded: bool = False) -> None:
        self.size = 0
        self._encoded = encoded
        self._ids: list[str] = []
        self._intervals: list[Interval | None] = []
        self._parts = parts
        self._numbers: list[list[Array]] = [[] for _ in parts]

    def add(self, arrival: Arrival, numbers: list[Array]) -> None:
        """Take in what an event matches in each part."""
        self.size += sum(map(len, numbers))
        self._ids.append(arrival.id)
        self._intervals.append(arrival.interval)
        for collected, found in zip(self._numbers, numbers, strict=True):
            collected.append(found)

    def table(self) -> pa.Table:
        """Return the matches, in the order of the events and, for each, of subscription."""
        schema = ENCODED if self._encoded else MATCHES
        schema = schema.remove(schema.get_field_index("bindings"))
        events = [np.repeat(np.arange(len(found)), [len(each) for each in found]) for found in self._numbers]
        if self._encoded:
            pairs = zip(self._parts, self._numbers, events, strict=True)
            tables = [self._of(part, _joined(found), event, schema) for part, found, event in pairs]
            return pa.concat_tables([schema.empty_table(), *tables])
        event = np.concatenate([np.empty(0, np.int64), *events])
        order = np.argsort(event, kind="stable")
        ids = [part.holding.strings(_joined(found)) for part, found in zip(self._parts, self._numbers, strict=True)]
        subscription_ids = pa.chunked_array(ids, pa.string()).take(pa.array(order))
        return pa.table([self._ids_at(event[order]), subscription_ids, *self._times(event[order])], schema=schema)

    def _of(self, part: Part, numbers: Array, event: Array, schema: pa.Schema) -> pa.Table:
        """Return the matches of one part."""
        ids = subscription_ids(part, numbers, encoded=True)
        return pa.table([self._ids_at(event), ids, *self._times(event)], schema=schema)

    def _ids_at(self, event: Array) -> pa.Array:
        return Texts(pa.array(self._ids, pa.string()), encoded=self._encoded).at(event)

    def _times(self, event: Array) -> Iterator[pa.Array]:
        for name in ("start", "end"):
            times = [getattr(each, name, None) for each in self._intervals]
            yield pa.array(times, MATCHES.field("time_start").type).take(pa.array(event))


def _joined(found: list[Array]) -> Array:
    return np.concatenate([np.empty(0, np.int32), *found])
