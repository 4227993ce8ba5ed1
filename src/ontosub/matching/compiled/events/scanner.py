"""The byte lane: N-Triples and N-Quads to numbers without making objects.

Of a publisher's payload only the plainest form is read here: one statement per line, no comments, simple terms
(`syntax`), no triple terms. Whatever else it has, `scan` declines, and the payload goes through pyoxigraph, which
either writes it down in canonical form or says what is wrong with it. So the lane never needs to judge what is valid,
only what is certainly so; and each term only once, if the dictionary does not know it already.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.formats import limits
from ontosub.matching.compiled.events.dictionary import UNKNOWN, find
from ontosub.matching.compiled.events.octets import find_byte, find_either, hash_of, same
from ontosub.matching.compiled.events.syntax import is_plain_iri, is_plain_label, is_plain_literal

Array = NDArray[Any]

IRI, BLANK, LITERAL, TRIPLE = 0, 1, 2, 3

READ, DECLINED, COLLIDING = 0, 1, 2
"""How a scan ended: well; with something that is not plain; with too many terms that have the same hash."""

# Columns of a scanned term.
START, STOP, SORT, HASH, NUMBER, QUOTE, VERTEX, UNNUMBERED = 0, 1, 2, 3, 4, 5, 6, 7
"""It is data[START:STOP]; IRI, BLANK, LITERAL or TRIPLE; its hash; its number in the dictionary or UNKNOWN; where the
text of a literal ends; the vertex that it is or -1; and the number that it has as a property without one, or -1."""
TERM_COLUMNS = 8

PROBES_MAX = 1000
"""How many terms are looked at to find one. Honest terms need a few, whatever their number."""

_LITERAL_BYTES_MAX, _STATEMENTS_MAX = limits.DEFAULT.literal_chars, limits.DEFAULT.triples
"""What a reader may refuse. It counts characters, of which there are not more than bytes."""

_UNSEEN, _DEFAULT_GRAPH = -2, -1
_XSD_STRING = np.frombuffer(b"^^<http://www.w3.org/2001/XMLSchema#string>", np.uint8)
_SPACE, _TAB, _LINE, _RETURN, _DOT = 32, 9, 10, 13, 46
_QUOTE, _CLOSE, _LESS, _GREATER, _AT, _BACKSLASH, _CARET, _UNDERSCORE = 34, 41, 60, 62, 64, 92, 94, 95


@njit(cache=True)
def _literal_ends(data: Array, start: int, end: int) -> tuple[int, int]:
    """Return where the text of the literal at `start` ends, and where the literal does; `end` if nowhere."""
    quote = find_either(data, start + 1, end, _QUOTE, _BACKSLASH)
    while quote < end and data[quote] == _BACKSLASH:
        quote = find_either(data, min(quote + 2, end), end, _QUOTE, _BACKSLASH)
    if quote + 1 >= end:
        return quote, end
    following = data[quote + 1]
    if following == _AT:
        return quote, find_byte(data, quote + 2, end, _SPACE)
    if following != _CARET:
        return quote, quote + 1
    if quote + 3 >= end or data[quote + 2] != _CARET or data[quote + 3] != _LESS:
        return quote, end
    return quote, min(find_byte(data, quote + 4, end, _GREATER) + 1, end)


@njit(cache=True)
def _triple_end(data: Array, start: int, end: int) -> int:
    """Return where the canonical triple term at `start` ends; `end` if nowhere."""
    depth, i = 0, start
    while i < end:
        c = data[i]
        if c == _QUOTE:
            _, i = _literal_ends(data, i, end)
        elif c == _LESS and i + 1 < end and data[i + 1] == _LESS:
            depth += 1
            i += 3
        elif c == _LESS:
            i = find_byte(data, i, end, _GREATER) + 1
        elif c == _CLOSE:
            depth -= 1
            i += 3
            if depth == 0:
                return min(i, end)
        else:
            i += 1
    return end


@njit(cache=True)
def _is_plain(data: Array, sort: int, start: int, quote: int, stop: int) -> bool:
    if sort == IRI:
        return is_plain_iri(data, start, stop)
    if sort == BLANK:
        return is_plain_label(data, start, stop)
    if sort == TRIPLE:
        return False
    return is_plain_literal(data, start, quote, stop)


@njit(cache=True)
def _after_space(data: Array, start: int, end: int) -> int:
    i = start
    while i < end and (data[i] == _SPACE or data[i] == _TAB):
        i += 1
    return i


@njit(cache=True)
def power_of_two(least: int) -> int:
    """Return the first power of two that is not below."""
    power = 1
    while power < least:
        power *= 2
    return power


@njit(cache=True)
def _lines(data: Array) -> int:
    """Return how many lines there are at most."""
    count = 1
    for i in range(len(data)):
        count += (data[i] == _LINE) | (data[i] == _RETURN)
    return count


@njit(inline="always")
def _term_ends(data: Array, start: int, end: int, part: int) -> tuple[int, int, int]:
    """Return what sort of term stands at `start`, where its text ends if it is a literal, and where it ends itself.

    `part` is where in a statement it stands. Anything that is no term there ends at `end`, where nothing follows.
    """
    first = data[start]
    if first == _LESS and part == 2 and start + 1 < end and data[start + 1] == _LESS:
        return TRIPLE, 0, _triple_end(data, start, end)
    if first == _LESS:
        return IRI, 0, min(find_byte(data, start + 1, end, _GREATER) + 1, end)
    if first == _UNDERSCORE and part != 1:
        return BLANK, 0, find_byte(data, start + 1, end, _SPACE)
    if first == _QUOTE and part == 2:
        quote, after = _literal_ends(data, start, end)
        return LITERAL, quote, after
    return IRI, 0, end


@njit(inline="always")
def _slot(data: Array, start: int, stop: int, hashed: int, terms: Array, slots: Array) -> int:
    """Return the slot of the term data[start:stop], or the free one for it; -1 after too many others."""
    mask = slots.shape[0] - 1
    slot = hashed & mask
    for _ in range(PROBES_MAX):
        term = slots[slot]
        if term < 0:
            return slot
        if terms[term, HASH] == hashed and terms[term, STOP] - terms[term, START] == stop - start:
            if same(data, start, stop, data, terms[term, START]):
                return slot
        slot = (slot + 1) & mask
    return -1


@njit(cache=True)
def scan(
    data: Array, strict: bool, quads: bool, known_slots: Array, known_hashes: Array, offsets: Array, text: Array
) -> tuple[int, Array, int, Array, int]:
    """Read a payload; return how that ended, rows of term numbers for its statements, their count, terms, their count.

    Terms are numbered as they first come. Without `strict` the payload must be canonical, and nothing is judged. The
    name of a graph may stand in `quads`, and must be the same in all statements: it is not kept. The other arguments
    are the dictionary's. Unless it ended well, there are no statements and terms.
    """
    end, lines = len(data), _lines(data)
    # Tables that never grow: were they exchanged in the loop, everything would take half as long again.
    statements, count = np.empty((lines, 3), np.int64), 0
    terms, term_count = np.empty((3 * lines + 4, TERM_COLUMNS), np.int64), 0
    slots = np.full(power_of_two(2 * terms.shape[0]), -1, np.int32)
    graph = _UNSEEN
    i = 0
    while True:
        while i < end and (data[i] == _LINE or data[i] == _RETURN or data[i] == _SPACE or data[i] == _TAB):
            i += 1
        if i >= end:
            return READ, statements, count, terms, term_count
        name = _DEFAULT_GRAPH
        for part in range(4 if quads else 3):
            if part == 3 and data[i] == _DOT:
                break
            sort, quote, after = _term_ends(data, i, end, part)
            if after >= end or (data[after] != _SPACE and data[after] != _TAB):
                return DECLINED, statements, 0, terms, 0
            stop = after
            if strict and sort == LITERAL:
                if after - i > _LITERAL_BYTES_MAX:
                    return DECLINED, statements, 0, terms, 0
                if after - quote - 1 == len(_XSD_STRING) and same(_XSD_STRING, 0, len(_XSD_STRING), data, quote + 1):
                    stop = quote + 1
            hashed = hash_of(data, i, stop)
            slot = _slot(data, i, stop, np.int64(hashed), terms, slots)
            if slot < 0:
                return COLLIDING, statements, 0, terms, 0
            term = slots[slot]
            if term < 0:
                number = find(data, i, stop, hashed, known_slots, known_hashes, offsets, text)
                # What the dictionary knows was a term before; its blank nodes may come from syntaxes that allow more.
                doubtful = number == UNKNOWN or sort == BLANK or sort == TRIPLE
                if strict and doubtful and not _is_plain(data, sort, i, quote, stop):
                    return DECLINED, statements, 0, terms, 0
                term = term_count
                slots[slot] = term
                terms[term, START], terms[term, STOP], terms[term, SORT] = i, stop, sort
                terms[term, HASH], terms[term, NUMBER], terms[term, QUOTE] = np.int64(hashed), number, quote
                terms[term, VERTEX], terms[term, UNNUMBERED] = -1, -1
                term_count += 1
            if part < 3:
                statements[count, part] = term
            else:
                name = term
            i = after + 1
            if i < end and (data[i] == _SPACE or data[i] == _TAB):
                i = _after_space(data, i, end)
            if i >= end:
                return DECLINED, statements, 0, terms, 0
        count += 1
        if data[i] != _DOT or (name != graph and graph != _UNSEEN) or (strict and count > _STATEMENTS_MAX):
            return DECLINED, statements, 0, terms, 0
        graph = name
        i = _after_space(data, i + 1, end)
        if i < end and data[i] != _LINE and data[i] != _RETURN:
            return DECLINED, statements, 0, terms, 0
