"""The terms of one event as numbers, and of what queries make of it.

Vertices of the event graph have the numbers that the index gives them. Every other term, a constant that the event does
not mention or a value that a query computes, gets the next number when it is first met. Two terms are the same exactly
if their numbers are, so joins compare numbers.
"""

from __future__ import annotations

from ontosub.matching.compiled.events.encoded import EncodedEvent
from ontosub.model.terms import Term, written

UNBOUND = -1


class Terms:
    """Numbers for terms, and back."""

    def __init__(self, encoded: EncodedEvent) -> None:
        self._encoded = encoded
        self.vertices = len(encoded.graph.vertices)
        self._known: list[Term | None] = [None] * self.vertices
        self._numbers: dict[bytes, int] | None = None
        self._properties: dict[int, int] = {}

    def number(self, text: bytes, term: Term) -> int:
        """Return the number of a term, whose N-Triples text is given."""
        if self._numbers is None:
            self._numbers = {each: vertex for vertex, each in enumerate(self._encoded.vertex_texts())}
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self._known)
            self._known.append(term)
        return number

    def number_of(self, term: Term) -> int:
        """Return the number of a term."""
        return self.number(text_of(term), term)

    def number_of_property(self, property_: int) -> int:
        """Return the number, as a term, of what has a number as a property."""
        number = self._properties.get(property_)
        if number is None:
            number = self._properties[property_] = self.number_of(self._encoded.property(property_))
        return number

    def term(self, number: int) -> Term:
        """Return the term that has a number."""
        term = self._known[number]
        if term is None:
            term = self._known[number] = self._encoded.term(number)
        return term


def text_of(term: Term) -> bytes:
    """Return the N-Triples text by which terms are told apart."""
    return written(term).encode()
