"""SPARQL's `=` and `<` between terms.

Equality goes by value where both values are known; values of different kinds are different. A literal without a known
value equals itself, and nothing can be said of it and another literal. Beyond the operators of SPARQL 1.1, dates,
times, partial dates, durations and strings in the same language have an order too, as its section 17.3.1 allows.
"""

from __future__ import annotations

from ontosub.model.terms import Literal, Term, Triple
from ontosub.semantics import durations, moments, numeric
from ontosub.semantics.durations import Duration
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.moments import Moment
from ontosub.semantics.numeric import Number
from ontosub.semantics.values import LanguageString, Value, value_of


def equal(left: Term, right: Term) -> bool:
    """Say whether `left = right`; raises ExpressionError when it cannot be known."""
    if isinstance(left, Literal) and isinstance(right, Literal):
        return _equal_literals(left, right)
    if isinstance(left, Triple) and isinstance(right, Triple):
        same = left.subject == right.subject and left.predicate == right.predicate
        return same and equal(left.object, right.object)
    return left == right


def _equal_literals(left: Literal, right: Literal) -> bool:
    first, second = value_of(left), value_of(right)
    if first is not None and second is not None:
        return _equal_values(first, second)
    if left == right:
        return True
    if isinstance(first, LanguageString) or isinstance(second, LanguageString):
        return False  # no other datatype has a language
    raise ExpressionError("a value is not known")


def _equal_values(left: Value, right: Value) -> bool:
    match left, right:
        case Number(), Number():
            return numeric.order(left, right) == 0
        case Moment(), Moment():
            return left.datatype == right.datatype and moments.equal(left, right)
        case Duration(), Duration():
            return durations.equal(left, right)
    return type(left) is type(right) and left == right


def order(left: Term, right: Term) -> int | None:
    """Return -1, 0 or 1 as `left` is smaller, equal or larger; None when one of them is NaN.

    Raises ExpressionError when the terms have no order.
    """
    if isinstance(left, Literal) and isinstance(right, Literal):
        first, second = value_of(left), value_of(right)
        if first is not None and second is not None:
            return _order_values(first, second)
    raise ExpressionError("the terms have no order")


def _order_values(left: Value, right: Value) -> int | None:
    match left, right:
        case Number(), Number():
            return numeric.order(left, right)
        case Moment(), Moment() if left.datatype == right.datatype:
            return moments.order(left, right)
        case Duration(), Duration():
            return durations.order(left, right)
        case str(), str():
            return (left > right) - (left < right)
        case bool(), bool():
            return left - right
        case LanguageString(), LanguageString() if _same_language(left, right):
            return (left.value > right.value) - (left.value < right.value)
    raise ExpressionError("the values have no order")


def _same_language(left: LanguageString, right: LanguageString) -> bool:
    return (left.language, left.direction) == (right.language, right.direction)
