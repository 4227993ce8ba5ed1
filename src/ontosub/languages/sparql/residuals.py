"""Residuals from their texts, and those of one form from the first of them.

A residual is printed in full: no prefix, each IRI in angle brackets, each literal in quotes. So its constants are found
without parsing, and two residuals that differ only in them have the same algebra but for them. The first one of a form
is parsed with *slots* in their places; the algebra of each other one is that of the form, filled in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import pyoxigraph

from ontosub.languages.sparql.algebra import translate
from ontosub.languages.sparql.parser import parse_query
from ontosub.model.algebra import Query, arguments_of
from ontosub.model.errors import InputError
from ontosub.model.terms import TYPE, Literal, NamedNode, Term, Triple

FORMS_MAX = 4_000_000
TEXT_MAX = 10_000
"""How many characters the forms that are remembered have together, and how many a residual of a form has at most."""

_MARK = "ontosub-slot-"
_CONSTANT = re.compile(r'<([^<> ]+)>(?!\()|"(?:[^"\\]|\\.)*+"(?:@[A-Za-z0-9-]++|\^\^<[^<> ]++>)?')
_SHAPING = re.compile(rf"BASE|SEPARATOR|REGEX|REPLACE|{_MARK}")
"""What makes a constant part of the form: it is then read in full."""

Filling: TypeAlias = Callable[[Mapping[Term, Term]], Any]
"""Makes a node of a form with terms in place of its slots."""

_forms: dict[str, Filling | None] = {}
_remembered = 0


def query_of(text: str) -> Query:
    """Return the algebra of a residual.

    >>> query_of('ASK { ?x <urn:p> "7" }') == translate(parse_query('ASK { ?x <urn:p> "7" }'))
    True
    """
    if len(text) > TEXT_MAX or _SHAPING.search(text):
        return translate(parse_query(text))
    slots: dict[str, str] = {}
    form = _CONSTANT.sub(lambda match: _slot(match, slots), text)
    if form not in _forms:
        _remember(form)
    filling = _forms[form]
    if filling is None:
        return translate(parse_query(text))
    query: Query = filling({_term(slot): _term(constant) for constant, slot in slots.items()})
    return query


def _slot(match: re.Match[str], slots: dict[str, str]) -> str:
    constant = match[0]
    if match[1] == TYPE.value:
        return constant
    if constant not in slots:
        number = len(slots)
        slots[constant] = f"<urn:{_MARK}{number}>" if match[1] else f'"{_MARK}{number}"'
    return slots[constant]


def _remember(form: str) -> None:
    global _remembered
    _remembered += len(form)
    while _remembered > FORMS_MAX and _forms:
        oldest = next(iter(_forms))
        _forms.pop(oldest, None)
        _remembered -= len(oldest)
    try:
        query = translate(parse_query(form))
    except InputError:
        _forms[form] = None  # a slot cannot stand everywhere
    else:
        _forms[form] = _filling(query) or (lambda terms: query)


@lru_cache(maxsize=65_536)
def _term(text: str) -> Term:
    """Return the term that a text of N-Triples stands for."""
    if text.startswith("<"):
        return NamedNode(text[1:-1])
    statement = f"<urn:s> <urn:p> {text} ."
    quad: pyoxigraph.Quad = next(iter(pyoxigraph.parse(statement, format=pyoxigraph.RdfFormat.N_TRIPLES)))
    return quad.object


def _filling(node: Any) -> Filling | None:
    """Return what fills in the slots of a node; None if it has none, so that it stays the same object."""
    if isinstance(node, NamedNode | Literal):
        return (lambda terms: terms.get(node, node)) if _MARK in node.value else None
    kind: Any = type(node)
    if isinstance(node, tuple | frozenset):
        return _filling_parts([*node], kind)
    names = ("subject", "predicate", "object") if isinstance(node, Triple) else arguments_of(kind)
    return _filling_parts([getattr(node, name) for name in names], lambda parts: kind(*parts))


def _filling_parts(parts: list[Any], make: Callable[[list[Any]], Any]) -> Filling | None:
    """Return what fills in the slots of parts, and makes a node of them."""
    fillings = [(place, filling) for place, part in enumerate(parts) if (filling := _filling(part)) is not None]

    def filled(terms: Mapping[Term, Term]) -> Any:
        new = parts[:]
        for place, filling in fillings:
            new[place] = filling(terms)
        return make(new)

    return filled if fillings else None
