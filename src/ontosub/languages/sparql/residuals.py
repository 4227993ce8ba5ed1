"""Residuals from their texts, and those of one form from the first of them.

A residual is printed in full: no prefix, each IRI in angle brackets, each literal in quotes. So its constants are found
without parsing, and two residuals that differ only in them have the same algebra but for them. The first one of a form
is parsed with *slots* in their places; the algebra of each other one is that of the form, filled in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from functools import cache, lru_cache
from typing import Any

import pyoxigraph

from ontosub.languages.sparql.algebra import translate
from ontosub.languages.sparql.parser import parse_query
from ontosub.model.algebra import Query
from ontosub.model.errors import InputError, Span
from ontosub.model.terms import TYPE, Literal, NamedNode, Term, Triple

FORMS_MAX = 1_000
TEXT_MAX = 10_000
"""How many forms are remembered, and up to which length a residual is looked at as one of a form."""

_MARK = "ontosub-slot-"
_CONSTANT = re.compile(r'<([^<> ]+)>(?!\()|"(?:[^"\\]|\\.)*+"(?:@[A-Za-z0-9-]++|\^\^<[^<> ]++>)?')
_SHAPING = re.compile(rf"BASE|SEPARATOR|REGEX|REPLACE|{_MARK}")
"""What makes a constant part of the form: it is then read in full."""

_forms: dict[str, Query | None] = {}


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
    known = _forms[form]
    if known is None:
        return translate(parse_query(text))
    terms = {_term(slot): _term(constant) for constant, slot in slots.items()}
    query: Query = _filled(known, terms)
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
    if len(_forms) >= FORMS_MAX:
        _forms.pop(next(iter(_forms)), None)
    try:
        _forms[form] = translate(parse_query(form))
    except InputError:
        _forms[form] = None  # a slot cannot stand everywhere


@lru_cache(maxsize=65_536)
def _term(text: str) -> Term:
    """Return the term that a text of N-Triples stands for."""
    if text.startswith("<"):
        return NamedNode(text[1:-1])
    statement = f"<urn:s> <urn:p> {text} ."
    quad: pyoxigraph.Quad = next(iter(pyoxigraph.parse(statement, format=pyoxigraph.RdfFormat.N_TRIPLES)))
    return quad.object


def _filled(node: Any, terms: Mapping[Term, Term]) -> Any:
    """Return the node with other terms in place of some; what has none of them stays the same object."""
    if isinstance(node, NamedNode | Literal):
        return terms.get(node, node)
    if isinstance(node, tuple):
        parts = tuple([_filled(part, terms) for part in node])
        return parts if any(new is not old for new, old in zip(parts, node, strict=True)) else node
    if isinstance(node, frozenset):
        return frozenset(_filled(part, terms) for part in node)
    if isinstance(node, Triple):
        return Triple(*(_filled(part, terms) for part in (node.subject, node.predicate, node.object)))
    kind: type = type(node)
    names = _names(kind)
    if not names:
        return node
    old = [getattr(node, name) for name in names]
    new = [_filled(part, terms) for part in old]
    return type(node)(*new) if any(one is not other for one, other in zip(new, old, strict=True)) else node


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Return the arguments of a kind of node; nothing for what is no node."""
    if kind is Span or not hasattr(kind, "__dataclass_fields__"):
        return ()
    return tuple(each.name for each in fields(kind) if each.init)
