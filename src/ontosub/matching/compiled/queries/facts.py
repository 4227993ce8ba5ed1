"""Events as queries see them: their terms, their graphs side by side in one, and the named graphs of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ontosub.matching.answers import TERM_BYTES
from ontosub.matching.compiled.events.concepts import Concepts
from ontosub.matching.compiled.events.encoded import EncodedEvent
from ontosub.matching.compiled.queries.arcs import Arcs, Array, EventArcs, NamedArcs, property_terms
from ontosub.matching.compiled.queries.terms import Terms
from ontosub.model.terms import Resource, written
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.hierarchy import Hierarchy


class Told(NamedTuple):
    """An event in numbers, and how to get at its named graphs."""

    encoded: EncodedEvent
    named: Callable[[], Mapping[Resource, EventGraph]]


class Facts:
    """Some events. All queries about them share it."""

    def __init__(self, events: Sequence[Told], concepts: Concepts, hierarchy: Hierarchy) -> None:
        self._events = events
        self.terms = Terms([each.encoded for each in events])
        firsts = self.terms.firsts
        self.firsts = np.array(firsts, np.int32)
        """The number of the first vertex of each event."""
        self.arcs: Arcs = EventArcs([each.encoded.graph for each in events], concepts, self.terms, hierarchy)
        counts = [len(each.encoded.graph.vertices) for each in events]
        self.ranges = np.array([(first, first + count) for first, count in zip(firsts, counts, strict=True)], np.int32)
        """The numbers of the vertices of each event: from, to."""
        self._property_terms: dict[int, Array] = {}

    def property_terms(self, event: int) -> Array:
        """Return the numbers, as terms, of the properties that arcs of an event lead along."""
        if event not in self._property_terms:
            encoded, number_of = self._events[event].encoded, self.terms.number_of
            self._property_terms[event] = property_terms(
                encoded.graph.out, lambda number: number_of(event, encoded.property(number))
            )
        return self._property_terms[event]

    def coded(self, numbers: Array, events: Array) -> tuple[Array, list[str]]:
        """Return terms of some events as vertices of these, and those that are none, inverted, as places of texts."""
        codes = numbers - self.firsts[events]
        others = np.flatnonzero(numbers >= self.ranges[-1, 1])
        unique, place = np.unique(numbers[others], return_inverse=True)
        codes[others] = ~place
        return codes, [written(self.terms.term(each)) for each in unique.tolist()]

    def bytes_of(self, numbers: Array) -> int:
        """Return about what it takes to write terms in answers."""
        is_vertex = numbers < self.ranges[-1, 1]
        others = sum(map(self.terms.bytes_of, numbers[~is_vertex].tolist()))
        vertices = numbers[is_vertex]
        return others + TERM_BYTES * len(vertices) + int(self._lengths[vertices].sum())

    @cached_property
    def _lengths(self) -> Array:
        """How long the texts of vertices are. Those that the index knows count as nothing: they are short."""
        spans = [each.encoded.texts()[1:] for each in self._events]
        return np.concatenate([ends.astype(np.int64) - starts for starts, ends in spans])

    @cached_property
    def all_property_terms(self) -> tuple[Array, Array]:
        """The numbers, as terms, of the properties of all events, and where those of each event start among them."""
        tables = [self.property_terms(event) for event in range(len(self._events))]
        return np.cumsum([0, *map(len, tables)])[:-1], np.concatenate(tables)

    @cached_property
    def named(self) -> dict[int, Arcs]:
        """The named graphs of the only event, by the numbers of their names."""
        (event,) = self._events
        concepts = self.arcs.concepts
        return {self.terms.number_of(0, name): NamedArcs(g, self.terms, concepts) for name, g in event.named().items()}
