"""Events on their way through the index: statements in numbers, and the way back from numbers to terms."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import pyoxigraph
from numpy.typing import NDArray
from pyoxigraph import RdfFormat

from ontosub.matching.compiled.concepts import Concepts
from ontosub.matching.compiled.dictionary import Dictionary
from ontosub.matching.compiled.encode import encode
from ontosub.matching.compiled.layout import TERM
from ontosub.matching.compiled.scanner import scan
from ontosub.model.terms import Resource, Term, Triple

Array = NDArray[Any]


class EncodedEvent:
    """An event graph in numbers, together with the text that its terms are read back from.

    `triples` may hold what is not a plain triple of RDF 1.1 only if a caller knows that no pattern can ask for it.
    """

    def __init__(
        self, triples: Iterable[Triple], home: Resource | None, dictionary: Dictionary, concepts: Concepts
    ) -> None:
        triples = frozenset(triples)
        text = pyoxigraph.serialize(triples, format=RdfFormat.N_TRIPLES) or b""
        self._data = np.frombuffer(text, np.uint8)
        self._dictionary = dictionary
        self._concepts = concepts
        # A payload of n statements has at most 3n terms; the table of terms is kept at most half full.
        most = 3 * len(triples)
        statements = np.zeros((len(triples), 3), np.int32)
        self._starts, self._ends = np.zeros(most, np.int64), np.zeros(most, np.int64)
        kinds, hashes = np.zeros(most, np.int8), np.zeros(most, np.uint64)
        slots = np.full(1 << (2 * most + 1).bit_length(), -1, np.int32)
        _, terms = scan(self._data, True, statements, self._starts, self._ends, kinds, hashes, slots)
        tables = concepts.tables
        self._known_properties = len(tables.along_from) - 1
        self.graph, self._scanned, self._unknown = encode(
            self._data,
            statements,
            self._starts,
            self._ends,
            kinds,
            hashes,
            terms,
            -1 if home is None else self._find(str(home).encode(), terms),
            dictionary.slots,
            dictionary.hashes,
            dictionary.offsets,
            dictionary.text,
            tables,
        )

    def _find(self, sought: bytes, terms: int) -> int:
        return next((term for term in range(terms) if self._text(term) == sought), -1)

    def _text(self, term: int) -> bytes:
        return self._data[self._starts[term] : self._ends[term]].tobytes()

    def term(self, vertex: int) -> Term:
        """Return the term that a vertex stands for."""
        scanned = int(self._scanned[vertex])
        if scanned >= 0:
            return _read(self._text(scanned).decode())
        return _read(self._dictionary.term(int(self.graph.vertices[vertex, TERM])))

    def property(self, number: int) -> Term:
        """Return the property that has the number."""
        if number < self._known_properties:
            return self._concepts.property_at(number)
        return _read(self._text(int(self._unknown[number - self._known_properties])).decode())


@lru_cache(maxsize=100_000)
def _read(text: str) -> Term:
    """Read a term from its N-Triples form."""
    if text.startswith("<") and not text.startswith("<<"):
        return pyoxigraph.NamedNode(text[1:-1])
    if text.startswith("_:"):
        return pyoxigraph.BlankNode(text[2:])
    quad: pyoxigraph.Quad = next(iter(pyoxigraph.parse(f"<urn:s> <urn:p> {text} .", format=RdfFormat.N_TRIPLES)))
    return quad.object
