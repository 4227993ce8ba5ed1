"""SPARQL's aggregates, of the terms that an expression denotes in the solutions of a group (SPARQL 1.1, 18.5.1).

A term of None is an error: the expression denotes nothing in that solution. COUNT and SAMPLE leave errors out; to all
others one error is an error of the whole. What the order of solutions could change is taken in the order of terms: the
sum of floats, the texts of GROUP_CONCAT, and which term SAMPLE chooses, which is the least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial, reduce

from ontosub.model.terms import Literal, Term
from ontosub.semantics import numeric
from ontosub.semantics.arguments import number
from ontosub.semantics.budget import Budget
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.numeric import Number, NumericType
from ontosub.semantics.ordering import sort_key
from ontosub.semantics.term_functions import text
from ontosub.semantics.values import literal_of, size_of

SEPARATOR = " "
"""What GROUP_CONCAT sets between texts, unless it is told otherwise."""

_ZERO = Number(NumericType.INTEGER, 0)


def aggregate(
    name: str,
    terms: Iterable[Term | None],
    budget: Budget,
    *,
    distinct: bool = False,
    separator: str | None = None,
) -> Term:
    """Return the aggregate of terms; `name` is COUNT, SUM, AVG, MIN, MAX, SAMPLE or GROUP_CONCAT.

    With `distinct`, each term counts once; `separator` is for GROUP_CONCAT. COUNT(*) is no matter of terms: it counts
    solutions. Raises ExpressionError when it has no value, and LimitError when the budget does not suffice.
    """
    group = _read(terms, budget)
    if distinct:
        group = list(dict.fromkeys(group))
    if name == "GROUP_CONCAT":
        return _concatenation(group, budget, SEPARATOR if separator is None else separator)
    return _AGGREGATES[name](group)


def _read(terms: Iterable[Term | None], budget: Budget) -> list[Term | None]:
    group: list[Term | None] = []
    for term in terms:
        budget.read(0 if term is None else size_of(term))
        group.append(term)
    return group


def _whole(group: list[Term | None]) -> list[Term]:
    """Return the terms, when none of them is an error."""
    terms = [term for term in group if term is not None]
    if len(terms) < len(group):
        raise ExpressionError("the expression has no value in one of the solutions")
    return terms


def _count(group: list[Term | None]) -> Literal:
    return literal_of(Number(NumericType.INTEGER, sum(term is not None for term in group)))


def _sum(group: list[Term | None]) -> Number:
    return reduce(numeric.add, map(number, sorted(_whole(group), key=sort_key)), _ZERO)


def _average(group: list[Term | None]) -> Literal:
    size = Number(NumericType.INTEGER, len(group))
    return literal_of(numeric.divide(_sum(group), size) if group else _ZERO)


def _extreme(choose: Callable[..., Term], group: list[Term | None]) -> Term:
    if not group:
        raise ExpressionError("an empty group has neither a least nor a greatest value")
    return choose(_whole(group), key=sort_key)


def _sample(group: list[Term | None]) -> Term:
    return _extreme(min, [term for term in group if term is not None])


def _concatenation(group: list[Term | None], budget: Budget, separator: str) -> Literal:
    """Return the texts of the terms behind each other, without a language."""
    terms = sorted(_whole(group), key=sort_key)
    budget.hold(sum(map(size_of, terms)) + len(separator) * len(terms))
    return Literal(separator.join([text(term).value for term in terms]))


_AGGREGATES: Mapping[str, Callable[[list[Term | None]], Term]] = {
    "COUNT": _count,
    "SUM": lambda group: literal_of(_sum(group)),
    "AVG": _average,
    "MIN": partial(_extreme, min),
    "MAX": partial(_extreme, max),
    "SAMPLE": _sample,
}
