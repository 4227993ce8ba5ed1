"""Composite events as RDF (JTangCSPS, section 4.2), in and out: what was detected, for who wants to publish it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ontosub.composite.detection import Constituent
from ontosub.languages.composite.graphs import COMPOSITE, MEMBERS_MAX, Reading, Writing
from ontosub.model.composite import DEPTH_MAX
from ontosub.model.interval import Interval
from ontosub.model.match import Binding
from ontosub.model.terms import XSD, BlankNode, Literal, Resource, Term, Triple


def to_graph(event: Constituent) -> frozenset[Triple]:
    """Return a composite event, for example `detection.tree`, as RDF."""
    writing = Writing()
    _write(event, writing)
    return frozenset(writing.triples)


def _write(event: Constituent, writing: Writing) -> Resource:
    node = writing.node("CompositeEvent" if event.event_id is None else "PrimitiveEvent")
    writing.say(node, "operator" if event.event_id is None else "subscription", event.what)
    writing.say(node, "id", event.event_id)
    timestamp = writing.node("Timestamp")
    for name, moment in (("start", event.interval.start), ("end", event.interval.end)):
        writing.say(timestamp, name, Literal(moment.isoformat(), datatype=XSD["dateTime"]))
    writing.say(node, "hasTimestamp", timestamp)
    writing.say_list(node, "bindings", [_write_binding(binding, writing) for binding in event.bindings])
    writing.say_list(node, "members", [_write(part, writing) for part in event.constituents])
    return node


def _write_binding(binding: Binding, writing: Writing) -> Resource:
    values = []
    for name, term in sorted(binding.items()):
        value = writing.node("Value")
        writing.say(value, "variable", name)
        writing.say(value, "value", BlankNode(f"v{term.value}") if isinstance(term, BlankNode) else term)
        values.append(value)
    node = writing.node("Answer")
    writing.say_list(node, "values", values)
    return node


def from_graph(graph: Iterable[Triple]) -> list[Constituent]:
    """Return the events of a graph that are no members of others, in the order of their intervals.

    Raises FormatError that names the vertex where something is missing or wrong.
    """
    reading = Reading(graph)
    nodes = {
        node for kind in ("CompositeEvent", "PrimitiveEvent") for node in reading.subjects.get(COMPOSITE[kind], ())
    }
    members = {member for node in nodes for member in reading.items(node, "members")}
    found = []
    for node in nodes - members:
        reading.visited = 0
        found.append(_read(node, reading, 1))
    return sorted(found, key=lambda event: (event.interval, event.what, event.event_id or ""))


def _read(node: Term, reading: Reading, depth: int) -> Constituent:
    reading.visit(node, depth, MEMBERS_MAX, 2 * DEPTH_MAX)
    primitive = reading.kind(node) == "PrimitiveEvent"
    timestamp = reading.needed(node, "hasTimestamp")
    start, end = (
        reading.make(timestamp, datetime.fromisoformat, reading.text(timestamp, name)) for name in ("start", "end")
    )
    return Constituent(
        reading.text(node, "subscription" if primitive else "operator"),
        reading.make(timestamp, Interval, start, end),
        tuple(_read_binding(answer, reading) for answer in reading.items(node, "bindings")),
        reading.text(node, "id") if primitive else None,
        tuple(_read(part, reading, depth + 1) for part in reading.items(node, "members")),
    )


def _read_binding(answer: Term, reading: Reading) -> Binding:
    pairs = {reading.text(each, "variable"): reading.needed(each, "value") for each in reading.items(answer, "values")}
    return Binding(
        {
            name: BlankNode(term.value.removeprefix("v")) if isinstance(term, BlankNode) else term
            for name, term in pairs.items()
        }
    )
