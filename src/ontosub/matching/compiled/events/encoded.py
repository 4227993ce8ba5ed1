"""Events on their way through the index: statements in numbers, and the way back from numbers to terms."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import pyoxigraph
from numpy.typing import NDArray
from pyoxigraph import RdfFormat

from ontosub.formats import limits
from ontosub.matching.compiled.events.concepts import Concepts
from ontosub.matching.compiled.events.dictionary import Dictionary
from ontosub.matching.compiled.events.encode import TOO_LARGE, encode
from ontosub.matching.compiled.events.entail import ARCS_MAX
from ontosub.matching.compiled.events.flat_tables import KNOWN_PROPERTIES, packed_tables
from ontosub.matching.compiled.events.graph import TERM, Graph
from ontosub.matching.compiled.events.scanner import COLLIDING, DECLINED, READ
from ontosub.model.errors import LimitError
from ontosub.model.terms import Resource, Term, Triple

Array = NDArray[Any]

LANE_BYTES_MAX = limits.DEFAULT.payload_bytes
"""The largest payload that is read at all; its terms, written out, stay below what is allowed for them together."""


class EncodedEvent:
    """An event graph in numbers, together with the text that its terms are read back from."""

    __slots__ = ("_bytes", "_concepts", "_dictionary", "_known_properties", "_spans", "graph")

    graph: Graph

    def __init__(
        self, triples: Iterable[Triple], home: Resource | None, dictionary: Dictionary, concepts: Concepts
    ) -> None:
        """Encode triples; `home` is the home vertex if there is one."""
        data = pyoxigraph.serialize(frozenset(triples), format=RdfFormat.N_TRIPLES) or b""
        named = b"" if home is None else str(home).encode()
        if self._encode(data, named, False, False, dictionary, concepts) == DECLINED:
            raise AssertionError("what pyoxigraph writes is canonical, and is read in full")

    @classmethod
    def of_payload(cls, data: bytes, *, quads: bool, dictionary: Dictionary, concepts: Concepts) -> EncodedEvent | None:
        """Encode a payload in N-Triples or, with `quads`, N-Quads; None when it is for pyoxigraph to read.

        The event is the one that `Event.read` gives for the bare media type, without options; so is its home.
        """
        if len(data) > LANE_BYTES_MAX or not (data.isascii() or _is_utf8(data)):
            return None
        event = cls.__new__(cls)
        status = event._encode(data, b"", True, quads, dictionary, concepts)
        return event if status == READ else None

    def _encode(
        self, data: bytes, home: bytes, strict: bool, quads: bool, dictionary: Dictionary, concepts: Concepts
    ) -> int:
        packed = packed_tables(concepts)
        tables = concepts.tables
        status, self.graph, self._spans = encode(
            np.frombuffer(data, np.uint8),
            np.frombuffer(home, np.uint8),
            strict,
            quads,
            dictionary.slots,
            dictionary.hashes,
            dictionary.offsets,
            dictionary.text,
            tables.property_of,
            tables.class_of,
            tables.about_from,
            packed,
        )
        self._bytes, self._dictionary, self._concepts = data, dictionary, concepts
        self._known_properties = packed[KNOWN_PROPERTIES]
        if status == TOO_LARGE:
            raise LimitError(f"more than {ARCS_MAX:,} arcs follow from the event")
        if status == COLLIDING:
            raise LimitError("too many terms of the event have the same hash")
        return int(status)

    def texts(self) -> tuple[Array, Array, Array]:
        """Return bytes, and where in them the N-Triples form of each vertex starts and ends.

        It is canonical. It starts at -1 if the vertex is not of the event's own text: then the dictionary has it.
        """
        vertices = len(self.graph.vertices)
        return np.frombuffer(self._bytes, np.uint8), self._spans[0, :vertices], self._spans[1, :vertices]

    def vertex_texts(self) -> list[bytes]:
        """Return the N-Triples form of each vertex."""
        count = len(self.graph.vertices)
        starts, ends = self._spans[0, :count].tolist(), self._spans[1, :count].tolist()
        data, known = self._bytes, self._dictionary
        return [
            data[start:end] if start >= 0 else known.term(int(self.graph.vertices[vertex, TERM])).encode()
            for vertex, (start, end) in enumerate(zip(starts, ends, strict=True))
        ]

    def term(self, vertex: int) -> Term:
        """Return the term that a vertex stands for."""
        start = self._spans[0, vertex]
        if start >= 0:
            return _read(self._bytes[start : self._spans[1, vertex]])
        return _read(self._dictionary.term(int(self.graph.vertices[vertex, TERM])).encode())

    def property(self, number: int) -> Term:
        """Return the property that has the number."""
        if number < self._known_properties:
            return self._concepts.property_at(number)
        place = len(self.graph.vertices) + number - self._known_properties
        return _read(self._bytes[self._spans[0, place] : self._spans[1, place]])


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read(text: bytes) -> Term:
    """Read a term from its N-Triples form. Only short ones are remembered: long ones would fill the memory."""
    return _remembered(text) if len(text) <= _REMEMBERED_BYTES else _term(text)


_REMEMBERED_BYTES = 200


def _term(text: bytes) -> Term:
    if text.startswith(b"<") and not text.startswith(b"<<"):
        return pyoxigraph.NamedNode(text[1:-1].decode())
    if text.startswith(b"_:"):
        return pyoxigraph.BlankNode(text[2:].decode())
    statement = b"<urn:s> <urn:p> " + text + b" ."
    quad: pyoxigraph.Quad = next(iter(pyoxigraph.parse(statement, format=RdfFormat.N_TRIPLES)))
    return quad.object


_remembered = lru_cache(maxsize=100_000)(_term)
