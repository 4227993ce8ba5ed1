"""The spine of a query: its innermost pattern, and one step for each operator around it.

`Steps` evaluates a spine step by step: the solutions after one step are written out, and the next step is asked about
them alone. So it can be told which step left no solution, and what a solution was made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ontosub.matching.solutions import NOTHING, Solution, Solutions
from ontosub.model.algebra import (
    Basic,
    Extend,
    Filter,
    Grouping,
    Join,
    LeftJoin,
    Minus,
    Node,
    PathPattern,
    Selection,
    Unfolding,
    Values,
)
from ontosub.model.expression import Call, Exists, Expression, Function
from ontosub.model.terms import PatternTerm, Term, Variable
from ontosub.semantics.context import Context
from ontosub.semantics.event_graph import EventGraph

_ROW_BYTES, _CELL_BYTES = 300, 60
"""About what a solution takes, and each term in it."""


def below(node: Node) -> Node | None:
    """Return the next node of the spine inwards. What is computed in a row (BIND, SELECT … AS) is one step."""
    match node:
        case Join(left, _) | LeftJoin(left, _) | Minus(left, _):
            return left
        case Filter(pattern, _) | Grouping(pattern, _, _) | Selection(pattern):
            return pattern
        case Extend():
            inner: Node = node
            while isinstance(inner, Extend):
                inner = inner.pattern
            return inner
    return None


def spine(node: Node) -> list[Node]:
    """Return the nodes from the innermost pattern to this one; a filter for each condition, all of them the same."""
    found: list[Node] = []
    next_: Node | None = node
    while next_ is not None:
        if isinstance(next_, Filter) and len(next_.conditions) > 1:
            *first, last = next_.conditions
            next_ = Filter(Filter(next_.pattern, tuple(first)), (last,))
        found.append(next_)
        next_ = below(next_)
    return found[::-1]


def extensions(node: Extend) -> list[Extend]:
    """Return what is computed in one step, first to last."""
    found: list[Extend] = []
    inner: Node = node
    while isinstance(inner, Extend):
        found.append(inner)
        inner = inner.pattern
    return found[::-1]


def is_having(node: Filter) -> bool:
    """Say whether a filter is one of groups."""
    inner: Node = node
    while isinstance(inner, Filter):
        inner = inner.pattern
    return isinstance(inner, Grouping)


def exists_in(condition: Expression) -> tuple[Node, bool] | None:
    """Return the pattern of a condition that is EXISTS or NOT EXISTS, and whether it is negated."""
    is_negated = isinstance(condition, Call) and condition.function is Function.NOT
    inner = condition.arguments[0] if isinstance(condition, Call) and is_negated else condition
    return (inner.pattern, is_negated) if isinstance(inner, Exists) else None


def upon(node: Node, given: Values) -> Node:
    """Return a step of the spine with other solutions below it."""
    match node:
        case Join() | LeftJoin() | Minus():
            return replace(node, left=given)
        case Filter() | Grouping() | Selection():
            return replace(node, pattern=given)
        case Extend():
            found: Node = given
            for each in extensions(node):
                found = replace(each, pattern=found)
            return found
    raise AssertionError(node)


def written_out(solutions: Iterable[Solution]) -> Values:
    """Return solutions as a pattern that has just these. Blank nodes of patterns are among their keys."""
    rows = list(solutions)
    keys = tuple(dict.fromkeys(key for row in rows for key in row))
    return Values(keys, tuple(tuple(row.get(key) for key in keys) for row in rows))  # type: ignore[arg-type]


def part_of(solution: Solution, keys: Iterable[PatternTerm]) -> Solution:
    """Return what a solution says of some keys."""
    return {key: solution[key] for key in keys if key in solution}


def agree(one: Solution, other: Solution) -> bool:
    """Say whether two solutions are compatible."""
    return all(other.get(key, term) == term for key, term in one.items())


class Steps:
    """Evaluates steps on one graph. What they cost is spent from the budget of the context."""

    def __init__(self, graph: EventGraph, context: Context) -> None:
        self.context = replace(context, exists=self._exists)
        self._solutions = Solutions(graph, context)

    def of(self, node: Node, seen: Solution = NOTHING) -> Iterator[Solution]:
        """Yield the solutions of a node."""
        return self._solutions.of(node, seen)

    def first(self, node: Node, seen: Solution = NOTHING) -> Solution | None:
        """Return the first solution of a node, if it has one."""
        return next(self.of(node, seen), None)

    def levels(self, nodes: Sequence[Node]) -> list[list[Solution]]:
        """Return the solutions after each step of a spine."""
        levels = [self._kept(self.of(nodes[0]))]
        for node in nodes[1:]:
            levels.append(self.after(node, levels[-1]))
        return levels

    def after(self, node: Node, before: Iterable[Solution]) -> list[Solution]:
        """Return the solutions that a step makes of some."""
        return self._kept(self.of(upon(node, written_out(before))))

    def source(self, node: Node, before: list[Solution], result: Solution) -> Solution | None:
        """Return what a step made a solution of; None for the group of no solution."""
        if isinstance(node, Filter | Minus):
            return result
        if isinstance(node, Selection):
            return next(each for each in before if part_of(each, node.projection) == result)
        if isinstance(node, Grouping):
            keys = [variable for variable, _ in node.keys]
            group = part_of(result, keys)
            of_group = (each for each in before if part_of(self.after(node, [each])[0], keys) == group)
            return next(of_group, None)
        parts = (each for each in before if each.items() <= result.items())
        return next(each for each in parts if result in self.after(node, [each]))

    def taking(self, right: Node, solution: Solution) -> Solution:
        """Return what MINUS finds that takes a solution away."""
        seen = solution if isinstance(right, Basic | PathPattern | Unfolding) else NOTHING
        others = (each for each in self.of(right, seen) if agree(solution, each))
        return next(each for each in others if not solution.keys().isdisjoint(each))

    def _kept(self, solutions: Iterable[Solution]) -> list[Solution]:
        kept = []
        for solution in solutions:
            self.context.budget.hold(_ROW_BYTES + _CELL_BYTES * len(solution))
            kept.append(solution)
        return kept

    def _exists(self, asked: Exists, solution: Mapping[Variable, Term]) -> bool:
        return self.first(asked.pattern, dict(solution.items())) is not None
