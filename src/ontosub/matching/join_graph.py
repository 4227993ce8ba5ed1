"""What a query joins, as a graph of its own: vertices, and edges that each stand for the triples of a property.

UNIONs and alternatives of paths are distributed; what OPTIONAL and EXISTS ask for need not be there; filters are left
out. So a join graph has at least as many solutions as the part of the query that it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count, product
from typing import NamedTuple, TypeAlias

from ontosub.languages.sparql.syntax import (
    Alternative,
    Block,
    Exclusion,
    Exists,
    Expression,
    Filter,
    Graph,
    Group,
    Inverse,
    Minus,
    Occurrence,
    Optional,
    Path,
    Pattern,
    Query,
    Repetition,
    Select,
    Sequence,
    TriplePattern,
    TripleTerm,
    Union,
    Values,
    is_grouped,
    operands_of,
    walk,
)
from ontosub.matching.class_tests import IsImplied, implied_class
from ontosub.model.terms import BlankNode, NamedNode, PatternTerm

ALTERNATIVES_MAX = 256
"""How many join graphs are told apart; beyond, alternatives count as if they could all be there."""


class Closure(NamedTuple):
    """A path of any length over these properties, or over all of them if they are None. Of length 0, it stays."""

    properties: frozenset[NamedNode] | None


Relation: TypeAlias = NamedNode | Closure | None
"""A property, any property (None), or a path."""


Scope: TypeAlias = tuple[int, ...]
"""What need not be there has a scope of its own: the numbers of all that it stands in, the outermost first."""


class Edge(NamedTuple):
    """Two vertices of a query, and what relates them."""

    start: PatternTerm
    relation: Relation
    end: PatternTerm
    scope: Scope = ()


@dataclass(frozen=True, slots=True)
class JoinGraph:
    """Edges that all hold together; `rows` is by how much inline data multiplies their solutions."""

    edges: tuple[Edge, ...] = ()
    rows: int = 1

    def joined(self, other: JoinGraph) -> JoinGraph:
        """Return the graph of both."""
        return JoinGraph(self.edges + other.edges, self.rows * other.rows)

    def inside(self, number: int) -> JoinGraph:
        """Return the graph as one that need not be there."""
        return JoinGraph(tuple(edge._replace(scope=(number, *edge.scope)) for edge in self.edges), self.rows)


def join_graphs(query: Query, is_implied: IsImplied) -> list[JoinGraph]:
    """Return a join graph for each alternative of the query, and of the parts that it evaluates by themselves."""
    reading = _Reading(is_implied)
    alone: list[Pattern] = [node.pattern for node in walk(query) if isinstance(node, Minus)]
    alone += [node.where for node in walk(query) if isinstance(node, Select) and _is_one_row(node)]
    whole = [] if query.where is None else _crossed([reading.pattern(query.where), reading.values(query.values)])
    return [*whole, *chain.from_iterable(map(reading.group_of, alone))]


def _is_one_row(select: Select) -> bool:
    return is_grouped(select) and not select.modifiers.group_by


class _Reading:
    """Reads one query; fresh blank nodes stand between the steps of a path."""

    def __init__(self, is_implied: IsImplied) -> None:
        self._is_implied = is_implied
        self._fresh = (BlankNode(f"ontosub-step-{number}") for number in count())
        self._scopes = count()

    def pattern(self, pattern: Pattern) -> list[JoinGraph]:
        """Return the alternatives of a pattern inside another one."""
        return [JoinGraph()] if isinstance(pattern, Select) and _is_one_row(pattern) else self.group_of(pattern)

    def group_of(self, pattern: Pattern) -> list[JoinGraph]:
        """Return the alternatives of what a pattern joins."""
        if isinstance(pattern, Select):
            return _crossed([self.pattern(pattern.where), self.values(pattern.values)])
        return _crossed(chain.from_iterable(map(self._element, pattern.elements)))

    def values(self, values: Values | None) -> list[JoinGraph]:
        """Return what inline data multiplies by."""
        return [JoinGraph(rows=max(1, len(values.rows)))] if values is not None else [JoinGraph()]

    def _element(self, element: object) -> Iterator[list[JoinGraph]]:
        match element:
            case Block(triples):
                yield from map(self._triple, triples)
            case Filter(expression):
                yield from (self._inside(test.pattern) for test in _tests(expression))
            case Optional(pattern):
                yield self._inside(pattern)
            case Graph(pattern=pattern):
                yield self.pattern(pattern)
            case Union(branches):
                yield [each for branch in branches for each in self.pattern(branch)]
            case Values():
                yield self.values(element)
            case Group() | Select():
                yield self.pattern(element)

    def _inside(self, pattern: Pattern) -> list[JoinGraph]:
        number = next(self._scopes)
        return [each.inside(number) for each in self.pattern(pattern)]

    def _triple(self, triple: TriplePattern) -> list[JoinGraph]:
        if implied_class(triple, self._is_implied):
            vertex = self._end(triple.subject)
            return [JoinGraph((Edge(vertex, Closure(frozenset()), vertex),))]
        return self._path(self._end(triple.subject), triple.verb, self._end(triple.object))

    def _end(self, end: Occurrence) -> PatternTerm:
        """Return the vertex at one end of a triple. A triple term with variables is one that nothing else joins."""
        return next(self._fresh) if isinstance(end.term, TripleTerm) else end.term

    def _path(self, start: PatternTerm, path: Path, end: PatternTerm) -> list[JoinGraph]:
        match path:
            case Occurrence(term):
                return [JoinGraph((Edge(start, term if isinstance(term, NamedNode) else None, end),))]
            case Inverse(inner):
                return self._path(end, inner, start)
            case Alternative(choices):
                return [each for choice in choices for each in self._path(start, choice, end)]
            case Sequence(steps):
                ends = [start, *(next(self._fresh) for _ in steps[1:]), end]
                return _crossed(self._path(ends[at], step, ends[at + 1]) for at, step in enumerate(steps))
            case Repetition():
                return [JoinGraph((Edge(start, Closure(_properties(path)), end),))]
            case Exclusion(excluded):
                directions = {isinstance(each, Inverse) for each in excluded}
                return [JoinGraph((Edge(end, None, start) if back else Edge(start, None, end),)) for back in directions]


def _tests(expression: Expression) -> Iterator[Exists]:
    """Yield the patterns that an expression asks for, but not those inside them."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Exists):
            yield node
        waiting.extend(operands_of(node))


def _properties(path: Path) -> frozenset[NamedNode] | None:
    nodes = list(walk(path))
    if any(isinstance(node, Exclusion) for node in nodes):
        return None
    return frozenset(node.term for node in nodes if isinstance(node, Occurrence) and isinstance(node.term, NamedNode))


def _crossed(parts: Iterable[list[JoinGraph]]) -> list[JoinGraph]:
    """Return every combination of one alternative from each part."""
    found = [JoinGraph()]
    for part in parts:
        if len(found) * len(part) > ALTERNATIVES_MAX:
            part = [_together(part)]
        found = [each.joined(other) for each, other in product(found, part)]
    return found


def _together(alternatives: Iterable[JoinGraph]) -> JoinGraph:
    """Return all alternatives in one graph, each in a scope: it has at least the solutions of any of them."""
    result = JoinGraph()
    for number, each in enumerate(alternatives, 1):
        result = result.joined(each.inside(-number))
    return result
