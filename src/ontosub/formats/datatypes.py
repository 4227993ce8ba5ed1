"""Datatypes that somebody states for others: in a mapping, or in a context beside plain JSON.

A literal whose text does not belong to its datatype ("abc"^^xsd:integer) is legal RDF, and publishers of RDF may send
it. It has no value, though, so no filter on values holds of it. Who states a datatype for the values of a table did not
mean that: there, such a value is a fault.
"""

from __future__ import annotations

from ontosub.model import readers
from ontosub.model.terms import XSD, Literal

_SHOWN_LENGTH = 60


def shown(text: str) -> str:
    """Return a text of the payload as messages quote it: its beginning, when it is long."""
    return text if len(text) <= _SHOWN_LENGTH else f"{text[: _SHOWN_LENGTH - 1]}…"


def misfit_of(literal: Literal) -> str | None:
    """Return, as a message, that the literal's text does not belong to its datatype; None when it does."""
    if not readers.get("literal.is_ill_typed")(literal):
        return None
    datatype = literal.datatype.value
    name = f"xsd:{datatype.removeprefix(XSD)}" if datatype.startswith(XSD) else f"<{datatype}>"
    return f"{shown(literal.value)!r} is no {name}"
