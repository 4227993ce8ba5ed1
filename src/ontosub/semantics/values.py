"""The value space of literals: what a literal stands for, whatever its spelling.

A literal has a value when its datatype is known here and its text belongs to it. Known are the numeric types of XSD
(derived ones with their ranges), booleans, strings, language-tagged strings, moments and durations. Types derived from
xsd:string, binary types and foreign types have no value: such literals are compared as terms. XML white space around
the text of any of them but strings does not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeAlias

from pyoxigraph import BaseDirection

from ontosub.model.terms import RDF, XSD, Literal, NamedNode, Term, Triple
from ontosub.model.xml_names import NAME, NAME_START, is_within
from ontosub.semantics.durations import DAY_TIME, DURATION, YEAR_MONTH, Duration, duration_text, parse_duration
from ontosub.semantics.moments import MOMENT_TYPES, Moment, moment_text, parse_moment
from ontosub.semantics.numeric import (
    LONGEST,
    Number,
    NumericType,
    number_text,
    parse_decimal,
    parse_double,
    parse_float,
    parse_integer,
)


@dataclass(frozen=True, slots=True)
class LanguageString:
    """A string in a language, and in RDF 1.2 perhaps with a base direction."""

    value: str
    language: str
    direction: BaseDirection | None = None


Value: TypeAlias = Number | str | LanguageString | bool | Moment | Duration

TRUE = Literal("true", datatype=XSD["boolean"])
FALSE = Literal("false", datatype=XSD["boolean"])

_STRING = XSD["string"]
_XML_SPACE = " \t\n\r"
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_NUMERIC_DATATYPES = {
    NumericType.INTEGER: XSD["integer"],
    NumericType.DECIMAL: XSD["decimal"],
    NumericType.FLOAT: XSD["float"],
    NumericType.DOUBLE: XSD["double"],
}
_INTEGER_RANGES: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
}

_NUMERIC_TYPES = frozenset({*_NUMERIC_DATATYPES.values(), *(XSD[name] for name in _INTEGER_RANGES)})

_PARSERS: dict[NamedNode, Callable[[str], Value | None]] = {
    XSD["boolean"]: _BOOLEANS.get,
    XSD["decimal"]: parse_decimal,
    XSD["float"]: parse_float,
    XSD["double"]: parse_double,
    **{XSD[name]: partial(parse_integer, low=low, high=high) for name, (low, high) in _INTEGER_RANGES.items()},
    **{datatype: partial(parse_moment, datatype) for datatype in MOMENT_TYPES},
    **{datatype: partial(parse_duration, datatype) for datatype in (DURATION, YEAR_MONTH, DAY_TIME)},
}


def value_of(literal: Literal) -> Value | None:
    """Return what the literal stands for; None when its datatype is unknown or its text does not belong to it.

    >>> value_of(Literal("0450.0", datatype=XSD["decimal"])) == value_of(Literal("450", datatype=XSD["decimal"]))
    True
    >>> value_of(Literal("300", datatype=XSD["byte"])) is None
    True
    """
    # Only short literals are remembered: long ones have no value to parse, and would fill the memory.
    return _remembered(literal) if len(literal.value) <= LONGEST else _value(literal)


def _value(literal: Literal) -> Value | None:
    if literal.language is not None:
        return LanguageString(literal.value, literal.language, literal.direction)
    datatype = literal.datatype
    if datatype == _STRING:
        return literal.value
    parse = _PARSERS.get(datatype)
    text = literal.value.strip(_XML_SPACE)
    return None if parse is None or len(text) > LONGEST else parse(text)


_remembered = lru_cache(maxsize=65_536)(_value)


def size_of(term: Term) -> int:
    """Return how many characters a term has, but for a literal's datatype and language."""
    if isinstance(term, Triple):
        return size_of(term.subject) + size_of(term.predicate) + size_of(term.object)
    return len(term.value)


def number_of(literal: Literal) -> Number | None:
    """Return the number that the literal stands for, or None."""
    value = value_of(literal)
    return value if isinstance(value, Number) else None


def is_numeric_type(datatype: NamedNode) -> bool:
    """Say whether the literals of this datatype are numbers."""
    return datatype in _NUMERIC_TYPES


def literal_of(value: Value) -> Literal:
    """Return the canonical literal of a value."""
    match value:
        case bool():
            return TRUE if value else FALSE
        case str():
            return Literal(value)
        case LanguageString():
            return Literal(value.value, language=value.language, direction=value.direction)
        case Number():
            return Literal(number_text(value), datatype=_NUMERIC_DATATYPES[value.type])
        case Moment():
            return Literal(moment_text(value), datatype=value.datatype)
        case Duration():
            return Literal(duration_text(value), datatype=value.datatype)


_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?")
_LANGUAGE = re.compile(r"[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*")


def _is_token(text: str) -> bool:
    return bool(text) and all(is_within(character, NAME) for character in text)


def _is_name(text: str) -> bool:
    return _is_token(text) and is_within(text[0], NAME_START)


_CHECKS: dict[NamedNode, Callable[[str], object]] = {
    XSD["hexBinary"]: _HEX.fullmatch,
    XSD["base64Binary"]: lambda text: _BASE64.fullmatch(re.sub(f"[{_XML_SPACE}]", "", text)),
    XSD["language"]: _LANGUAGE.fullmatch,
    XSD["NMTOKEN"]: _is_token,
    XSD["Name"]: _is_name,
    XSD["NCName"]: lambda text: _is_name(text) and ":" not in text,
    RDF["langString"]: lambda text: False,  # with a language tag it has a value
    RDF["dirLangString"]: lambda text: False,
}
"""What the text of a datatype without values must look like. Every other text is a string, a token or an anyURI."""


def is_ill_typed(literal: Literal) -> bool:
    """Say whether the literal's datatype is known and its text does not belong to it.

    A number, moment or duration of more than `LONGEST` characters is not judged.
    """
    if value_of(literal) is not None:
        return False
    text = literal.value.strip(_XML_SPACE)
    if literal.datatype in _PARSERS:
        return len(text) <= LONGEST
    check = _CHECKS.get(literal.datatype)
    return check is not None and not check(text)
