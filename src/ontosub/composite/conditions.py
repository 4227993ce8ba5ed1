"""Conditions on answers, and aggregates over the answers of many instances; filters mean what they mean in SPARQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from ontosub.composite.instance import Instance, Row, Rows
from ontosub.composite.terms import term_of
from ontosub.model.composite import Aggregate, AggregateFunction
from ontosub.model.pattern import Filter
from ontosub.model.terms import Literal, Term, Variable
from ontosub.semantics import arithmetic, comparison
from ontosub.semantics.expressions import holds
from ontosub.semantics.faults import ExpressionError


class Conditions:
    """The conditions of an operator: those answers pass for which all of them hold."""

    __slots__ = ("_filters",)

    def __init__(self, where: Iterable[Filter]) -> None:
        self._filters = [(each.expression, [(v, v.value) for v in sorted(each.variables, key=str)]) for each in where]

    def __bool__(self) -> bool:
        return bool(self._filters)

    def holding(self, rows: Rows) -> Rows:
        """Return the answers that pass."""
        return tuple([row for row in rows if self._hold(row)]) if self._filters else rows

    def _hold(self, row: Row) -> bool:
        for expression, variables in self._filters:
            assignment: dict[Variable, Term] = {v: term_of(row[name]) for v, name in variables if name in row}
            if not holds(expression, assignment):
                return False
        return True


def aggregated(aggregates: Iterable[Aggregate], members: Sequence[Instance]) -> Row:
    """Return what the aggregates bind. One without a value, as the average of no numbers, binds nothing."""
    row: Row = {}
    for aggregate in aggregates:
        value = _aggregate(aggregate, members)
        if value is not None:
            row[aggregate.name] = str(value)
    return row


def _aggregate(aggregate: Aggregate, members: Sequence[Instance]) -> Term | None:
    if aggregate.function is AggregateFunction.COUNT:
        return Literal(len(members))
    name = aggregate.variable or ""
    values = [term_of(row[name]) for member in members for row in member.rows if name in row]
    try:
        return _computed(aggregate.function, values) if values else None
    except ExpressionError:
        return None


def _computed(function: AggregateFunction, values: list[Term]) -> Term:
    match function:
        case AggregateFunction.MIN:
            return reduce(lambda least, value: value if _less(value, least) else least, values)
        case AggregateFunction.MAX:
            return reduce(lambda most, value: value if _less(most, value) else most, values)
    total = reduce(arithmetic.add, values, Literal(0))
    return total if function is AggregateFunction.SUM else arithmetic.divide(total, Literal(len(values)))


def _less(left: Term, right: Term) -> bool:
    return comparison.order(left, right) == -1
