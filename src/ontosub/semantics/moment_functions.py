"""SPARQL's functions of moments: their fields, their zones, and NOW."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

from ontosub.model.terms import XSD, Literal, Term
from ontosub.semantics.durations import DAY_TIME, Duration
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.moments import Moment, moment_text, parse_moment
from ontosub.semantics.moments import zone_text as written_zone
from ontosub.semantics.numeric import Number, NumericType, decimal_of
from ontosub.semantics.values import literal_of, value_of


def _moment(term: Term) -> Moment:
    value = value_of(term) if isinstance(term, Literal) else None
    if not isinstance(value, Moment):
        raise ExpressionError("a date or a time was expected")
    return value


def field(name: str, term: Term) -> Literal:
    """Return a field of a moment as it is written, not in UTC."""
    found = getattr(_moment(term), name)
    if found is None:
        raise ExpressionError(f"the value has no {name}")
    return literal_of(Number(NumericType.INTEGER, found))


def seconds(term: Term) -> Literal:
    """Return `SECONDS(term)`, a decimal."""
    second = _moment(term).second
    if second is None:
        raise ExpressionError("the value has no seconds")
    return literal_of(decimal_of(second))


def timezone(term: Term) -> Literal:
    """Return `TIMEZONE(term)`: how far the zone is from UTC. A moment without a zone is an error."""
    zone = _moment(term).zone
    if zone is None:
        raise ExpressionError("the value has no time zone")
    return literal_of(Duration(DAY_TIME, 0, Fraction(60 * zone)))


def zone_text(term: Term) -> Literal:
    """Return `TZ(term)`: the zone as it is written in a moment, `Z` for UTC, empty where there is none."""
    return Literal(written_zone(_moment(term).zone))


def now(moment: datetime | None) -> Literal:
    """Return `NOW()`: when the event happened, in UTC."""
    if moment is None:
        raise ExpressionError("the event has no time")
    written = moment.astimezone(UTC).replace(tzinfo=None).isoformat()
    parsed = parse_moment(XSD["dateTime"], f"{written}Z")
    assert parsed is not None  # noqa: S101 - datetime and XSD agree on years of four digits
    return Literal(moment_text(parsed), datatype=XSD["dateTime"])
