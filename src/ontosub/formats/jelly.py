"""Jelly, the binary RDF stream: pyjelly does the framing, its terms are pyoxigraph's.

A Jelly stream says by its logical type whether a frame means anything. In a flat stream frames are only batches and
the whole stream is one dataset; in every other stream each frame is a message of its own.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pyjelly import jelly as wire
from pyjelly.integrations.generic import generic_sink
from pyjelly.integrations.generic.serialize import GenericSinkTermEncoder, stream_frames
from pyjelly.options import StreamParameters
from pyjelly.parse.decode import Adapter, Decoder
from pyjelly.parse.ioutils import get_options_and_frames
from pyjelly.serialize.ioutils import write_delimited
from pyjelly.serialize.streams import QuadStream, SerializerOptions, TripleStream
from pyoxigraph import DefaultGraph, Quad

from ontosub.formats.blank import legal
from ontosub.formats.limits import DEFAULT, Limits
from ontosub.model.errors import FormatError, LimitError, UsageError
from ontosub.model.terms import BlankNode, Literal, NamedNode, Triple


class Frames(NamedTuple):
    """The frames of a stream, and whether they are only batches of one dataset."""

    frames: list[list[Quad]]
    flat: bool


def read_frames(data: bytes | str, limits: Limits = DEFAULT, name: str | None = None) -> Frames:
    """Read a Jelly stream. An empty payload is a stream without frames."""
    if isinstance(data, str):
        raise UsageError("Jelly is a binary format: give bytes")
    limits.check("payload_bytes", len(data), "the payload has {} bytes")
    if not data:
        return Frames([], flat=True)
    frames: list[list[Quad]] = []
    try:
        options, wired = get_options_and_frames(io.BytesIO(data))
        decoder = Decoder(_Terms(options, limits))
        frames.extend(_statements(decoder, frame, limits) for frame in wired)
    except LimitError:
        raise
    except Exception as error:  # the decoder lets whatever its tables and protobuf raise pass through
        said = str(error).strip() or type(error).__name__
        raise FormatError(
            f"malformed Jelly in frame {len(frames) + 1}: {said}",
            hint="Check that the payload is a Jelly stream and arrived complete.",
            source=name,
        ) from None
    return Frames(frames, flat=options.stream_types.flat)


def _statements(decoder: Any, frame: Any, limits: Limits) -> list[Quad]:
    found: list[Quad] = []
    for statement in decoder.iter_rows(frame):
        if statement is not None:
            found.append(statement)
            limits.check("triples", len(found), "the event has {} triples or more")
    return found


class _Terms(Adapter):  # type: ignore[misc]
    """Makes pyoxigraph's terms of what the stream spells, and counts their characters.

    Jelly writes a repeated term once, so few bytes may stand for many characters: that must be counted.
    """

    def __init__(self, options: Any, limits: Limits) -> None:
        super().__init__(options)
        self.limits = limits
        self.characters = 0
        self.graph: Any = DefaultGraph()

    def iri(self, iri: str) -> NamedNode:
        self._count(len(iri))
        return NamedNode(iri)

    def bnode(self, bnode: str) -> BlankNode:
        self._count(len(bnode))
        return legal(BlankNode(bnode))

    def literal(self, lex: str, language: str | None = None, datatype: str | None = None) -> Literal:
        self.limits.check("literal_chars", len(lex), "a literal has {} characters")
        return Literal(lex, language=language, datatype=NamedNode(datatype) if datatype else None)

    def default_graph(self) -> DefaultGraph:
        return DefaultGraph()

    def triple(self, terms: Iterable[Any]) -> Quad:
        return self.quad((*terms, self.graph))

    def quad(self, terms: Iterable[Any]) -> Quad:
        quad = Quad(*terms)
        self._count(len(str(quad)))
        return quad

    def quoted_triple(self, terms: Iterable[Any]) -> Triple:
        return Triple(*terms)

    def graph_start(self, graph_id: Any) -> None:
        self.graph = graph_id

    def graph_end(self) -> None:
        self.graph = DefaultGraph()

    def namespace_declaration(self, name: str, iri: str) -> None:
        return None

    def _count(self, characters: int) -> None:
        self.characters += characters
        self.limits.check("term_chars", self.characters, "the terms have {} characters together")


def write_frame(statements: Iterable[Triple] | Iterable[Quad]) -> bytes:
    """Write a graph (triples) or a dataset (quads) as a Jelly stream of one frame."""
    rows = [_spelled(statement) for statement in statements]
    quads = bool(rows) and len(rows[0]) == 4
    logical = wire.LOGICAL_STREAM_TYPE_DATASETS if quads else wire.LOGICAL_STREAM_TYPE_GRAPHS
    options = SerializerOptions(logical_type=logical, params=StreamParameters(rdf_star=True))
    stream = (QuadStream if quads else TripleStream)(encoder=GenericSinkTermEncoder(), options=options)
    sink = generic_sink.GenericStatementSink()
    for row in rows:
        sink.add(row)
    written = io.BytesIO()
    for frame in stream_frames(stream, sink):
        write_delimited(frame, written)
    return written.getvalue()


def _spelled(term: Any) -> Any:
    """Return a pyoxigraph term or statement as pyjelly's own."""
    match term:
        case NamedNode():
            return generic_sink.IRI(term.value)
        case BlankNode():
            return generic_sink.BlankNode(term.value)
        case DefaultGraph():
            return generic_sink.DefaultGraph
        case Literal():
            if term.direction is not None:
                raise UsageError(f"Jelly cannot write the base direction of {term}")
            datatype = None if term.language or term.datatype.value.endswith("#string") else term.datatype.value
            return generic_sink.Literal(term.value, term.language, datatype)
        case Triple():
            return generic_sink.Triple(*map(_spelled, (term.subject, term.predicate, term.object)))
        case Quad():
            triple = (term.subject, term.predicate, term.object, term.graph_name)
            return generic_sink.Quad(*map(_spelled, triple))
    raise UsageError(f"{term!r} is no RDF term")


def iter_quads(frames: Frames) -> Iterator[list[Quad]]:
    """Yield the messages of a stream: its frames or, when it is flat, all of them as one."""
    if frames.flat:
        yield [quad for frame in frames.frames for quad in frame]
    else:
        yield from frames.frames
