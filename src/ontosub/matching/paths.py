"""Property paths over an event graph: the pairs of vertices that a path joins (SPARQL 1.1, section 18.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ontosub.model.algebra import Alternative, Exclusion, Inverse, Path, Repetition, Sequence, Step
from ontosub.model.terms import NamedNode, Term, Triple
from ontosub.semantics.budget import Budget
from ontosub.semantics.event_graph import EventGraph

_Ends: TypeAlias = frozenset[Term]

_END_BYTES = 80
"""About what it takes to remember one end of a path."""


class Paths:
    """The paths of one event graph. What a path reaches from a vertex is remembered."""

    def __init__(self, graph: EventGraph, budget: Budget) -> None:
        self._graph = graph
        self._budget = budget
        self._reached: dict[tuple[Path, bool, Term], _Ends] = {}

    def pairs(self, path: Path, start: Term | None, end: Term | None) -> Iterator[tuple[Term, Term]]:
        """Yield the pairs that a path joins, from and to the given vertices where they are given.

        An exclusion joins two vertices as often as there are triples for it, a repetition once.
        """
        if isinstance(path, Exclusion):
            yield from self._excluding(path, start, end)
        elif start is not None:
            yield from ((start, other) for other in self._ends(path, start, False) if end is None or other == end)
        elif end is not None:
            yield from ((other, end) for other in self._ends(path, end, True))
        else:
            for vertex in self._vertices():
                yield from ((vertex, other) for other in self._ends(path, vertex, False))

    def _vertices(self) -> Iterable[Term]:
        """Return all subjects and objects, between which a path of no length leads."""
        return dict.fromkeys((*self._graph.by_subject, *self._graph.by_object))

    def _excluding(self, path: Exclusion, start: Term | None, end: Term | None) -> Iterator[tuple[Term, Term]]:
        if path.forwards is not None:
            for triple in self._triples(start, end):
                if triple.predicate not in path.forwards:
                    yield triple.subject, triple.object
        if path.backwards is not None:
            for triple in self._triples(end, start):
                if triple.predicate not in path.backwards:
                    yield triple.object, triple.subject

    def _triples(self, subject: Term | None, object_: Term | None) -> Iterator[Triple]:
        graph = self._graph
        if subject is not None:
            found: Iterable[Triple] = graph.by_subject.get(subject, ())
        else:
            found = graph.triples if object_ is None else graph.by_object.get(object_, ())
        for triple in found:
            self._budget.spend()
            if object_ is None or triple.object == object_:
                yield triple

    def _ends(self, path: Path, vertex: Term, backwards: bool) -> _Ends:
        """Return the vertices that a path joins with this one, which is its end if it is walked backwards."""
        key = path, backwards, vertex
        if key not in self._reached:
            found = frozenset(self._walk(path, vertex, backwards))
            self._budget.hold(_END_BYTES * (1 + len(found)))
            self._reached[key] = found
        return self._reached[key]

    def _walk(self, path: Path, vertex: Term, backwards: bool) -> Iterable[Term]:
        match path:
            case Step(property_):
                return self._neighbours(vertex, property_, backwards)
            case Inverse(inner):
                return self._ends(inner, vertex, not backwards)
            case Alternative(choices):
                return (other for choice in choices for other in self._ends(choice, vertex, backwards))
            case Sequence(steps):
                reached: set[Term] = {vertex}
                for step in reversed(steps) if backwards else steps:
                    reached = self._next(step, reached, backwards)
                return reached
            case Repetition():
                return self._repeated(path, vertex, backwards)
            case Exclusion():
                pairs = self._excluding(path, *((None, vertex) if backwards else (vertex, None)))
                return (one if backwards else other for one, other in pairs)

    def _next(self, path: Path, vertices: Iterable[Term], backwards: bool) -> set[Term]:
        found: set[Term] = set()
        for vertex in vertices:
            ends = self._ends(path, vertex, backwards)
            self._budget.spend(1 + len(ends))
            found |= ends
        return found

    def _repeated(self, path: Repetition, vertex: Term, backwards: bool) -> set[Term]:
        reached = self._next(path.path, [vertex], backwards)
        if path.open:
            waiting = reached
            while waiting:
                waiting = self._next(path.path, waiting, backwards) - reached
                reached |= waiting
        return reached | {vertex} if path.least == 0 else reached

    def _neighbours(self, vertex: Term, property_: NamedNode, backwards: bool) -> Iterator[Term]:
        triples = self._graph.by_object if backwards else self._graph.by_subject
        for triple in triples.get(vertex, ()):
            self._budget.spend()
            if triple.predicate == property_:
                yield triple.subject if backwards else triple.object
