"""SPARQL's `+`, `-`, `*` and `/` between terms.

SPARQL 1.1 defines them for numbers. As its section 17.3.1 allows, and as XPath does, `+` and `-` also work on moments
and durations: `?end - ?start` is a duration, `?start + "PT1H"^^xsd:dayTimeDuration` a moment.
"""

from __future__ import annotations

from ontosub.model.terms import Literal, Term
from ontosub.semantics import durations, moments, numeric
from ontosub.semantics.durations import Duration
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.moments import Moment
from ontosub.semantics.numeric import Number
from ontosub.semantics.values import Value, literal_of, value_of


def _value(term: Term) -> Value | None:
    return value_of(term) if isinstance(term, Literal) else None


def _number(term: Term) -> Number:
    value = _value(term)
    if not isinstance(value, Number):
        raise ExpressionError("a number was expected")
    return value


def add(left: Term, right: Term) -> Literal:
    """Return `left + right`."""
    match _value(left), _value(right):
        case Number() as first, Number() as second:
            return literal_of(numeric.add(first, second))
        case (Moment() as moment, Duration() as duration) | (Duration() as duration, Moment() as moment):
            return literal_of(moments.shift(moment, duration))
        case Duration() as first, Duration() as second:
            return literal_of(durations.add(first, second))
    raise ExpressionError("the values cannot be added")


def subtract(left: Term, right: Term) -> Literal:
    """Return `left - right`."""
    match _value(left), _value(right):
        case Number() as first, Number() as second:
            return literal_of(numeric.subtract(first, second))
        case Moment() as later, Moment() as earlier:
            return literal_of(moments.difference(later, earlier))
        case Moment() as moment, Duration() as duration:
            return literal_of(moments.shift(moment, durations.negate(duration)))
        case Duration() as first, Duration() as second:
            return literal_of(durations.add(first, durations.negate(second)))
    raise ExpressionError("the values cannot be subtracted")


def multiply(left: Term, right: Term) -> Literal:
    """Return `left * right`, of two numbers."""
    return literal_of(numeric.multiply(_number(left), _number(right)))


def divide(left: Term, right: Term) -> Literal:
    """Return `left / right`, of two numbers."""
    return literal_of(numeric.divide(_number(left), _number(right)))


def negate(term: Term) -> Literal:
    """Return `-term`, of a number or a duration."""
    value = _value(term)
    if isinstance(value, Duration):
        return literal_of(durations.negate(value))
    return literal_of(numeric.negate(_number(term)))


def plus(term: Term) -> Literal:
    """Return `+term`: the number or duration itself, canonically written."""
    value = _value(term)
    return literal_of(value if isinstance(value, Duration) else _number(term))


def absolute(term: Term) -> Literal:
    """Return `ABS(term)`, of a number."""
    return literal_of(numeric.absolute(_number(term)))
