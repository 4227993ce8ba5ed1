"""How badly a query can multiply: the combinations of triples that it goes through, and how its strings can grow.

Oxigraph cannot be stopped in the middle of an evaluation, so a query that would multiply beyond reason on an event must
be given up before it starts; and one that doubles a string again and again must not be taken in.

On an event, a join graph has no more solutions than the triples of its edges, multiplied. If that is too much already,
the combinations are counted. The edges are taken as trees, and each tree is gone through once, from the leaves to the
root: what a vertex can stand for multiplies, edge by edge, by all that there is at the other end. An edge never
divides, as if each were optional, because the order in which Oxigraph joins them is not known. An edge that closes a
circle could only divide, and is passed over. Trees that nothing connects multiply freely; what only an OPTIONAL
connects is not connected, and what hangs on another OPTIONAL may find nothing there to hang on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from math import prod
from typing import NamedTuple, TypeAlias

from ontosub.languages.sparql.syntax import Builtin, Occurrence, Query, walk
from ontosub.matching.class_tests import IsImplied
from ontosub.matching.join_graph import Closure, Edge, JoinGraph, Relation, Scope, join_graphs
from ontosub.model.pattern import is_constant
from ontosub.model.terms import Literal, NamedNode, PatternTerm, Term, Triple
from ontosub.semantics.event_graph import EventGraph

Weights: TypeAlias = dict[Term, int]
"""In how many ways each vertex of an event can be continued; one that is not listed, in one way."""


class Place(NamedTuple):
    """A vertex of the query, and the scope that binds it: two beside each other may bind it differently."""

    term: PatternTerm
    scope: Scope


class Link(NamedTuple):
    """An edge between places."""

    start: Place
    relation: Relation
    end: Place
    scope: Scope


def _links(edges: Sequence[Edge]) -> list[Link]:
    binding: dict[PatternTerm, set[Scope]] = defaultdict(set)
    for edge in edges:
        binding[edge.start].add(edge.scope)
        binding[edge.end].add(edge.scope)

    def place(term: PatternTerm, scope: Scope) -> Place:
        around = (scope[:depth] for depth in range(len(scope) + 1))
        return Place(term, next(outer for outer in around if outer in binding[term]))

    return [Link(place(e.start, e.scope), e.relation, place(e.end, e.scope), e.scope) for e in edges]


class Spread:
    """What a query joins, ready to be held against events."""

    def __init__(self, query: Query, is_implied: IsImplied) -> None:
        self._graphs = join_graphs(query, is_implied)

    def exceeds(self, most: int, graph: EventGraph) -> bool:
        """Say whether the query may go through more than so many combinations on the event graph."""
        relations = graph.once(Relations)
        if sum(_product(each, relations) for each in self._graphs) <= most:
            return False
        return sum(_combinations(each, relations) for each in self._graphs) > most


class Relations:
    """The triples of an event graph, and of the event's named graphs, as pairs of vertices for each property."""

    def __init__(self, graph: EventGraph) -> None:
        named = {quad.triple for quad in graph.event.named_graphs}
        self._by_property = {property_: list(triples) for property_, triples in graph.by_predicate.items()}
        for triple in named - graph.triples:
            self._by_property.setdefault(triple.predicate, []).append(triple)
        self._count = sum(map(len, self._by_property.values()))
        self._vertices = graph.vertices

    @cached_property
    def vertices(self) -> frozenset[Term]:
        """All that a variable can stand for at the end of an edge."""
        return self._vertices | _ends(self._triples(None))

    def count(self, relation: Relation) -> int:
        """Return how many pairs of vertices are related, or somewhat more."""
        if isinstance(relation, Closure):
            return len(self._touched(relation)) ** 2 + len(self.vertices)
        return self._count if relation is None else len(self._by_property.get(relation, ()))

    def continued(self, link: Link, backwards: bool, weights: Weights) -> Weights:
        """Return in how many ways a link leads on from each vertex that it starts at, weighted at the other end."""
        relation, start, end = link.relation, link.start.term, link.end.term
        start, end = (end, start) if backwards else (start, end)
        if isinstance(relation, Closure):
            return self._closed(start, relation, end, weights)
        ways: Weights = defaultdict(int)
        for triple in self._triples(relation):
            here, there = (triple.object, triple.subject) if backwards else (triple.subject, triple.object)
            if (not is_constant(start) or start == here) and (not is_constant(end) or end == there):
                ways[here] += weights.get(there, 1)
        return ways

    def _closed(self, start: PatternTerm, closure: Closure, end: PatternTerm, weights: Weights) -> Weights:
        """Do it for a path of any length, as if it led from each vertex that it can touch to every other."""
        touched = self._touched(closure)
        total = 1 if is_constant(end) else sum(weights.get(vertex, 1) for vertex in touched)
        ways = {vertex: total if vertex in touched else weights.get(vertex, 1) for vertex in self.vertices}
        return {start: ways.get(start, 1)} if is_constant(start) else ways

    def _touched(self, closure: Closure) -> frozenset[Term]:
        if closure.properties is None:
            return self.vertices
        return _ends(triple for each in closure.properties for triple in self._triples(each))

    def _triples(self, property_: NamedNode | None) -> Iterable[Triple]:
        if property_ is None:
            return chain.from_iterable(self._by_property.values())
        return self._by_property.get(property_, ())


def _ends(triples: Iterable[Triple]) -> frozenset[Term]:
    return frozenset(end for triple in triples for end in (triple.subject, triple.object))


def _product(graph: JoinGraph, relations: Relations) -> int:
    return graph.rows * prod(max(1, relations.count(edge.relation)) for edge in graph.edges)


def _combinations(graph: JoinGraph, relations: Relations) -> int:
    """Return how many combinations there are of what the trees of the graph go through."""
    trees = [_Tree(part, relations) for part in _parts(_links(graph.edges))]
    together = prod(tree.solutions for tree in trees)
    return graph.rows * max((together // tree.solutions * tree.most for tree in trees), default=1)


class _Part(NamedTuple):
    """Links that hang together: the `roots` are always there with each other, the others hang on them."""

    roots: list[Link]
    hanging: list[Link]
    places: set[Place]


def _parts(links: Iterable[Link]) -> list[_Part]:
    """Return the links in parts that multiply freely. A constant joins nothing."""
    parts: list[_Part] = []
    for group in _connected(links):
        ends = {place for link in group for place in (link.start, link.end)}
        part = next((part for part in parts if not part.places.isdisjoint(ends)), None)
        if part is None:
            parts.append(_Part(group, [], {place for link in group for place in _own(link)}))
        else:
            part.hanging.extend(group)
            part.places.update(place for link in group for place in _own(link))
    return parts


def _connected(links: Iterable[Link]) -> list[list[Link]]:
    """Return the links of each scope in groups that are connected inside of it, outer scopes first."""
    groups: list[tuple[set[Place], list[Link]]] = []
    for link in links:
        own = _own(link)
        joined = [group for group in groups if not group[0].isdisjoint(own)]
        groups = [group for group in groups if group[0].isdisjoint(own)]
        groups.append((own.union(*(ends for ends, _ in joined)), [*(each for _, g in joined for each in g), link]))
    return sorted((group for _, group in groups), key=lambda group: len(group[0].scope))


def _own(link: Link) -> set[Place]:
    """Return the ends that are bound in the scope of the link itself."""
    return {end for end in (link.start, link.end) if end.scope == link.scope and not is_constant(end.term)}


class _Tree:
    """A tree over the links of a part: its `solutions`, and the `most` that any of its links have together."""

    def __init__(self, part: _Part, relations: Relations) -> None:
        self._relations = relations
        self._waiting = [*part.roots, *part.hanging]
        self.most = 1
        root = min(part.roots, key=lambda link: sum(relations.continued(link, False, {}).values()))
        self._waiting.remove(root)
        self._reached = {root.start, root.end}
        starts, ends = self._below(root.start), {} if root.start == root.end else self._below(root.end)
        ways = relations.continued(root, False, ends)
        self.solutions = max(1, sum(count * starts.get(vertex, 1) for vertex, count in ways.items()))
        self.most = max(self.most, self.solutions)

    def _below(self, place: Place) -> Weights:
        """Return in how many ways each image of a place is continued by the links that nobody has followed yet."""
        result: Weights = {}
        while not is_constant(place.term) and (link := self._next(place)) is not None:
            self._waiting.remove(link)
            for image, count in self._beyond(link, place).items():
                result[image] = result.get(image, 1) * count
        self.most = max(self.most, sum(result.values()))
        return result

    def _next(self, place: Place) -> Link | None:
        return next((link for link in self._waiting if place in (link.start, link.end)), None)

    def _beyond(self, link: Link, place: Place) -> Weights:
        other = link.end if link.start == place else link.start
        # What an outer scope binds is found there, with or without this link.
        is_circle = not is_constant(other.term) and (other in self._reached or other.scope != link.scope)
        if is_circle and link.relation is not None:
            return {}
        if not is_circle:
            self._reached.add(other)
        return self._relations.continued(link, link.start != place, {} if is_circle else self._below(other))


GROWING = ("CONCAT", "REPLACE")
"""The functions that can make a string longer."""


def growth_of(query: Query) -> int:
    """Return by how much, at most, a chain of the query's string functions can lengthen a string."""
    growth = 1
    for call in walk(query):
        if isinstance(call, Builtin) and call.name in GROWING:
            growth *= max(1, len(call.arguments)) if call.name == "CONCAT" else _replacement_growth(call)
    return growth


def _replacement_growth(call: Builtin) -> int:
    """Return how long the replacement of one character can be; one that the query computes could be of any length."""
    replacement = call.arguments[2] if len(call.arguments) > 2 else None
    if isinstance(replacement, Occurrence) and isinstance(replacement.term, Literal):
        return max(1, len(replacement.term.value))
    return _UNKNOWN_LENGTH


_UNKNOWN_LENGTH = 100
