"""The body of each vertex: what its N-Triples form has between quotes or angle brackets, without escapes.

Tests of strings read bodies, tests of language and datatype read what follows the closing quote. Both are copied into
one buffer, so that whoever reads them need not know where they came from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.atoms.unary import Case, Domain
from ontosub.matching.compiled.events.graph import OWN_KIND, TERM
from ontosub.matching.compiled.events.literals import closing_quote

Array = NDArray[Any]

IRI, BLANK, TRIPLE, PLAIN, TAGGED, TYPED = range(6)
"""The kinds of term: literals are told apart by what follows the closing quote."""

DOMAINS = {
    Domain.STRINGS: 1 << PLAIN | 1 << TAGGED,
    Domain.UNTAGGED: 1 << PLAIN,
    Domain.TEXTS: 1 << IRI | 1 << PLAIN | 1 << TAGGED | 1 << TYPED,
}
"""The kinds that have a text, as bits."""

# Columns of a body.
KIND, BEGIN, END, AFTER, IS_ASCII, VALUE_KIND = 0, 1, 2, 3, 4, 5
"""The kind; the body is buffer[BEGIN:END], its ending buffer[END:AFTER]; and the kind of value (`literals`)."""
BODY_COLUMNS = 6


def _escaped_characters() -> Array:
    table = np.arange(256, dtype=np.uint8)
    for letter, character in zip(b"tbnrf", b"\t\b\n\r\f", strict=True):
        table[letter] = character
    return table


_ESCAPED = _escaped_characters()
"""What a letter stands for behind a backslash."""

_DIGIT = np.zeros(256, np.int64)
_DIGIT[list(b"0123456789ABCDEF")] = _DIGIT[list(b"0123456789abcdef")] = range(16)
"""The value of a hexadecimal digit."""


class Texts(NamedTuple):
    """Where the N-Triples form of each vertex lies: `data[starts[v]:ends[v]]`, or in the dictionary if the start is -1.

    `vertices` is that of the event graph, `text` and `offsets` are those of the dictionary. Forms are canonical (no
    `^^xsd:string`, languages in small letters), but for escapes that could have been left out.
    """

    data: Array
    starts: Array
    ends: Array
    vertices: Array
    text: Array
    offsets: Array


class Bodies(NamedTuple):
    """The bodies of all vertices: a buffer of bytes and a table of where they are."""

    buffer: Array
    table: Array

    def body(self, vertex: int) -> bytes:
        """Return the body of a vertex."""
        return self.buffer[self.table[vertex, BEGIN] : self.table[vertex, END]].tobytes()

    def ending(self, vertex: int) -> bytes:
        """Return what follows the closing quote of a literal."""
        return self.buffer[self.table[vertex, END] : self.table[vertex, AFTER]].tobytes()


def read_bodies(texts: Texts) -> Bodies:
    """Return the bodies of the vertices."""
    return Bodies(*_read(*texts))


def recased(bodies: Bodies, case: Case) -> Bodies:
    """Return the bodies in another case. Endings are not kept. Python decides what it is beyond ASCII."""
    buffer, table = _recased(bodies.buffer, bodies.table, case is Case.UPPER)
    pieces, end = [buffer], len(buffer)
    for vertex in np.nonzero(table[:, IS_ASCII] == 0)[0].tolist():
        text = bodies.body(vertex).decode()
        piece = (text.upper() if case is Case.UPPER else text.lower()).encode()
        pieces.append(np.frombuffer(piece, np.uint8))
        table[vertex, BEGIN], table[vertex, END] = end, end + len(piece)
        end += len(piece)
    return Bodies(np.concatenate(pieces) if len(pieces) > 1 else buffer, table)


@njit(cache=True)
def _read(data: Array, starts: Array, ends: Array, vertices: Array, text: Array, offsets: Array) -> tuple[Array, Array]:
    count = vertices.shape[0]
    size = 0
    for vertex in range(count):
        if starts[vertex] >= 0:
            size += ends[vertex] - starts[vertex]
        else:
            size += offsets[vertices[vertex, TERM] + 1] - offsets[vertices[vertex, TERM]]
    buffer = np.empty(size, np.uint8)
    table = np.empty((count, BODY_COLUMNS), np.int64)
    position = 0
    for vertex in range(count):
        if starts[vertex] >= 0:
            position = _read_term(data, starts[vertex], ends[vertex], buffer, position, table[vertex])
        else:
            term = vertices[vertex, TERM]
            position = _read_term(text, offsets[term], offsets[term + 1], buffer, position, table[vertex])
        table[vertex, VALUE_KIND] = vertices[vertex, OWN_KIND]
    return buffer, table


@njit(cache=True)
def _read_term(data: Array, start: int, end: int, buffer: Array, position: int, row: Array) -> int:
    """Write down one term; return where the next one is written."""
    first = data[start]
    close = end - 1
    if first == 34:
        close = closing_quote(data, start, end)
        kind = PLAIN if close == end - 1 else TAGGED if data[close + 1] == 64 else TYPED
    elif first == 60 and data[start + 1] != 60:
        kind = IRI
    else:
        kind = BLANK if first == 95 else TRIPLE
        close = start + 1
    row[KIND], row[BEGIN] = kind, position
    position, row[IS_ASCII] = _unescape(data, start + 1, close, buffer, position)
    row[END] = position
    for i in range(close + 1, end if first == 34 else close + 1):
        buffer[position] = data[i]
        position += 1
    row[AFTER] = position
    return position


@njit(cache=True)
def _unescape(data: Array, start: int, end: int, buffer: Array, position: int) -> tuple[int, int]:
    """Copy data[start:end] without its escapes; return where the copy ends, and whether it is all ASCII."""
    is_ascii = 1
    i = start
    while i < end:
        c = data[i]
        i += 1
        if c != 92:
            if c >= 128:
                is_ascii = 0
            buffer[position] = c
            position += 1
            continue
        c = data[i]
        i += 1
        if c == 117 or c == 85:  # u, U
            digits = 4 if c == 117 else 8
            code = 0
            for j in range(i, i + digits):
                code = code * 16 + _DIGIT[data[j]]
            i += digits
            if code >= 128:
                is_ascii = 0
            position = _write_utf8(code, buffer, position)
        else:
            buffer[position] = _ESCAPED[c]
            position += 1
    return position, is_ascii


@njit(cache=True)
def _write_utf8(code: int, buffer: Array, position: int) -> int:
    if code < 0x80:
        buffer[position] = code
        return position + 1
    length = 2 if code < 0x800 else 3 if code < 0x10000 else 4
    for i in range(length - 1, 0, -1):
        buffer[position + i] = 0x80 | (code & 0x3F)
        code >>= 6
    buffer[position] = code | (0xF00 >> length & 0xFF)
    return position + length


@njit(cache=True)
def _recased(buffer: Array, table: Array, upper: bool) -> tuple[Array, Array]:
    changed = buffer.copy()
    first, last = (97, 122) if upper else (65, 90)
    for i in range(changed.shape[0]):
        if first <= changed[i] <= last:
            changed[i] ^= 32
    return changed, table.copy()
