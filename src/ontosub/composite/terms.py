"""From terms to texts and back: texts are what instances hold, terms are what conditions and users want."""

from __future__ import annotations

import re
from functools import lru_cache

from pyoxigraph import RdfFormat, parse

from ontosub.composite.instance import Row
from ontosub.model.match import Binding
from ontosub.model.terms import BlankNode, Literal, NamedNode, Term, written

_PLAIN = re.compile(r'"([^"\\\n\r]*)"(?:\^\^<([^<>"{}|^`\\\x00-\x20]*)>)?')


def text_of(term: Term, event_id: str) -> str:
    """Return a term as text; a blank node is told apart from those of other events."""
    return f"{term} {event_id}" if isinstance(term, BlankNode) else written(term)


def scoped(text: str, event_id: str) -> str:
    """Return the text of a term in N-Triples as `text_of` has it."""
    return f"{text} {event_id}" if text.startswith("_:") else text


@lru_cache(maxsize=65_536)
def term_of(text: str) -> Term:
    """Return the term that a text stands for."""
    if found := _PLAIN.fullmatch(text):
        return Literal(found[1]) if found[2] is None else Literal(found[1], datatype=NamedNode(found[2]))
    if text.startswith("_:"):
        return BlankNode(text.partition(" ")[0][2:])
    [quad] = parse(f"<urn:s> <urn:p> {text} .", format=RdfFormat.N_TRIPLES)
    term: Term = quad.object
    return term


def binding_of(row: Row) -> Binding:
    """Return an answer with terms."""
    return Binding({name: term_of(text) for name, text in row.items()})
