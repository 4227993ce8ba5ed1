"""What functions ask of their arguments; each raises ExpressionError when it does not get it."""

from __future__ import annotations

from ontosub.model.terms import Literal, Term
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.numeric import Number
from ontosub.semantics.values import LanguageString, number_of, value_of


def literal(term: Term) -> Literal:
    """Return the term, which must be a literal."""
    if not isinstance(term, Literal):
        raise ExpressionError("a literal was expected")
    return term


def plain_text(term: Term) -> str:
    """Return the text of an xsd:string."""
    value = value_of(literal(term))
    if not isinstance(value, str):
        raise ExpressionError("a string without a language was expected")
    return value


def string(term: Term) -> Literal:
    """Return the term, which must be a string, with or without a language."""
    found = literal(term)
    if not isinstance(value_of(found), str | LanguageString):
        raise ExpressionError("a string was expected")
    return found


def number(term: Term) -> Number:
    """Return the number that the term stands for."""
    found = number_of(term) if isinstance(term, Literal) else None
    if found is None:
        raise ExpressionError("a number was expected")
    return found


def integer(term: Term) -> int:
    """Return the whole number that a literal of xsd:integer, or of a type derived from it, stands for."""
    value = number(term).value
    if not isinstance(value, int):
        raise ExpressionError("an integer was expected")
    return value
