"""SPARQL's functions that take terms apart and build them: STR, LANG, DATATYPE, IRI, STRDT, TRIPLE and the like."""

from __future__ import annotations

import re

from pyoxigraph import BaseDirection

from ontosub.languages.prologue import resolve
from ontosub.model.terms import RDF, Literal, NamedNode, Term, Triple
from ontosub.semantics.arguments import literal, plain_text
from ontosub.semantics.faults import ExpressionError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TAGGED = frozenset({RDF["langString"], RDF["dirLangString"]})


def text(term: Term) -> Literal:
    """Return `STR(term)`: an IRI, or a literal's text as it is spelled, as a string."""
    if isinstance(term, NamedNode | Literal):
        return Literal(term.value)
    raise ExpressionError("only IRIs and literals have a text")


def language(term: Term) -> Literal:
    """Return `LANG(term)`, of a literal; a literal without a language has an empty one."""
    return Literal(literal(term).language or "")


def direction(term: Term) -> Literal:
    """Return `LANGDIR(term)`, of a literal: ltr, rtl, or an empty string."""
    found = literal(term).direction
    return Literal("" if found is None else found.value)


def has_language(term: Term) -> bool:
    """Say whether the term is a literal with a language, with or without a direction."""
    return isinstance(term, Literal) and term.language is not None


def has_direction(term: Term) -> bool:
    """Say whether the term is a literal with a language and a direction."""
    return isinstance(term, Literal) and term.direction is not None


def datatype(term: Term) -> NamedNode:
    """Return `DATATYPE(term)`, of a literal."""
    return literal(term).datatype


def iri(term: Term, base: str | None) -> NamedNode:
    """Return `IRI(term)`: an IRI itself, or the one that a string spells, perhaps relative to the base."""
    if isinstance(term, NamedNode):
        return term
    reference = plain_text(term)
    if not _SCHEME.match(reference):
        if base is None:
            raise ExpressionError("the IRI is relative and there is no base")
        reference = resolve(base, reference)
    try:
        return NamedNode(reference)
    except ValueError:
        raise ExpressionError("the string is no IRI") from None


def tagged(term: Term, tag: Term) -> Literal:
    """Return `STRLANG(term, tag)`."""
    try:
        return Literal(plain_text(term), language=plain_text(tag))
    except ValueError:
        raise ExpressionError("the string is no language tag") from None


def directed(term: Term, tag: Term, direction: Term) -> Literal:
    """Return `STRLANGDIR(term, tag, direction)`."""
    try:
        return Literal(plain_text(term), language=plain_text(tag), direction=BaseDirection(plain_text(direction)))
    except ValueError:
        raise ExpressionError("the strings are no language tag and direction (ltr or rtl)") from None


def typed(term: Term, datatype: Term) -> Literal:
    """Return `STRDT(term, datatype)`. The datatypes of strings with a language need one, and are an error."""
    if not isinstance(datatype, NamedNode) or datatype in _TAGGED:
        raise ExpressionError("the IRI of a datatype was expected")
    return Literal(plain_text(term), datatype=datatype)


def triple(subject: Term, predicate: Term, object_: Term) -> Triple:
    """Return the triple term of three terms that make a triple."""
    if isinstance(subject, Literal | Triple) or not isinstance(predicate, NamedNode):
        raise ExpressionError("the terms make no triple")
    return Triple(subject, predicate, object_)


def _triple(term: Term) -> Triple:
    if not isinstance(term, Triple):
        raise ExpressionError("a triple term was expected")
    return term


def subject(term: Term) -> Term:
    """Return the subject of a triple term."""
    return _triple(term).subject


def predicate(term: Term) -> Term:
    """Return the predicate of a triple term."""
    return _triple(term).predicate


def object_(term: Term) -> Term:
    """Return the object of a triple term."""
    return _triple(term).object
