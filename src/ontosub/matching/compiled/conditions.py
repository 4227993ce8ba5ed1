"""Filters as an index can use them: pins, thresholds, and what is left for Python.

A filter is a conjunction. A part that says a variable is a certain IRI or string *pins* it; a part that compares one
variable with a number or a zoned dateTime is a *threshold*, found by binary search; every other part is evaluated by
`ontosub.semantics.expressions` on the few candidates that pass the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ontosub.matching.compiled import literals
from ontosub.model import Filter
from ontosub.model.expression import Call, Expression, Function
from ontosub.model.terms import XSD, Literal, NamedNode, PatternTerm, Term, Variable

BELOW, AT_MOST, ABOVE, AT_LEAST, EQUAL = range(5)
"""What a threshold says of the value: < ≤ > ≥ =."""

SPELLED = 4
"""A kind of value beside those of `literals`: a number, or a plain string that spells one (MDV)."""

_COMPARISONS = {
    Function.LESS: BELOW,
    Function.LESS_OR_EQUAL: AT_MOST,
    Function.GREATER: ABOVE,
    Function.GREATER_OR_EQUAL: AT_LEAST,
    Function.EQUAL: EQUAL,
}
_MIRRORED = {BELOW: ABOVE, AT_MOST: AT_LEAST, ABOVE: BELOW, AT_LEAST: AT_MOST, EQUAL: EQUAL}


class Threshold(NamedTuple):
    """A comparison of a variable's value with a fixed one."""

    variable: Variable
    comparison: int
    value_kind: int
    value: float


@dataclass(slots=True)
class Conditions:
    """The filters of a pattern, sorted by who decides them."""

    pins: dict[PatternTerm, Term] = field(default_factory=dict)
    thresholds: list[Threshold] = field(default_factory=list)
    left: list[Expression] = field(default_factory=list)


def sort_conditions(filters: Iterable[Filter], vertices: frozenset[Variable]) -> Conditions:
    """Sort the filters of a pattern; `vertices` are the variables that stand for vertices."""
    conditions = Conditions()
    for part in (part for condition in filters for part in _conjuncts(condition.expression)):
        pin, threshold = _pin(part), _threshold(part)
        if pin is not None and pin[0] in vertices and pin[0] not in conditions.pins:
            conditions.pins[pin[0]] = pin[1]
        elif threshold is not None and threshold.variable in vertices:
            conditions.thresholds.append(threshold)
        else:
            conditions.left.append(part)
    return conditions


def _conjuncts(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call) and expression.function is Function.AND:
        for argument in expression.arguments:
            yield from _conjuncts(argument)
    else:
        yield expression


def _pin(part: Expression) -> tuple[Variable, Term] | None:
    """Return the variable and term of `?v = term`, where equality means being the same term."""
    if not isinstance(part, Call) or part.function not in (Function.EQUAL, Function.SAME_TERM):
        return None
    first, second = part.arguments
    if isinstance(second, Variable):
        first, second = second, first
    if not isinstance(first, Variable) or not isinstance(second, NamedNode | Literal):
        return None
    is_exact = part.function is Function.SAME_TERM or isinstance(second, NamedNode) or second.datatype == XSD["string"]
    return (first, second) if is_exact else None


def _threshold(part: Expression) -> Threshold | None:
    if not isinstance(part, Call) or part.function not in _COMPARISONS:
        return None
    first, second = part.arguments
    comparison = _COMPARISONS[part.function]
    if isinstance(first, Literal):
        first, second, comparison = second, first, _MIRRORED[comparison]
    if not isinstance(second, Literal):
        return None
    kind, value = value_of(second)
    if isinstance(first, Call) and first.function is Function.NUMBER and kind == literals.NUMBER:
        (first,) = first.arguments
        kind = SPELLED
    if isinstance(first, Variable) and kind in (literals.NUMBER, literals.MOMENT, SPELLED):
        return Threshold(first, comparison, kind, value)
    return None


def value_of(literal: Literal) -> tuple[int, float]:
    """Return the kind of value and the value that kernels know of a literal."""
    data = np.frombuffer(str(literal).encode(), np.uint8)
    kind, value, _, _ = literals.value_of(data, 0, len(data))
    return int(kind), float(value)
