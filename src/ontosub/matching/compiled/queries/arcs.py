"""The arcs of a graph in numbers, in lists: what Python reads one by one, it reads faster from them than from arrays.

An arc leads along a property, whose number is no term's. The arcs of a vertex are sorted by property and other end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np

from ontosub.matching.compiled.events.concepts import Concepts
from ontosub.matching.compiled.events.encoded import EncodedEvent
from ontosub.matching.compiled.events.graph import ALONG, END, IS_VERTEX
from ontosub.matching.compiled.queries.terms import Terms
from ontosub.model.terms import NamedNode
from ontosub.semantics.event_graph import EventGraph, own_classes
from ontosub.semantics.hierarchy import Hierarchy

Pair = tuple[int, int]


class Direction:
    """The arcs of each vertex in one direction."""

    __slots__ = ("_of", "along", "ends", "starts")

    def __init__(self, starts: list[int], along: list[int], ends: list[int]) -> None:
        self.starts = starts
        self.along = along
        self.ends = ends
        # Many queries look at the same few vertices: the arcs of one are sorted out when it is first looked at.
        self._of: dict[int, dict[int, list[int]]] = {}

    def along_property(self, vertex: int, property_: int) -> Sequence[int]:
        """Return where the arcs of a vertex along a property lead, in order."""
        arcs = self._of.get(vertex)
        if arcs is None:
            arcs = self._of[vertex] = self._sorted_out(vertex)
        return arcs.get(property_, ())

    def _sorted_out(self, vertex: int) -> dict[int, list[int]]:
        arcs: dict[int, list[int]] = {}
        for along, end in self.of(vertex):
            arcs.setdefault(along, []).append(end)
        return arcs

    def joins(self, vertex: int, property_: int, end: int) -> bool:
        """Say whether an arc along a property leads from a vertex to another."""
        ends = self.along_property(vertex, property_)
        place = bisect_left(ends, end)
        return place < len(ends) and ends[place] == end

    def of(self, vertex: int) -> Iterator[Pair]:
        """Yield the arcs of a vertex: property and other end."""
        if vertex + 1 < len(self.starts):
            for place in range(self.starts[vertex], self.starts[vertex + 1]):
                yield self.along[place], self.ends[place]


class Arcs(ABC):
    """A graph as queries see it: arcs in both directions, and the vertices that have a class."""

    out: Direction
    into: Direction
    property_term: Callable[[int], int]
    """Returns the number, as a term, of a property that is given by its number as such."""

    def __init__(self) -> None:
        self._members: dict[NamedNode, frozenset[int]] = {}

    @abstractmethod
    def property_number(self, property_: NamedNode) -> int:
        """Return the number of a property as such; UNBOUND if no arc has it."""

    @property
    @abstractmethod
    def vertices(self) -> frozenset[int]:
        """What a variable that no arc touches may stand for."""

    @abstractmethod
    def _find_members(self, class_: NamedNode) -> frozenset[int]: ...

    def members(self, class_: NamedNode) -> frozenset[int]:
        """Return the terms of the graph that have a class."""
        if class_ not in self._members:
            self._members[class_] = self._find_members(class_)
        return self._members[class_]

    def has_class(self, term: int, class_: NamedNode) -> bool:
        """Say whether a term has a class; a property need not be a vertex of the graph."""
        return term in self.members(class_) or class_ in self._own_classes(term)

    @abstractmethod
    def _own_classes(self, term: int) -> frozenset[NamedNode]:
        """Return the classes that a term has whatever the graph says of it."""

    @cached_property
    def _by_property(self) -> dict[int, list[Pair]]:
        found: dict[int, list[Pair]] = {}
        for subject in range(len(self.out.starts) - 1):
            for along, end in self.out.of(subject):
                found.setdefault(along, []).append((subject, end))
        return found

    def along(self, property_: int) -> list[Pair]:
        """Return the arcs along a property: subjects and objects."""
        return self._by_property.get(property_, [])

    def all(self) -> Iterator[tuple[int, int, int]]:
        """Yield all arcs: subject, property, object."""
        for property_, pairs in self._by_property.items():
            for subject, end in pairs:
                yield subject, property_, end

    @cached_property
    def ends(self) -> list[int]:
        """All subjects and objects, between which a path of no length leads."""
        starts = self.out.starts, self.into.starts
        count = len(starts[0]) - 1
        return [each for each in range(count) if any(of[each] < of[each + 1] for of in starts)]


class EventArcs(Arcs):
    """The event graph, closed under the ontology, as the index has it."""

    def __init__(self, encoded: EncodedEvent, concepts: Concepts, terms: Terms, hierarchy: Hierarchy) -> None:
        super().__init__()
        self._graph = graph = encoded.graph
        self._concepts = concepts
        self._hierarchy = hierarchy
        self._terms = terms
        self.property_term = terms.number_of_property
        self.out = Direction(graph.out_from.tolist(), graph.out[:, ALONG].tolist(), graph.out[:, END].tolist())
        self.into = Direction(graph.in_from.tolist(), graph.into[:, ALONG].tolist(), graph.into[:, END].tolist())

    def property_number(self, property_: NamedNode) -> int:
        return self._concepts.property_number(property_)

    @cached_property
    def vertices(self) -> frozenset[int]:
        return frozenset(np.flatnonzero(self._graph.vertices[:, IS_VERTEX]).tolist())

    def _find_members(self, class_: NamedNode) -> frozenset[int]:
        bit = self._concepts.bit_of_class(class_)
        words = self._graph.bits[:, bit >> 6]
        return frozenset(np.flatnonzero(words >> np.uint64(bit & 63) & np.uint64(1)).tolist())

    def _own_classes(self, term: int) -> frozenset[NamedNode]:
        return own_classes(self._terms.term(term), self._hierarchy)


class NamedArcs(Arcs):
    """A named graph of the event, as it is stated. The numbers of its properties are those that they have as terms."""

    def __init__(self, graph: EventGraph, terms: Terms) -> None:
        super().__init__()
        self._graph = graph
        self._terms = terms
        self.property_term = int
        number = terms.number_of
        triples = [(number(each.subject), number(each.predicate), number(each.object)) for each in graph.triples]
        count = 1 + max((term for triple in triples for term in triple), default=-1)
        self.out = _direction(triples, count)
        self.into = _direction([(end, along, start) for start, along, end in triples], count)

    def property_number(self, property_: NamedNode) -> int:
        return self._terms.number_of(property_)

    @cached_property
    def vertices(self) -> frozenset[int]:
        return frozenset(map(self._terms.number_of, self._graph.vertices))

    def _find_members(self, class_: NamedNode) -> frozenset[int]:
        graph = self._graph
        terms = {*graph.vertices, *(triple.predicate for triple in graph.triples)}
        return frozenset(self._terms.number_of(term) for term in terms if class_ in graph.classes(term))

    def _own_classes(self, term: int) -> frozenset[NamedNode]:
        return self._graph.classes(self._terms.term(term))


def _direction(arcs: list[tuple[int, int, int]], count: int) -> Direction:
    starts = [0] * (count + 1)
    for start, _, _ in arcs:
        starts[start + 1] += 1
    for vertex in range(count):
        starts[vertex + 1] += starts[vertex]
    arcs = sorted(arcs)
    return Direction(starts, [along for _, along, _ in arcs], [end for _, _, end in arcs])
