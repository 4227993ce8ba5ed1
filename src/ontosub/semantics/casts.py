"""Casts: the literal of another datatype that stands for the value of a term (SPARQL 1.1, section 17.5; XPath).

A string is read as the text of a literal. A number, a boolean, a moment and a duration become what XPath makes of them.
The result is spelled canonically. A cast to xsd:string takes any IRI or literal: it gives the canonical text of a
value, and the text as it is written where there is none.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from ontosub.model.terms import XSD, Literal, NamedNode, Term
from ontosub.semantics.durations import DAY_TIME, DURATION, YEAR_MONTH, Duration
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.moments import DATE, DATE_TIME, MOMENT_TYPES, TIME, Moment
from ontosub.semantics.numeric import Number, NumericType, exact, is_zero_or_nan, number_text, xpath_text
from ontosub.semantics.values import Value, is_numeric_type, literal_of, value_of

_STRING = XSD["string"]
_BOOLEAN = XSD["boolean"]
_BINARY = frozenset({XSD["float"], XSD["double"]})
_DURATIONS = frozenset({DURATION, YEAR_MONTH, DAY_TIME})


def cast(datatype: NamedNode, term: Term) -> Literal:
    """Return the literal of the datatype that the term becomes.

    Raises ExpressionError when it becomes none: its text does not belong to the datatype, or its value is too large.
    """
    if datatype == _STRING:
        return Literal(_text(term))
    if not isinstance(term, Literal):
        raise ExpressionError("only a literal can be cast to another datatype than xsd:string")
    value = value_of(term)
    text = value if isinstance(value, str) else _text_of(datatype, value)
    return _read(datatype, text)


def _text(term: Term) -> str:
    """Return what xsd:string makes of a term."""
    if not isinstance(term, NamedNode | Literal):
        raise ExpressionError("only IRIs and literals have a text")
    match value_of(term) if isinstance(term, Literal) else None:
        case Number() as number:
            return xpath_text(number)
        case bool() | Moment() | Duration() as value:
            return literal_of(value).value
    return term.value


def _read(datatype: NamedNode, text: str) -> Literal:
    """Return the canonical literal of a text."""
    value = value_of(Literal(text, datatype=datatype))
    if value is None:
        raise ExpressionError("the text does not belong to the datatype")
    # A type derived from xsd:integer counts as xsd:integer, but is what was asked for.
    return Literal(literal_of(value).value, datatype=datatype)


def _text_of(datatype: NamedNode, value: Value | None) -> str:
    """Return the text of a value in another datatype."""
    match value:
        case Number():
            return _number_text(datatype, value)
        case bool():
            if datatype == _BOOLEAN:
                return str(value).lower()
            if is_numeric_type(datatype):
                return str(int(value))
        case Moment() if datatype in MOMENT_TYPES:
            return literal_of(_moment(datatype, value)).value
        case Duration() if datatype in _DURATIONS:
            return literal_of(_duration(datatype, value)).value
    raise ExpressionError("the value cannot be cast to the datatype")


def _number_text(datatype: NamedNode, number: Number) -> str:
    if datatype == _BOOLEAN:
        return "false" if is_zero_or_nan(number) else "true"
    if datatype in _BINARY:
        # A double holds every float as it is: it must not be read from the float's shorter text.
        return number_text(number if isinstance(number.value, int) else Number(NumericType.DOUBLE, number.value))
    if not is_numeric_type(datatype):
        raise ExpressionError("a number cannot be cast to the datatype")
    value = exact(number)
    if datatype != XSD["decimal"]:
        value = Decimal(math.trunc(value))
    return number_text(Number(NumericType.DECIMAL, value))


def _moment(datatype: NamedNode, moment: Moment) -> Moment:
    """Return the fields of a moment that a type has. A date begins at midnight; nothing else is made up."""
    if datatype == moment.datatype:
        return moment
    if moment.datatype not in (DATE_TIME, DATE) or (datatype == TIME and moment.datatype == DATE):
        raise ExpressionError("the moment lacks what the datatype needs")
    has_clock = datatype in (DATE_TIME, TIME)
    return Moment(
        datatype,
        moment.year if datatype in _WITH_YEAR else None,
        moment.month if datatype in _WITH_MONTH else None,
        moment.day if datatype in _WITH_DAY else None,
        (moment.hour or 0) if has_clock else None,
        (moment.minute or 0) if has_clock else None,
        (moment.second or Fraction(0)) if has_clock else None,
        moment.zone,
    )


_WITH_YEAR = frozenset({DATE_TIME, DATE, XSD["gYear"], XSD["gYearMonth"]})
_WITH_MONTH = frozenset({DATE_TIME, DATE, XSD["gYearMonth"], XSD["gMonth"], XSD["gMonthDay"]})
_WITH_DAY = frozenset({DATE_TIME, DATE, XSD["gMonthDay"], XSD["gDay"]})


def _duration(datatype: NamedNode, duration: Duration) -> Duration:
    """Return the part of a duration that a type has; what it has not is dropped, as in XPath."""
    months = 0 if datatype == DAY_TIME else duration.months
    seconds = Fraction(0) if datatype == YEAR_MONTH else duration.seconds
    return Duration(datatype, months, seconds)
