"""The order of terms: that of ORDER BY, and what MIN, MAX and SAMPLE choose by.

SPARQL 1.1, section 15.1, puts unbound before blank nodes before IRIs before literals, and orders literals by `<` where
that is defined. `<` is not a total order: it says nothing of a number and a string, and little of a month and thirty
days. Here it is extended to one, the same for everybody: where `a < b` is true, `a` comes before `b`.

- unbound, blank nodes by label, IRIs by their characters, literals, triple terms by subject, predicate and object;
- among literals: booleans, NaN, numbers, moments by datatype, durations, strings, strings with a language, all others;
- numbers by their exact value; moments as if those without a zone were in UTC; durations by the mean of their ends
  from the four dates by which XSD compares them; strings by code points, those with a language then by language; all
  others by datatype, then text;
- terms that are equal in all that by their text in N-Triples.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeAlias

from ontosub.model.terms import XSD, BlankNode, Literal, NamedNode, Term, Triple
from ontosub.semantics import durations
from ontosub.semantics.durations import Duration
from ontosub.semantics.moments import DATE, DATE_TIME, TIME, Moment
from ontosub.semantics.numeric import Number
from ontosub.semantics.values import LanguageString, value_of

SortKey: TypeAlias = tuple[Any, ...]
"""What stands for a term when terms are sorted; keys of any two terms can be compared."""


class _Kind(IntEnum):
    UNBOUND = 0
    BLANK = 1
    IRI = 2
    LITERAL = 3
    TRIPLE = 4


class _Class(IntEnum):
    BOOLEAN = 0
    NAN = 1
    NUMBER = 2
    MOMENT = 3
    DURATION = 4
    STRING = 5
    TAGGED = 6
    OTHER = 7


_MOMENTS = [DATE_TIME, DATE, TIME, *(XSD[name] for name in ("gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay"))]
_MOMENT_RANKS = {datatype: rank for rank, datatype in enumerate(_MOMENTS)}


def sort_key(term: Term | None) -> SortKey:
    """Return the key of a term in the order of all terms; None is unbound.

    >>> terms = [Literal("a"), Literal(10), NamedNode("urn:b"), Literal("9.5", datatype=XSD["decimal"])]
    >>> [term.value for term in sorted(terms, key=sort_key)]
    ['urn:b', '9.5', '10', 'a']
    """
    key = value_key(term)
    return (*key, str(term)) if isinstance(term, Literal) else key


def value_key(term: Term | None) -> SortKey:
    """Return the key of a term by its value alone, for ORDER BY: terms that are equal in value are ties."""
    match term:
        case NamedNode():
            return _Kind.IRI, term.value
        case Literal():
            return _Kind.LITERAL, *_literal_key(term)
        case BlankNode():
            return _Kind.BLANK, term.value
        case Triple():
            return _Kind.TRIPLE, *map(sort_key, (term.subject, term.predicate, term.object))
    return (_Kind.UNBOUND,)


def _literal_key(literal: Literal) -> SortKey:
    match value_of(literal):
        case bool() as value:
            return _Class.BOOLEAN, value
        case str() as text:
            return _Class.STRING, text
        case LanguageString(text, language, direction):
            return _Class.TAGGED, text, language, "" if direction is None else direction.value
        case Number(value=number):
            return (_Class.NUMBER, number) if number == number else (_Class.NAN,)
        case Moment() as moment:
            return _Class.MOMENT, _MOMENT_RANKS[moment.datatype], moment.instant
        case Duration() as duration:
            return _Class.DURATION, durations.mean_end(duration)
    return _Class.OTHER, literal.datatype.value, literal.value
