"""The oracle: the definition of a match, read aloud.

A pattern P matches the event graph E if there is a mapping μ from P's vertices to E's vertices such that a constant
maps to itself, every class asked of a vertex is among the classes of its image, every filter holds, and every arc
(u, p, v) has (μu, q, μv) in E for some q ⊑ p. E is closed under entailment, so q is p itself. An injective pattern
gives no two vertices the same image; a pattern with a home maps that vertex to the event's home.

Short, obvious and slow: every other matcher is held to what this module says. A subscriber's text is not trusted to be
reasonable, so a search that takes more steps than its budget is given up with a LimitError.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ontosub.model import Arc, GraphPattern
from ontosub.model.errors import LimitError
from ontosub.model.pattern import is_constant
from ontosub.model.terms import NamedNode, PatternTerm, Term, Triple, Variable
from ontosub.semantics.budget import Budget
from ontosub.semantics.context import Context
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.expressions import holds

Mu: TypeAlias = Mapping[PatternTerm, Term]
"""A mapping from a pattern's vertices, and its property variables, to terms of the event graph."""


NOTHING: Mu = {}

PARTS_MAX = 700
"""How many arcs and vertices a pattern may have: the search is a frame deep for each."""


def mappings(
    pattern: GraphPattern, graph: EventGraph, context: Context | None = None, start: Mu = NOTHING
) -> Iterator[Mu]:
    """Yield every mapping under which the pattern matches the event graph, each once.

    Only mappings that agree with `start` are looked for. What is spent is taken from the budget of the context.
    """
    context = Context() if context is None else context
    for mu in _Search(pattern, graph, context.budget, start).run():
        if all(holds(condition.expression, variables_in(mu), context) for condition in pattern.filters):
            yield mu


def variables_in(mu: Mu) -> dict[Variable, Term]:
    """Return the part of μ that filters can speak of."""
    return {term: image for term, image in mu.items() if isinstance(term, Variable)}


class _Search:
    """One search for mappings: arcs in turn, then the vertices that no arc touches."""

    def __init__(self, pattern: GraphPattern, graph: EventGraph, budget: Budget, start: Mu) -> None:
        if len(pattern.arcs) + len(pattern.vertices) > PARTS_MAX:
            raise LimitError(f"the pattern has more than {PARTS_MAX} arcs and vertices, too many for this search")
        self._graph = graph
        self._budget = budget
        self._injective = pattern.injective
        self._home = pattern.home
        self._arcs = _ordered(pattern)
        self._classes = {vertex.term: vertex.classes for vertex in pattern.vertices}
        if pattern.home is not None:
            self._classes.setdefault(pattern.home, frozenset())
        self._start = start

    def run(self) -> Iterator[Mu]:
        start = self._started()
        if start is not None:
            for mu in self._match_arcs(start, 0):
                yield from self._match_vertices(mu, [term for term in self._classes if term not in mu])

    def _started(self) -> Mu | None:
        """Return the mapping to start with: the home, and what is given of the vertices and properties of arcs."""
        mu: Mu | None = {}
        if self._home is not None:
            mu = self._map({}, self._home, self._graph.home)
        ends = {term for arc in self._arcs for term in (arc.subject, arc.property, arc.object)}
        for term in ends & self._start.keys():
            mu = mu if mu is None else self._map(mu, term, self._start[term])
        return mu

    def _match_arcs(self, mu: Mu, position: int) -> Iterator[Mu]:
        if position == len(self._arcs):
            yield mu
            return
        arc = self._arcs[position]
        for triple in self._candidates(arc, mu):
            self._budget.spend()
            extended = self._match_arc(mu, arc, triple)
            if extended is not None:
                yield from self._match_arcs(extended, position + 1)

    def _match_arc(self, mu: Mu, arc: Arc, triple: Triple) -> Mu | None:
        extended = self._map(mu, arc.subject, triple.subject)
        extended = None if extended is None else self._map_property(extended, arc.property, triple.predicate)
        return None if extended is None else self._map(extended, arc.object, triple.object)

    def _match_vertices(self, mu: Mu, terms: list[PatternTerm]) -> Iterator[Mu]:
        if not terms:
            yield mu
            return
        # What is given must still be a vertex of the graph.
        given = self._start.get(terms[0])
        for image in self._graph.vertices if given is None else {given} & self._graph.vertices:
            self._budget.spend()
            extended = self._map(mu, terms[0], image)
            if extended is not None:
                yield from self._match_vertices(extended, terms[1:])

    def _map(self, mu: Mu, term: PatternTerm, image: Term | None) -> Mu | None:
        """Return μ with term ↦ image, or None when the definition forbids it."""
        if image is None or (is_constant(term) and term != image):
            return None
        if term in mu:
            return mu if mu[term] == image else None
        if not self._classes.get(term, frozenset()) <= self._graph.classes(image):
            return None
        if self._injective and any(image == other for vertex, other in mu.items() if vertex in self._classes):
            return None
        return {**mu, term: image}

    def _map_property(self, mu: Mu, property_: NamedNode | Variable, image: NamedNode) -> Mu | None:
        if isinstance(property_, NamedNode):
            return mu if property_ == image else None
        if property_ in self._classes:
            return self._map(mu, property_, image)
        return {**mu, property_: image} if mu.get(property_, image) == image else None

    def _candidates(self, arc: Arc, mu: Mu) -> list[Triple]:
        """Return the triples that could be the arc's image: the shortest list that an index offers."""
        graph = self._graph
        offers = [graph.by_predicate.get(arc.property, [])] if isinstance(arc.property, NamedNode) else []
        if (subject := image_of(arc.subject, mu)) is not None:
            offers.append(graph.by_subject.get(subject, []))
        if (object_ := image_of(arc.object, mu)) is not None:
            offers.append(graph.by_object.get(object_, []))
        return min(offers, key=len) if offers else list(graph.triples)


def image_of(term: PatternTerm, mu: Mu) -> Term | None:
    """Return what the term stands for under μ: a constant for itself; None while it is not mapped."""
    return term if is_constant(term) else mu.get(term)


def _ordered(pattern: GraphPattern) -> list[Arc]:
    """Return the arcs so that each touches, where possible, a vertex that is known by then."""
    known: set[PatternTerm | None] = {pattern.home, *(v.term for v in pattern.vertices if is_constant(v.term))}
    waiting, ordered = list(pattern.arcs), []
    while waiting:
        arc = max(waiting, key=lambda arc: (arc.subject in known) + (arc.object in known))
        waiting.remove(arc)
        ordered.append(arc)
        known |= {arc.subject, arc.object}
    return ordered
