"""The terms of one event as numbers, and of what queries make of it.

Vertices of the event graph have the numbers that the index gives them. Every other term, a constant that the event does
not mention or a value that a query computes, gets the next number when it is first met. Two terms are the same exactly
if their numbers are, so joins compare numbers.
"""

from __future__ import annotations

from collections.abc import Callable

from ontosub.matching.compiled.events.encoded import EncodedEvent
from ontosub.model.terms import Term, written

UNBOUND = -1


class _Known(dict[int, Term]):
    """Terms by number. A vertex is read from the event when it is first asked for."""

    def __init__(self, encoded: EncodedEvent) -> None:
        super().__init__()
        self._encoded = encoded

    def __missing__(self, number: int) -> Term:
        term = self[number] = self._encoded.term(number)
        return term


class _PropertyTerms(dict[int, int]):
    """The numbers, as terms, of properties."""

    def __init__(self, terms: Terms, encoded: EncodedEvent) -> None:
        super().__init__()
        self._terms = terms
        self._encoded = encoded

    def __missing__(self, property_: int) -> int:
        number = self[property_] = self._terms.number_of(self._encoded.property(property_))
        return number


class Terms:
    """Numbers for terms, and back."""

    def __init__(self, encoded: EncodedEvent) -> None:
        self._known = _Known(encoded)
        self._count = len(encoded.graph.vertices)
        self._numbers = {each: vertex for vertex, each in enumerate(encoded.vertex_texts())}
        self.number_of_property: Callable[[int], int] = _PropertyTerms(self, encoded).__getitem__
        """Returns the number, as a term, of what has a number as a property."""
        self.term: Callable[[int], Term] = self._known.__getitem__
        """Returns the term that has a number."""

    def number(self, text: bytes, term: Term) -> int:
        """Return the number of a term, whose N-Triples text is given."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = self._count
            self._known[number] = term
            self._count += 1
        return number

    def number_of(self, term: Term) -> int:
        """Return the number of a term."""
        return self.number(text_of(term), term)


def text_of(term: Term) -> bytes:
    """Return the N-Triples text by which terms are told apart."""
    return written(term).encode()
