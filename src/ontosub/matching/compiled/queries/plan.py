"""A query made ready to be answered on events in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ontosub.matching.compiled.queries.operators import Core, selection
from ontosub.matching.compiled.queries.rows import Facts, Row, Run, Scope
from ontosub.matching.compiled.queries.terms import UNBOUND
from ontosub.model import Binding, GraphPattern
from ontosub.model.algebra import Basic, Extend, Filter, Grouping, Join, LeftJoin, Minus, Node, Query, Values
from ontosub.model.expression import Expression
from ontosub.semantics.context import Context


class Plan:
    """The operators of a query. Nothing in it belongs to an event.

    Where the `core`, which the index looks for, is the first pattern of the query, its mappings may be given to
    `answers`.
    """

    def __init__(self, query: Query, core: GraphPattern | None = None) -> None:
        self.query = query
        self._scope = Scope()
        chosen, first = query.selection, None
        if core is not None and (node := first_pattern(chosen.pattern)) is not None:
            first = Core(node, core.filters)
            known = frozenset(condition.expression for condition in core.filters)
            chosen = replace(chosen, pattern=_without(chosen.pattern, known))
        self._selected = selection(chosen, self._scope, first)
        self._names = [variable.value for variable in query.selection.projection]

    def answers(self, facts: Facts, context: Context, core: list[Row] | None = None) -> Iterator[Binding]:
        """Yield the answers to the query; `core` are the mappings of its core, if they are known.

        Raises LimitError when the budget of the context is spent.
        """
        terms, names = facts.terms, self._names
        term = terms.term
        for values in self._selected(Run(facts, facts.arcs, context, self._scope.unit(terms), core)):
            if UNBOUND in values:
                yield Binding([(n, term(value)) for n, value in zip(names, values, strict=True) if value != UNBOUND])
            else:
                yield Binding(zip(names, map(term, values), strict=True))


def starts_with(query: Query, patterns: Iterable[GraphPattern]) -> bool:
    """Say whether the core of a query is one pattern, and the first one that the query looks for."""
    first = first_pattern(query.selection.pattern)
    (core, *others) = patterns
    return first is not None and not others and _asks_the_same(first.pattern, core)


def first_pattern(node: Node) -> Basic | None:
    """Return the plain pattern from which all solutions of a node come."""
    while not isinstance(node, Basic):
        match node:
            case Filter(pattern) | Extend(pattern) | Grouping(pattern) | Join(Values(), pattern):
                node = pattern
            case Join(left) | LeftJoin(left) | Minus(left):
                node = left
            case _:
                return None
    return node


def _asks_the_same(one: GraphPattern, other: GraphPattern) -> bool:
    return {*one.vertices} == {*other.vertices} and {*one.arcs} == {*other.arcs}


def _without(node: Any, known: frozenset[Expression]) -> Any:
    """Return the node that starts with its core, without the conditions that hold of all mappings of it."""
    match node:
        case Filter(pattern, conditions):
            left = tuple(each for each in conditions if each.expression not in known)
            inner = _without(pattern, known)
            return Filter(inner, left) if left else inner
        case Extend(pattern) | Grouping(pattern):
            return replace(node, pattern=_without(pattern, known))
        case Join(Values() as given, right):
            return Join(_without(right, known), given)
        case Join(left) | LeftJoin(left) | Minus(left):
            return replace(node, left=_without(left, known))
    return node
