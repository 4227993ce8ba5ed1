"""Events: RDF graphs with an identity, a home vertex and a place in time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pyoxigraph import Quad

from ontosub.model import readers
from ontosub.model.errors import UsageError
from ontosub.model.interval import Interval
from ontosub.model.terms import HOME, TYPE, BlankNode, NamedNode, Resource, Term, Triple

Time = Interval | datetime | tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was published.

    `home` is the vertex that stands for the event as a whole. When it is not given it is the blank node labelled
    `H`; else the one vertex without incoming arcs (a loop is one, too); else there is none. `interval` is when the
    event happened, `lifetime` how long it stays relevant for composite events. `type` is a publisher's label (a
    CloudEvents type), which takes no part in matching. `named_graphs` are what GRAPH in a SPARQL subscription can see;
    they are neither matched nor reasoned over otherwise.
    """

    id: str
    graph: frozenset[Triple]
    home: Resource | None = None
    interval: Interval | None = None
    lifetime: timedelta | None = None
    type: str | None = None
    named_graphs: frozenset[Quad] = frozenset()

    def __post_init__(self) -> None:
        if not isinstance(self.graph, frozenset):
            object.__setattr__(self, "graph", frozenset(self.graph))
        if self.home is None:
            object.__setattr__(self, "home", find_home(self.graph))
        elif self.home not in vertices_of(self.graph):
            raise UsageError(f"the home vertex {self.home} does not occur in the event {self.id!r}")
        if self.lifetime is None:
            return
        if not isinstance(self.lifetime, timedelta):
            raise UsageError(f"the lifetime must be a timedelta: {self.lifetime!r} is none")
        if self.lifetime < timedelta(0):
            raise UsageError(f"the lifetime of event {self.id!r} is negative: {self.lifetime}")

    @classmethod
    def read(
        cls,
        data: bytes | str | Path,
        format: str | None = None,
        *,
        id: str | None = None,
        home: Resource | str | None = None,
        time: Time | None = None,
        lifetime: timedelta | None = None,
        **options: Any,
    ) -> Event:
        """Read one event from a payload, or from a file when `data` is a Path.

        `format` is a media type ("text/turtle"), an extension ("ttl") or, for a Path, may be left out. The id is,
        in this order: the argument, the envelope's, the name of the payload's only graph, a digest of the payload.
        Other options are the format's own: `base`, `context` (JSON), `mapping` (XML, CSV), `headers` (CloudEvents),
        `dataset` (one event of a dataset with named graphs).

        Raises FormatError when the payload is malformed or holds more than one event, or the file cannot be read;
        LimitError when it is too large; UsageError when an argument makes no sense. Nothing is fetched from anywhere.
        """
        read = readers.get("event.read")
        return read(data, format, id=id, home=home, time=time, lifetime=lifetime, **options)  # type: ignore[no-any-return]

    @classmethod
    def read_stream(cls, data: bytes | str | Path, format: str | None = None, **options: Any) -> Iterator[Event]:
        """Yield the events of a payload that holds several, in order.

        One event per named graph (TriG, N-Quads, JSON-LD, Jelly), per `# @message` delimiter (Turtle family), per
        line (JSON lines), per row (CSV) or per record (XML with a mapping that says so). `on_fault`, when given, is
        called with what is wrong with a single line, row or record, and the stream goes on.
        """
        return readers.get("event.stream")(data, format, **options)  # type: ignore[no-any-return]


def find_home(graph: Iterable[Triple]) -> Resource | None:
    """Return the home vertex of a graph that does not name it otherwise; see `Event`."""
    triples = list(graph)
    vertices = vertices_of(triples)
    if HOME in vertices:
        return HOME
    entered = {triple.object for triple in triples if triple.predicate != TYPE}
    roots = [term for term in vertices if isinstance(term, NamedNode | BlankNode) and term not in entered]
    return roots[0] if len(roots) == 1 else None


def vertices_of(graph: Iterable[Triple]) -> frozenset[Term]:
    """Return the vertices of a graph: its subjects and objects.

    A class that only types something is a label, not a vertex.
    """
    found: set[Term] = set()
    for triple in graph:
        found.add(triple.subject)
        if triple.predicate != TYPE:
            found.add(triple.object)
    return frozenset(found)


def interval_of(time: Time | None) -> Interval | None:
    """Return `time` as an interval: a moment becomes an instant."""
    match time:
        case None | Interval():
            return time
        case datetime():
            return Interval.instant(time)
        case (datetime() as start, datetime() as end):
            return Interval(start, end)
    raise UsageError(
        f"the time must be an Interval, a datetime or a pair (start, end) of them: {time!r} is none of these"
    )


__all__ = ["Event", "Time", "find_home", "interval_of", "vertices_of"]
