"""What a query asks of the event graph: the index keeps of an event only what somebody asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ontosub.matching.compiled.events.concepts import Concepts
from ontosub.model.algebra import Exclusion, PathPattern, Query, Repetition, Step, parts_of
from ontosub.model.pattern import Arc, Vertex
from ontosub.model.terms import TYPE, NamedNode, Variable

_IRI = re.compile(rb"<([^<> ]+)>")


def ask(query: Query, concepts: Concepts) -> None:
    """Ask for the classes, properties and arcs that a query speaks of."""
    for part in parts_of(query.selection):
        match part:
            case Arc(property=Variable()):
                concepts.keep(types=True, unknown=True)
            case Arc(property=NamedNode() as property_) | Step(property_):
                concepts.property_number(property_)
                if property_ == TYPE:
                    concepts.keep(types=True)
            case Vertex(classes=classes):
                for class_ in classes:
                    concepts.bit_of_class(class_)
            case Exclusion(forwards, backwards):
                concepts.keep(types=True, unknown=True)
                for property_ in (forwards or frozenset()) | (backwards or frozenset()):
                    concepts.property_number(property_)
            case PathPattern(path=path) if _may_be_empty(path):
                # Every vertex is joined with itself, whatever its arcs are.
                concepts.keep(types=True, unknown=True)


def _may_be_empty(path: object) -> bool:
    return any(isinstance(part, Repetition) and part.least == 0 for part in parts_of(path))


def words_in(records: Iterable[bytes]) -> frozenset[NamedNode]:
    """Return the IRIs in stored subscriptions: all that their queries may ask for, and more."""
    return frozenset(NamedNode(word.decode()) for record in records for word in set(_IRI.findall(record)))
