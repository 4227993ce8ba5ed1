"""An ontology as bytes, and a fingerprint that tells whether two ontologies give the same answers.

The bytes are JSON: for each field a sorted list of lines, the background's in N-Triples. They depend neither on the
order of sets nor on the process. Blank nodes keep their labels, which `Ontology.read` makes the same on every reading.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any, NamedTuple, get_type_hints

import pyoxigraph
from pyoxigraph import RdfFormat

from ontosub.matching.compiled.files.array_files import RESTORE
from ontosub.model import MetaStatement, Ontology
from ontosub.model.errors import IndexDirectoryError
from ontosub.model.ontology import Pair
from ontosub.model.terms import NamedNode, Triple

_ANSWERLESS = ("missing_imports",)
"""What an ontology says of itself that no answer depends on."""


def fingerprint(ontology: Ontology) -> str:
    """Return a digest of everything in the ontology that answers depend on, the same in every process."""
    told = {name: lines for name, lines in _told(ontology).items() if name not in _ANSWERLESS}
    return sha256(_to_bytes(told)).hexdigest()


def ontology_to_bytes(ontology: Ontology) -> bytes:
    """Return the ontology as bytes, the same ones for equal ontologies."""
    return _to_bytes(_told(ontology))


def ontology_from_bytes(data: bytes) -> Ontology:
    """Return an ontology equal to the one that the bytes were made of.

    Raises IndexDirectoryError when they were not made by `ontology_to_bytes`.
    """
    types = get_type_hints(Ontology)
    try:
        told = json.loads(data.decode("utf-8", "surrogatepass"))
        return Ontology(**{name: frozenset(_FORMS[types[name]].read(lines)) for name, lines in told.items()})
    except (SyntaxError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise IndexDirectoryError("the stored ontology is malformed", hint=RESTORE) from error


def _to_bytes(told: dict[str, list[str]]) -> bytes:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _told(ontology: Ontology) -> dict[str, list[str]]:
    types = get_type_hints(Ontology)
    return {name: sorted(map(_FORMS[type_].line, getattr(ontology, name))) for name, type_ in types.items()}


class _Form(NamedTuple):
    """How the members of a field are written as lines, and read from them."""

    line: Callable[[Any], str]
    read: Callable[[list[str]], Iterable[Any]]


def _triples(lines: list[str]) -> list[Triple]:
    text = "".join([f"{line} .\n" for line in lines])
    return [quad.triple for quad in pyoxigraph.parse(text, format=RdfFormat.N_TRIPLES)]


def _line(iris: tuple[NamedNode, ...]) -> str:
    """Return IRIs as one line; none has a space in it."""
    return " ".join([iri.value for iri in iris])


def _pair(line: str) -> Pair:
    narrower, wider = map(NamedNode, line.split(" "))
    return narrower, wider


def _meta_statement(line: str) -> MetaStatement:
    return MetaStatement(*map(NamedNode, line.split(" ")))


_FORMS: dict[Any, _Form] = {
    frozenset[NamedNode]: _Form(lambda iri: str(iri.value), lambda lines: map(NamedNode, lines)),
    frozenset[Pair]: _Form(_line, lambda lines: map(_pair, lines)),
    frozenset[MetaStatement]: _Form(_line, lambda lines: map(_meta_statement, lines)),
    frozenset[Triple]: _Form(str, _triples),
    frozenset[str]: _Form(str, lambda lines: map(str, lines)),
}
