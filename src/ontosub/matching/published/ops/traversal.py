"""The traversal of an event graph: breadth first from the home vertex, each arc once, into typed-statements."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from ontosub.matching.published.concepts import Given
from ontosub.matching.published.ops.patterns import Home, Identifier
from ontosub.model import MetaStatement
from ontosub.model.terms import TYPE, Term
from ontosub.semantics.event_graph import EventGraph


class TypedStatement(NamedTuple):
    """A statement of the event with one class of its subject and one of its object."""

    subject: Identifier
    object: Identifier
    meta_statement: MetaStatement


def traverse(graph: EventGraph, given: Given) -> Iterator[TypedStatement]:
    """Yield the typed-statements of every arc that can be reached from the home vertex and is not an rdf:type.

    A statement gives one for each pair of classes announced of its ends. No home vertex, no typed-statements.
    """
    waiting: deque[Term] = deque() if graph.home is None else deque([graph.home])
    reached = set(waiting)
    while waiting:
        subject = waiting.popleft()
        for statement in given.about(subject):
            if statement.predicate == TYPE:
                continue
            object_ = statement.object
            for subject_class in given.classes(subject):
                for object_class in given.classes(object_):
                    meta_statement = MetaStatement(subject_class, statement.predicate, object_class)
                    yield TypedStatement(identifier(subject, graph), identifier(object_, graph), meta_statement)
            if object_ not in reached:
                reached.add(object_)
                waiting.append(object_)


def identifier(vertex: Term, graph: EventGraph) -> Identifier:
    """Return what the algorithm knows the vertex by."""
    return Home.HOME if vertex == graph.home else vertex


def vertex_of(identifier: Identifier, graph: EventGraph) -> Term:
    """Return the vertex of the event graph that has the identifier."""
    if isinstance(identifier, Home):
        assert graph.home is not None  # noqa: S101 - without a home vertex there is no identifier at all
        return graph.home
    return identifier
