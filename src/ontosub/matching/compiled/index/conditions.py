"""Filters as an index can use them.

A filter is a conjunction. A part of it that says a variable is a certain IRI or string *pins* it; parts that compare a
variable with numbers, moments or booleans make a *box*, the range in which its value must lie; a part that asks
something else of one term may be an *atom* (`atoms`); a part that compares two variables is a *pair*; one that says
what a variable is not, an *exclusion*. A list of equals (IN) makes several *ways* of matching. Every other part is
evaluated by `ontosub.semantics.expressions` on the few candidates that pass the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from math import inf, nextafter
from typing import TypeAlias

import numpy as np

from ontosub.matching.compiled.events import literals
from ontosub.model import Filter
from ontosub.model.expression import Call, Expression, Function
from ontosub.model.terms import XSD, Literal, NamedNode, PatternTerm, Term, Variable

BELOW, AT_MOST, EQUAL, DIFFERENT, SAME = range(5)
"""What a pair says of two values: < ≤ = ≠, and being the same term."""

SPELLED = 16
"""A kind of value beside those of `literals`: a number, or a plain string that spells one (MDV)."""

WAYS_MAX = 64
"""Into how many ways lists of equals are multiplied out; those of a large pattern into fewer: each way is as large as
the pattern."""

_PAIRS = {
    Function.LESS: (BELOW, False),
    Function.LESS_OR_EQUAL: (AT_MOST, False),
    Function.GREATER: (BELOW, True),
    Function.GREATER_OR_EQUAL: (AT_MOST, True),
    Function.EQUAL: (EQUAL, False),
    Function.NOT_EQUAL: (DIFFERENT, False),
    Function.SAME_TERM: (SAME, False),
}
_MIRRORED = {
    Function.LESS: Function.GREATER,
    Function.LESS_OR_EQUAL: Function.GREATER_OR_EQUAL,
    Function.GREATER: Function.LESS,
    Function.GREATER_OR_EQUAL: Function.LESS_OR_EQUAL,
    Function.EQUAL: Function.EQUAL,
    Function.NOT_EQUAL: Function.NOT_EQUAL,
}

Box: TypeAlias = tuple[float, float]
AtomNumber: TypeAlias = Callable[[Expression], tuple[Variable, int] | None]


@dataclass(slots=True)
class Way:
    """One way of satisfying the filters of a pattern. What is `left`, Python decides."""

    pins: dict[PatternTerm, Term] = field(default_factory=dict)
    boxes: dict[tuple[Variable, int], Box] = field(default_factory=dict)
    atoms: list[tuple[Variable, int]] = field(default_factory=list)
    pairs: list[tuple[int, Variable, Variable]] = field(default_factory=list)
    excluded: list[tuple[Variable, NamedNode]] = field(default_factory=list)
    excluded_values: list[tuple[Variable, int, float]] = field(default_factory=list)
    left: bool = False

    def equal(self, variable: Variable, constant: Term) -> bool:
        """Demand that the variable equals the constant, if that can be said here."""
        if variable not in self.pins and _is_pin(constant):
            self.pins[variable] = constant
            return True
        return self.limit(variable, Function.EQUAL, constant)

    def limit(self, expression: Expression, function: Function, constant: Term) -> bool:
        """Demand that a value lies on one side of a constant, if that can be said here."""
        if not isinstance(constant, Literal):
            return False
        kind, value = value_of(constant)
        if isinstance(expression, Call) and expression.function is Function.NUMBER and kind == literals.NUMBER:
            (expression,) = expression.arguments
            kind = SPELLED
        if not isinstance(expression, Variable) or kind not in _BOXED:
            return False
        low, high = self.boxes.get((expression, kind), (-inf, inf))
        least, greatest = _box(function, value)
        self.boxes[expression, kind] = max(low, least), min(high, greatest)
        return True

    def exclude(self, variable: Variable, constant: Term) -> bool:
        """Demand that the variable does not equal the constant, if that can be said here."""
        if isinstance(constant, NamedNode):
            self.excluded.append((variable, constant))
            return True
        kind, value = value_of(constant) if isinstance(constant, Literal) else (literals.NO_VALUE, 0.0)
        if kind not in _BOXED:
            return False
        self.excluded_values.append((variable, kind, value))
        return True


def ways_of(
    filters: Iterable[Filter], vertices: frozenset[Variable], atom: AtomNumber, most: int = WAYS_MAX
) -> list[Way]:
    """Return the ways of satisfying the filters of a pattern; `vertices` are the variables that stand for vertices.

    What would make more ways than `most` is left to Python.
    """
    way = Way()
    lists: list[tuple[Variable, list[Term]]] = []
    for part in (part for condition in filters for part in _conjuncts(condition.expression)):
        listed = _list_of_equals(part)
        if listed is not None and listed[0] in vertices:
            lists.append(listed)
        elif not _say(way, part, vertices, atom):
            way.left = True
    return _multiplied(way, lists, most)


def _say(way: Way, part: Expression, vertices: frozenset[Variable], atom: AtomNumber) -> bool:
    """Demand a part of a filter in a way, if that is possible."""
    if not isinstance(part, Call):
        return False
    function = part.function
    if function in _PAIRS:
        first, second = part.arguments
        if isinstance(first, Variable) and isinstance(second, Variable):
            if first not in vertices or second not in vertices:
                return False
            comparison, turned = _PAIRS[function]
            way.pairs.append((comparison, second, first) if turned else (comparison, first, second))
            return True
        if isinstance(first, NamedNode | Literal) and function in _MIRRORED:
            first, second, function = second, first, _MIRRORED[function]
        if _subject(first) in vertices and isinstance(second, NamedNode | Literal):
            if function is Function.SAME_TERM:
                return isinstance(first, Variable) and _pinned(way, first, second)
            if function is Function.NOT_EQUAL:
                return isinstance(first, Variable) and way.exclude(first, second)
            if way.limit(first, function, second):
                return True
    if function is Function.NOT_IN:
        variable, *members = part.arguments
        if isinstance(variable, Variable) and variable in vertices:
            return all(isinstance(each, NamedNode) and way.exclude(variable, each) for each in members)
    found = atom(part)
    if found is not None and found[0] in vertices:
        way.atoms.append(found)
        return True
    return False


def _pinned(way: Way, variable: Variable, constant: Term) -> bool:
    return way.pins.setdefault(variable, constant) == constant


def _subject(expression: Expression) -> Expression:
    """Return what a comparison is about: inside MDV's reading of a value, the variable."""
    if isinstance(expression, Call) and expression.function is Function.NUMBER:
        return expression.arguments[0]
    return expression


def _conjuncts(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call) and expression.function is Function.AND:
        for argument in expression.arguments:
            yield from _conjuncts(argument)
    else:
        yield expression


def _list_of_equals(part: Expression) -> tuple[Variable, list[Term]] | None:
    """Return the variable and the constants of `?v IN (…)`, or of equalities of one variable joined by ||."""
    if not isinstance(part, Call):
        return None
    if part.function is Function.IN:
        variable, *members = part.arguments
        if isinstance(variable, Variable) and all(isinstance(each, NamedNode | Literal) for each in members):
            return variable, members
    if part.function is Function.OR:
        lists = [_list_of_equals(each) for each in part.arguments]
        variables = {each[0] for each in lists if each is not None}
        if len(variables) == 1 and None not in lists:
            return variables.pop(), [member for each in lists if each is not None for member in each[1]]
    if part.function is Function.EQUAL:
        first, second = part.arguments
        if isinstance(second, Variable):
            first, second = second, first
        if isinstance(first, Variable) and isinstance(second, NamedNode | Literal):
            return first, [second]
    return None


def _multiplied(way: Way, lists: list[tuple[Variable, list[Term]]], most: int) -> list[Way]:
    """Return a way for each combination of list members; lists that cannot be said are left to Python."""
    choices: list[list[tuple[Variable, Term]]] = []
    count = 1
    for variable, members in sorted(lists, key=lambda each: len(each[1])):
        distinct = _distinct(members)
        if distinct is None or count * len(distinct) > most:
            way.left = True
        else:
            choices.append([(variable, member) for member in distinct])
            count *= len(distinct)
    ways = []
    for combination in product(*choices):
        one = replace(way, pins=dict(way.pins), boxes=dict(way.boxes))
        for variable, member in combination:
            one.left |= not one.equal(variable, member)
        ways.append(one)
    return ways


def _distinct(members: list[Term]) -> list[Term] | None:
    """Return the constants of a list, those that are equal once; None when one cannot be pinned or put in a box."""
    found: dict[object, Term] = {}
    for member in members:
        kind, value = value_of(member) if isinstance(member, Literal) else (literals.NO_VALUE, 0.0)
        if not _is_pin(member) and kind not in _BOXED:
            return None
        found.setdefault((kind, value) if kind in _BOXED else member, member)
    return list(found.values())


def _is_pin(constant: Term) -> bool:
    """Say whether being equal to the constant means being the same term."""
    return isinstance(constant, NamedNode) or (isinstance(constant, Literal) and constant.datatype == XSD["string"])


def _box(function: Function, value: float) -> Box:
    match function:
        case Function.LESS:
            return -inf, nextafter(value, -inf)
        case Function.LESS_OR_EQUAL:
            return -inf, value
        case Function.GREATER:
            return nextafter(value, inf), inf
        case Function.GREATER_OR_EQUAL:
            return value, inf
    return value, value


_BOXED = {
    literals.NUMBER,
    literals.MOMENT,
    literals.BOOLEAN,
    literals.LOCAL_MOMENT,
    literals.DATE,
    SPELLED,
}


@lru_cache(maxsize=10_000)
def value_of(literal: Literal) -> tuple[int, float]:
    """Return the kind of value and the value that kernels know of a literal."""
    data = np.frombuffer(str(literal).encode(), np.uint8)
    kind, value, _, _ = literals.value_of(data, 0, len(data))
    return int(kind), float(value)
