"""A graph as queries see it: arcs in both directions and the classes of vertices, as arrays that joins read.

An arc leads along a property, whose number is no term's. The arcs of a vertex are sorted by property and other end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.events.concepts import Concepts
from ontosub.matching.compiled.events.graph import ALONG, END, IS_VERTEX, Graph
from ontosub.matching.compiled.queries.terms import Terms
from ontosub.model.terms import NamedNode
from ontosub.semantics.event_graph import EventGraph, own_classes
from ontosub.semantics.hierarchy import Hierarchy

Array = NDArray[Any]


class Arcs(ABC):
    """A graph. `bits` has the classes of each vertex that queries ask for; `is_vertex` says which terms are vertices.

    What a variable that no arc touches may stand for is a vertex.
    """

    concepts: Concepts
    out_from: Array
    out_arcs: Array
    in_from: Array
    in_arcs: Array
    bits: Array
    is_vertex: Array

    @abstractmethod
    def has_class(self, term: int, class_: NamedNode) -> bool:
        """Say whether a term that is no vertex of the graph has a class."""

    @cached_property
    def by_property(self) -> Array:
        """All arcs, sorted by property: property, subject, object."""
        subjects = np.repeat(np.arange(len(self.out_from) - 1, dtype=np.int32), np.diff(self.out_from))
        arcs = np.column_stack((self.out_arcs[:, ALONG], subjects, self.out_arcs[:, END]))
        return np.ascontiguousarray(arcs[np.argsort(arcs[:, 0], kind="stable")], np.int32)

    @cached_property
    def ends(self) -> Array:
        """All subjects and objects, between which a path of no length leads."""
        return np.flatnonzero((np.diff(self.out_from) > 0) | (np.diff(self.in_from) > 0)).astype(np.int32)


class EventArcs(Arcs):
    """Event graphs, closed under the ontology, as the index has them: side by side, without an arc between them."""

    def __init__(self, graphs: Sequence[Graph], concepts: Concepts, terms: Terms, hierarchy: Hierarchy) -> None:
        self.concepts = concepts
        self._hierarchy = hierarchy
        self._terms = terms
        self.out_from, self.out_arcs = self._joined(
            [graph.out_from for graph in graphs], [graph.out for graph in graphs]
        )
        self.in_from, self.in_arcs = self._joined([graph.in_from for graph in graphs], [graph.into for graph in graphs])
        self.bits = _concatenated([graph.bits for graph in graphs])
        self.is_vertex = _concatenated([graph.vertices for graph in graphs])[:, IS_VERTEX] != 0

    def _joined(self, starts: list[Array], arcs: list[Array]) -> tuple[Array, Array]:
        if len(arcs) == 1:
            return starts[0], arcs[0]
        before = [0, *accumulate(map(len, arcs))]
        moved = [each[:-1] + first for each, first in zip(starts, before, strict=False)]
        table = np.concatenate(arcs)
        table[:, END] += np.repeat(np.array(self._terms.firsts, np.int32), [len(each) for each in arcs])
        return np.concatenate([*moved, np.array(before[-1:])]), table

    def has_class(self, term: int, class_: NamedNode) -> bool:
        return class_ in own_classes(self._terms.term(term), self._hierarchy)


def _concatenated(arrays: list[Array]) -> Array:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


class NamedArcs(Arcs):
    """A named graph of the only event, as it is stated."""

    def __init__(self, graph: EventGraph, terms: Terms, concepts: Concepts) -> None:
        self.concepts = concepts
        self._graph = graph
        self._terms = terms
        number = partial(terms.number_of, 0)
        self._properties: dict[NamedNode, int] = {}
        triples = [
            (number(each.subject), self._property(each.predicate), number(each.object)) for each in graph.triples
        ]
        named = {number(term): term for term in {*graph.vertices, *(triple.predicate for triple in graph.triples)}}
        count = 1 + max([*named, *(end for start, _, other in triples for end in (start, other))], default=-1)
        self.out_from, self.out_arcs = _direction(triples, count)
        self.in_from, self.in_arcs = _direction([(end, along, start) for start, along, end in triples], count)
        self.is_vertex = np.zeros(count, np.bool_)
        self.is_vertex[[number(each) for each in graph.vertices]] = True
        self.bits = np.zeros((count, concepts.tables.words), np.uint64)
        for vertex, term in named.items():
            for bit in concepts.bits_among(graph.classes(term)).tolist():
                self.bits[vertex, bit >> 6] |= np.uint64(1 << (bit & 63))

    def _property(self, property_: NamedNode) -> int:
        """Return the number of a property: the one that the index has for it, else one behind all of these."""
        known = self.concepts.properties_among([property_])
        if len(known):
            return int(known[0])
        return self._properties.setdefault(property_, self.concepts.properties_count + len(self._properties))

    def has_class(self, term: int, class_: NamedNode) -> bool:
        return class_ in self._graph.classes(self._terms.term(term))

    @cached_property
    def property_terms(self) -> Array:
        unknown = {number: property_ for property_, number in self._properties.items()}
        number_of, known = self._terms.number_of, self.concepts.property_at
        return property_terms(
            self.out_arcs, lambda number: number_of(0, unknown[number] if number in unknown else known(number))
        )


def property_terms(arcs: Array, number_of: Callable[[int], int]) -> Array:
    """Return the numbers, as terms, of the properties that arcs lead along, by their numbers as properties."""
    used = np.unique(arcs[:, ALONG])
    terms = np.full(1 + (int(used[-1]) if len(used) else -1), -1, np.int32)
    terms[used] = [number_of(each) for each in used.tolist()]
    return terms


def _direction(arcs: list[tuple[int, int, int]], count: int) -> tuple[Array, Array]:
    table = np.array(sorted(arcs), np.int32).reshape(len(arcs), 3)
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(table[:, 0], minlength=count), out=starts[1:])
    return starts, np.ascontiguousarray(table[:, 1:])
