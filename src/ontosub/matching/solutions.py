"""The oracle for queries: SPARQL's algebra over an event graph, read aloud (SPARQL 1.1, section 18.5).

`Solutions` evaluates a node from the bottom up, one solution at a time. Short, obvious and slow: the compiled matcher
is held to what this module says.

EXISTS evaluates its pattern for one solution of the pattern around it, whose values the inner pattern *sees*: they are
put in the place of its variables, in triples, paths, filters and expressions, as section 18.6 says. The variables
themselves stay in the inner solutions, so that MINUS inside EXISTS can share them. A sub-select sees the values of
what it projects. What a node sees is its `seen`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from typing import TypeAlias

from ontosub.matching.definition import mappings, variables_in
from ontosub.matching.paths import Paths
from ontosub.model.algebra import (
    Aggregation,
    Basic,
    Extend,
    Filter,
    Grouping,
    Join,
    LeftJoin,
    Minus,
    Named,
    Node,
    PathPattern,
    Selection,
    Unfolding,
    Union,
    Values,
    extended_in,
)
from ontosub.model.expression import Exists, Expression
from ontosub.model.pattern import Filter as Condition
from ontosub.model.pattern import is_constant
from ontosub.model.terms import Literal, NamedNode, PatternTerm, Term, Triple, Variable
from ontosub.semantics.aggregates import aggregate
from ontosub.semantics.budget import Budget
from ontosub.semantics.context import Context
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.expressions import evaluate, holds
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.ordering import sort_key, value_key

Solution: TypeAlias = Mapping[PatternTerm, Term]
"""What variables, and blank nodes of patterns, are bound to."""

NOTHING: Solution = {}

_ROW_BYTES, _CELL_BYTES = 300, 60
"""About what a solution takes, and each term in it."""


class Solutions:
    """Evaluates nodes of the algebra on one event graph; the context counts what that costs."""

    def __init__(self, graph: EventGraph, context: Context) -> None:
        self._graph = graph
        self._context = replace(context, exists=self._exists)
        self._paths = Paths(graph, context.budget)

    def of(self, node: Node, seen: Solution = NOTHING) -> Iterator[Solution]:
        """Yield the solutions of a node, as often as it has them."""
        for solution in self._of(node, seen):
            self._context.budget.spend()
            yield solution

    def _of(self, node: Node, seen: Solution) -> Iterator[Solution]:
        match node:
            case Basic(pattern):
                for mu in mappings(pattern, self._graph, self._context, seen):
                    yield {term: image for term, image in mu.items() if not is_constant(term)}
            case PathPattern(subject, path, object_):
                for start, end in self._paths.pairs(path, _value(subject, seen), _value(object_, seen)):
                    yield from _unified(((subject, start), (object_, end)))
            case Unfolding():
                yield from _unfolded(node, seen)
            case Join(left, right):
                matching = self._matching(right, seen)
                for solution in self.of(left, seen):
                    yield from ({**solution, **other} for other in matching.to(solution))
            case LeftJoin(left, right, conditions):
                yield from self._left_join(left, right, conditions, seen)
            case Union(branches):
                for branch in branches:
                    yield from self.of(branch, seen)
            case Minus(left, right):
                matching = self._matching(right, seen)
                for solution in self.of(left, seen):
                    if not any(not solution.keys().isdisjoint(other) for other in matching.to(solution)):
                        yield solution
            case Filter(pattern, conditions):
                yield from (each for each in self.of(pattern, seen) if self._hold_all(conditions, each, seen))
            case Extend(pattern, variable, expression):
                yield from self._extended(pattern, variable, expression, seen)
            case Values(variables, rows):
                for row in rows:
                    solution = {v: term for v, term in zip(variables, row, strict=True) if term is not None}
                    if _agree(solution, seen):
                        yield solution
            case Named(name, pattern):
                yield from self._named(name, pattern, seen)
            case Grouping(pattern, keys, aggregations):
                yield from self._groups(pattern, keys, aggregations, seen)
            case Selection():
                yield from self._selected(node, {v: seen[v] for v in node.projection if v in seen})

    def _left_join(
        self, left: Node, right: Node, conditions: tuple[Condition, ...], seen: Solution
    ) -> Iterator[Solution]:
        matching = self._matching(right, seen)
        for solution in self.of(left, seen):
            found = False
            for other in matching.to(solution):
                merged = {**solution, **other}
                if self._hold_all(conditions, merged, seen):
                    found = True
                    yield merged
            if not found:
                yield solution

    def _matching(self, node: Node, seen: Solution) -> _Looked | _Held:
        """Return how to find the solutions of a node that are compatible with others."""
        if isinstance(node, Basic | PathPattern | Unfolding):
            return _Looked(self, node, seen)
        return _Held(self._kept(self.of(node, seen)), self._context.budget)

    def _extended(
        self, pattern: Node, variable: Variable, expression: Expression, seen: Solution
    ) -> Iterator[Solution]:
        computed = extended_in(pattern)
        for solution in self.of(pattern, seen):
            value = self._evaluate(expression, {**seen, **solution}, without=computed)
            extended = solution if value is None else {**solution, variable: value}
            if _agree(extended, seen):
                yield extended

    def _named(self, name: NamedNode | Variable, pattern: Node, seen: Solution) -> Iterator[Solution]:
        named = self._graph.named
        for graph_name in named if isinstance(name, Variable) else [name] if name in named else []:
            self._context.budget.spend()
            inside = Solutions(named[graph_name], self._context)
            for solution in inside.of(pattern, seen):
                merged = {**solution, name: graph_name} if isinstance(name, Variable) else solution
                if _agree(merged, solution) and _agree(merged, seen):
                    yield merged

    def _groups(
        self,
        pattern: Node,
        keys: tuple[tuple[Variable, Expression], ...],
        aggregations: tuple[Aggregation, ...],
        seen: Solution,
    ) -> Iterator[Solution]:
        groups: dict[tuple[Term | None, ...], list[Solution]] = {} if keys else {(): []}
        for solution in self._kept(self.of(pattern, seen)):
            key = tuple(self._evaluate(expression, {**seen, **solution}) for _, expression in keys)
            groups.setdefault(key, []).append(solution)
        for key, members in groups.items():
            group: dict[PatternTerm, Term] = {
                v: term for (v, _), term in zip(keys, key, strict=True) if term is not None
            }
            for each in aggregations:
                value = self._aggregate(each, members, seen)
                if value is not None:
                    group[each.variable] = value
            yield group

    def _aggregate(self, aggregation: Aggregation, members: list[Solution], seen: Solution) -> Term | None:
        if aggregation.argument is None:
            rows = [frozenset((v, t) for v, t in each.items() if isinstance(v, Variable)) for each in members]
            return Literal(len(set(rows)) if aggregation.distinct else len(rows))
        argument = aggregation.argument
        terms = (self._evaluate(argument, {**seen, **solution}) for solution in members)
        try:
            return aggregate(
                aggregation.name,
                terms,
                self._context.budget,
                distinct=aggregation.distinct,
                separator=aggregation.separator,
            )
        except ExpressionError:
            return None

    def _selected(self, node: Selection, seen: Solution) -> Iterator[Solution]:
        solutions: Iterable[Solution] = self.of(node.pattern, seen)
        if node.order or node.is_cut:
            solutions = self._sorted(node, self._kept(solutions), seen)
        projected: Iterator[Solution] = ({v: each[v] for v in node.projection if v in each} for each in solutions)
        if node.distinct:
            projected = self._once(projected)
        for place, solution in enumerate(projected):
            if node.limit is not None and place >= node.offset + node.limit:
                return
            if place >= node.offset:
                yield solution

    def _sorted(self, node: Selection, solutions: list[Solution], seen: Solution) -> list[Solution]:
        """Return the solutions in order. A later sort keeps the order of an earlier one where it sees ties."""
        if node.is_cut:
            solutions = sorted(solutions, key=lambda each: [sort_key(each.get(v)) for v in node.projection])
        for key in reversed(node.order):
            solutions = sorted(
                solutions,
                key=lambda each: value_key(self._evaluate(key.expression, {**seen, **each})),
                reverse=key.descending,
            )
        return solutions

    def _once(self, solutions: Iterable[Solution]) -> Iterator[Solution]:
        found: set[frozenset[tuple[PatternTerm, Term]]] = set()
        for solution in solutions:
            key = frozenset(solution.items())
            if key not in found:
                self._hold(solution)
                found.add(key)
                yield solution

    def _kept(self, solutions: Iterable[Solution]) -> list[Solution]:
        kept = []
        for solution in solutions:
            self._hold(solution)
            kept.append(solution)
        return kept

    def _hold(self, solution: Solution) -> None:
        self._context.budget.hold(_ROW_BYTES + _CELL_BYTES * len(solution))

    def _hold_all(self, conditions: Iterable[Condition], solution: Solution, seen: Solution) -> bool:
        binding = variables_in({**seen, **solution})
        return all(holds(condition.expression, binding, self._context) for condition in conditions)

    def _evaluate(
        self, expression: Expression, solution: Solution, without: Set[Variable] = frozenset()
    ) -> Term | None:
        """Return the value of an expression, or None when it has none.

        BNODE and the like belong to the solution as it was `without` what was computed since.
        """
        binding = variables_in(solution)
        given = {v: term for v, term in binding.items() if v not in without} if without else binding
        try:
            return evaluate(expression, binding, self._context, solution=given)
        except ExpressionError:
            return None

    def _exists(self, asked: Exists, solution: Mapping[Variable, Term]) -> bool:
        seen: dict[PatternTerm, Term] = {v: term for v, term in solution.items()}  # noqa: C416 - keys of another type
        return next(self.of(asked.pattern, seen), None) is not None


class _Looked:
    """The solutions of a plain pattern, looked for anew for each solution that they must agree with."""

    def __init__(self, solutions: Solutions, node: Node, seen: Solution) -> None:
        self._solutions = solutions
        self._node = node
        self._seen = seen

    def to(self, solution: Solution) -> Iterator[Solution]:
        """Yield those that are compatible with a solution."""
        return self._solutions.of(self._node, {**self._seen, **solution})


class _Held:
    """Solutions that are kept, to be compared with others."""

    def __init__(self, solutions: list[Solution], budget: Budget) -> None:
        self._solutions = solutions
        self._budget = budget
        self._always = frozenset(solutions[0]).intersection(*solutions[1:]) if solutions else frozenset()
        self._by: dict[frozenset[PatternTerm], dict[frozenset[object], list[Solution]]] = {}

    def to(self, solution: Solution) -> Iterator[Solution]:
        """Yield those that are compatible with a solution: bound alike in what both bind."""
        shared = frozenset(term for term in self._always if term in solution)
        if shared not in self._by:
            self._by[shared] = self._grouped(shared)
        for other in self._by[shared].get(frozenset((v, solution[v]) for v in shared), ()):
            self._budget.spend()
            if _agree(other, solution):
                yield other

    def _grouped(self, shared: frozenset[PatternTerm]) -> dict[frozenset[object], list[Solution]]:
        groups: dict[frozenset[object], list[Solution]] = {}
        for solution in self._solutions:
            self._budget.spend()
            groups.setdefault(frozenset((v, solution[v]) for v in shared), []).append(solution)
        return groups


def _agree(one: Solution, other: Solution) -> bool:
    """Say whether two solutions are compatible."""
    return all(other.get(term, image) == image for term, image in one.items())


def _value(term: PatternTerm, seen: Solution) -> Term | None:
    return term if is_constant(term) else seen.get(term)


def _unified(pairs: Iterable[tuple[PatternTerm, Term]]) -> Iterator[Solution]:
    """Yield the solution in which each pattern term is what it is paired with, if there is one."""
    found: dict[PatternTerm, Term] = {}
    for term, image in pairs:
        if (term if is_constant(term) else found.setdefault(term, image)) != image:
            return
    yield found


def _unfolded(node: Unfolding, seen: Solution) -> Iterator[Solution]:
    whole = _value(node.term, seen)
    if isinstance(whole, Triple):
        parts = ((node.subject, whole.subject), (node.predicate, whole.predicate), (node.object, whole.object))
        for solution in _unified(((node.term, whole), *parts)):
            if _agree(solution, seen):
                yield solution
