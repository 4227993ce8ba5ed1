"""The terms of some events as numbers, and of what queries make of them.

Vertices of an event graph have the numbers that the index gives them, those of one event behind those of the event
before. Every other term, a constant that an event does not mention or a value that a query computes, gets the next
number when it is first met in an event. Two terms of an event are the same exactly if their numbers are, so joins
compare numbers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from ontosub.matching.answers import term_bytes
from ontosub.matching.compiled.events.encoded import EncodedEvent
from ontosub.model.terms import XSD, Literal, Term, written

UNBOUND = -1


class _Known(dict[int, Term]):
    """Terms by number. A vertex is read from its event when it is first asked for."""

    def __init__(self, events: Sequence[EncodedEvent], firsts: Sequence[int]) -> None:
        super().__init__()
        self._events = events
        self._firsts = firsts

    def __missing__(self, number: int) -> Term:
        event = bisect_right(self._firsts, number) - 1
        term = self[number] = self._events[event].term(number - self._firsts[event])
        return term


class _Integers(dict[int, int | None]):
    """The values of terms that are whole numbers, by number; None for all other terms, and for what is unbound."""

    def __init__(self, term: Callable[[int], Term]) -> None:
        super().__init__({UNBOUND: None})
        self._term = term

    def __missing__(self, number: int) -> int | None:
        term = self._term(number)
        value = None
        if isinstance(term, Literal) and term.datatype == _INTEGER and _DIGITS.fullmatch(term.value):
            value = int(term.value)
        self[number] = value
        return value


_INTEGER = XSD["integer"]
_DIGITS = re.compile(r"[+-]?[0-9]{1,18}")


class _Sizes(dict[int, int]):
    """How many bytes terms take in an answer, by number; nothing for what is unbound."""

    def __init__(self, term: Callable[[int], Term]) -> None:
        super().__init__({UNBOUND: 0})
        self._term = term

    def __missing__(self, number: int) -> int:
        size = self[number] = term_bytes(self._term(number))
        return size


class Terms:
    """Numbers for the terms of events, and back. Events are told apart by their places among all."""

    def __init__(self, events: Sequence[EncodedEvent]) -> None:
        *self.firsts, self._count = accumulate((len(each.graph.vertices) for each in events), initial=0)
        """The number of the first vertex of each event."""
        self._events = events
        self._known = _Known(events, self.firsts)
        self._numbers: list[dict[bytes, int] | None] = [None] * len(events)
        self.term: Callable[[int], Term] = self._known.__getitem__
        """Returns the term that has a number."""
        self.integers: Mapping[int, int | None] = _Integers(self.term)
        """The values of terms that are whole numbers, by number."""
        self.bytes_of: Callable[[int], int] = _Sizes(self.term).__getitem__
        """Returns how many bytes a term takes in an answer."""
        self._of_integers: dict[tuple[int, int], int] = {}

    def number(self, event: int, text: bytes, term: Term) -> int:
        """Return the number that a term, whose N-Triples text is given, has in an event."""
        numbers = self._numbers[event]
        if numbers is None:
            texts = self._events[event].vertex_texts()
            numbers = self._numbers[event] = {each: vertex for vertex, each in enumerate(texts, self.firsts[event])}
        number = numbers.get(text)
        if number is None:
            number = numbers[text] = self._count
            self._known[number] = term
            self._count += 1
        return number

    def number_of(self, event: int, term: Term) -> int:
        """Return the number that a term has in an event."""
        return self.number(event, text_of(term), term)

    def number_of_integer(self, event: int, value: int) -> int:
        """Return the number that the literal of a whole number has in an event."""
        number = self._of_integers.get((event, value))
        if number is None:
            number = self._of_integers[event, value] = self.number_of(event, Literal(value))
        return number


def text_of(term: Term) -> bytes:
    """Return the N-Triples text by which terms are told apart."""
    return written(term).encode()
