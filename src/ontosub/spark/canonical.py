"""An event as a payload that says all of it: canonical N-Triples or, where those cannot tell its home, N-Quads."""

from __future__ import annotations

from typing import NamedTuple

import pyoxigraph
from pyoxigraph import Quad, RdfFormat

from ontosub.formats.write import write_event
from ontosub.model import Event
from ontosub.model.errors import UsageError
from ontosub.model.event import find_home
from ontosub.model.terms import NamedNode

N_TRIPLES, N_QUADS = "application/n-triples", "application/n-quads"


class Payload(NamedTuple):
    """Bytes, and the media type that says how to read them."""

    content_type: str
    data: bytes


def canonical(event: Event) -> Payload:
    """Return a payload that is read as the same graph with the same home vertex; equal events give equal bytes.

    Raises UsageError when there is none: when the home is an IRI that the graph alone does not tell.
    """
    if find_home(event.graph) == event.home:
        return Payload(N_TRIPLES, write_event(event, N_TRIPLES))
    described = _described(event)
    if described is None:
        raise UsageError(f"the home vertex {event.home} cannot be told from the graph of event {event.id!r}")
    return Payload(N_QUADS, described)


def _described(event: Event) -> bytes | None:
    """Return an event as its named graph and, outside of it, what is said about that, which leaves its home alone."""
    try:
        name = NamedNode(event.id)
    except ValueError:
        return None
    inner = [triple for triple in sorted(event.graph, key=str) if triple.subject != name]
    if find_home(inner) != event.home:
        return None
    quads = [Quad(t.subject, t.predicate, t.object, name) for t in inner]
    about = [Quad(*triple) for triple in sorted(event.graph, key=str) if triple.subject == name]
    return pyoxigraph.serialize([*quads, *about], format=RdfFormat.N_QUADS)
