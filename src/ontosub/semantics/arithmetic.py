"""SPARQL's `+`, `-`, `*` and `/` between terms.

SPARQL 1.1 defines them for numbers. As its section 17.3.1 allows, and as XPath does, `+` and `-` also work on moments
and durations: `?end - ?start` is a duration, `?start + "PT1H"^^xsd:dayTimeDuration` a moment.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ontosub.model.terms import XSD, Literal, Term
from ontosub.semantics import durations, moments, numeric
from ontosub.semantics.arguments import literal, number, plain_text
from ontosub.semantics.durations import Duration
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.moments import Moment
from ontosub.semantics.numeric import Number, NumericType, parse_numeral
from ontosub.semantics.values import Value, literal_of, number_of, value_of


def _value(term: Term) -> Value | None:
    return value_of(term) if isinstance(term, Literal) else None


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
    return literal_of(numeric.multiply(number(left), number(right)))


def divide(left: Term, right: Term) -> Literal:
    """Return `left / right`, of two numbers."""
    return literal_of(numeric.divide(number(left), number(right)))


def negate(term: Term) -> Literal:
    """Return `-term`, of a number or a duration."""
    value = _value(term)
    if isinstance(value, Duration):
        return literal_of(durations.negate(value))
    return literal_of(numeric.negate(number(term)))


def plus(term: Term) -> Literal:
    """Return `+term`: the number or duration itself, canonically written."""
    value = _value(term)
    return literal_of(value if isinstance(value, Duration) else number(term))


def absolute(term: Term) -> Literal:
    """Return `ABS(term)`, of a number."""
    return literal_of(numeric.absolute(number(term)))


def ceiling(term: Term) -> Literal:
    """Return `CEIL(term)`: the least whole number that is not below it, in its type."""
    return literal_of(numeric.whole(number(term), math.ceil))


def floor(term: Term) -> Literal:
    """Return `FLOOR(term)`: the greatest whole number that is not above it, in its type."""
    return literal_of(numeric.whole(number(term), math.floor))


def rounded(term: Term) -> Literal:
    """Return `ROUND(term)`: the nearest whole number, in its type; of two that are as near, the greater one."""
    return literal_of(numeric.whole(number(term), _nearest))


def _nearest(value: numeric.Real) -> int:
    return math.floor(Fraction(value) + Fraction(1, 2))


_NUMERALS = {
    NumericType.INTEGER: XSD["integer"],
    NumericType.DECIMAL: XSD["decimal"],
    NumericType.DOUBLE: XSD["double"],
}


def spelled_number(term: Term) -> Literal:
    """Return a numeric literal as it is, and of a plain string the number that it spells."""
    spelled = literal(term)
    if number_of(spelled) is not None:
        return spelled
    text = plain_text(spelled).strip()
    kind = parse_numeral(text)
    if kind is None:
        raise ExpressionError("the string does not spell a number")
    return Literal(text, datatype=_NUMERALS[kind])
