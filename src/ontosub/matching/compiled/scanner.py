"""The byte lane: N-Triples to numbers without making objects.

Of a publisher's payload only the plainest form is read here: one statement per line, no comments, no escapes, simple
IRIs. Whatever else it has, `scan` declines, and the payload goes through pyoxigraph, which either writes it down in
canonical form or says what is wrong with it. So the lane never needs to judge what is valid, only what is certainly so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.dictionary import hash_of

Array = NDArray[Any]

IRI, BLANK, LITERAL = 0, 1, 2

DECLINED = -1

_XSD_STRING = np.frombuffer(b"<http://www.w3.org/2001/XMLSchema#string>", np.uint8)
_LANG_STRING = np.frombuffer(b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>", np.uint8)


def _characters(allowed: str) -> Array:
    table = np.zeros(256, np.bool_)
    table[[ord(character) for character in allowed]] = True
    return table


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_IN_SCHEME = _characters(_LETTERS + _DIGITS + "+-.")
_IN_IRI = _characters(_LETTERS + _LETTERS.upper() + _DIGITS + "-._~!$&'()*+,;=:@/?#")
_IN_LABEL = _characters(_LETTERS + _LETTERS.upper() + _DIGITS + "_")
_IN_LANGUAGE = _characters(_LETTERS)


@njit(cache=True)
def _iri_end(data: Array, start: int, end: int) -> int:
    """Return the end of the IRI that starts at `<`, or DECLINED when it is not a simple absolute one."""
    i = start + 1
    while i < end and _IN_SCHEME[data[i]]:
        i += 1
    if i == start + 1 or i >= end or data[i] != 58 or not 97 <= data[start + 1] <= 122:
        return DECLINED
    i += 1
    hashes, authority = 0, False
    if i + 1 < end and data[i] == 47 and data[i + 1] == 47:
        authority = True
        i += 2
    while i < end and _IN_IRI[data[i]]:
        c = data[i]
        if c == 35:
            hashes += 1
        if c == 47 or c == 63 or c == 35:
            authority = False
        elif authority and (c == 58 or c == 64):
            return DECLINED  # a port or a user name: let a real IRI parser look at it
        i += 1
    return i + 1 if i < end and data[i] == 62 and hashes <= 1 else DECLINED


@njit(cache=True)
def _label_end(data: Array, start: int, end: int) -> int:
    """Return the end of the blank node that starts at `_`, or DECLINED."""
    if start + 2 >= end or data[start + 1] != 58:
        return DECLINED
    i = start + 2
    while i < end and _IN_LABEL[data[i]]:
        i += 1
    return i if i > start + 2 else DECLINED


@njit(cache=True)
def _is(data: Array, start: int, end: int, text: Array) -> bool:
    if end - start != text.shape[0]:
        return False
    for i in range(text.shape[0]):
        if data[start + i] != text[i]:
            return False
    return True


@njit(cache=True)
def _literal_ends(data: Array, start: int, end: int) -> tuple[int, int]:
    """Return where the literal that starts at `"` ends, in its shortest form and as written; or DECLINED."""
    i = start + 1
    while i < end and data[i] != 34:
        if data[i] == 92 or data[i] < 32 or data[i] == 127:
            return DECLINED, DECLINED
        i += 1
    if i >= end:
        return DECLINED, DECLINED
    i += 1
    if i < end and data[i] == 64:
        # Two or three small letters are certainly a language; anything longer is looked at by a real parser.
        first = i + 1
        i = first
        while i < end and _IN_LANGUAGE[data[i]]:
            i += 1
        if not 2 <= i - first <= 3:
            return DECLINED, DECLINED
        return i, i
    if i + 2 < end and data[i] == 94:
        if data[i + 1] != 94 or data[i + 2] != 60:
            return DECLINED, DECLINED
        after = _iri_end(data, i + 2, end)
        if after == DECLINED or _is(data, i + 2, after, _LANG_STRING):
            return DECLINED, DECLINED
        return (i if _is(data, i + 2, after, _XSD_STRING) else after), after
    return i, i


@njit(cache=True)
def _canonical_end(data: Array, start: int, end: int) -> int:
    """Return the end of a term in canonical N-Triples, which needs no judging."""
    i = start
    if data[i] == 34:
        i += 1
        while data[i] != 34:
            i += 2 if data[i] == 92 else 1
    while i < end and data[i] != 32:
        i += 1
    return i


@njit(cache=True)
def _term(data: Array, start: int, end: int, canonical: bool) -> tuple[int, int, int]:
    """Return the kind of the term at `start` and its two ends; see `_literal_ends`."""
    c = data[start]
    if canonical:
        after = _canonical_end(data, start, end)
        return IRI if c == 60 else BLANK if c == 95 else LITERAL, after, after
    if c == 60:
        after = _iri_end(data, start, end)
        return IRI, after, after
    if c == 95:
        after = _label_end(data, start, end)
        return BLANK, after, after
    if c == 34:
        short, after = _literal_ends(data, start, end)
        return LITERAL, short, after
    return IRI, DECLINED, DECLINED


@njit(cache=True)
def scan(
    data: Array,
    canonical: bool,
    statements: Array,
    starts: Array,
    ends: Array,
    kinds: Array,
    hashes: Array,
    slots: Array,
) -> tuple[int, int]:
    """Read a payload: fill `statements` with rows of term numbers, and the tables of terms; return both counts.

    Terms are numbered as they first come. The tables must be large enough: a payload of n lines has at most n
    statements and 3n terms; `slots` is a power of two above 6n, filled with -1. Returns DECLINED twice when the payload
    is neither `canonical` nor in the plainest form.
    """
    mask = slots.shape[0] - 1
    end = data.shape[0]
    i, count, terms = 0, 0, 0
    while i < end:
        if data[i] == 10:
            i += 1
            continue
        for part in range(3):
            if i >= end:
                return DECLINED, DECLINED
            kind, short, after = _term(data, i, end, canonical)
            if after == DECLINED or (part == 0 and kind == LITERAL) or (part == 1 and kind != IRI):
                return DECLINED, DECLINED
            hashed = hash_of(data, i, short)
            slot = np.int64(hashed & np.uint64(mask))
            number = slots[slot]
            while number != -1:
                if hashes[number] == hashed and _same(data, i, short, starts[number], ends[number]):
                    break
                slot = (slot + 1) & mask
                number = slots[slot]
            if number == -1:
                number = terms
                slots[slot] = number
                starts[number], ends[number], kinds[number], hashes[number] = i, short, kind, hashed
                terms += 1
            statements[count, part] = number
            i = after
            if i >= end or data[i] != 32:
                return DECLINED, DECLINED
            i += 1
        if i >= end or data[i] != 46:
            return DECLINED, DECLINED
        i += 1
        if i < end and data[i] == 13:
            i += 1
        if i < end and data[i] != 10:
            return DECLINED, DECLINED
        i += 1
        count += 1
    return count, terms


@njit(cache=True)
def _same(data: Array, start: int, end: int, other: int, other_end: int) -> bool:
    if end - start != other_end - other:
        return False
    for i in range(end - start):
        if data[start + i] != data[other + i]:
            return False
    return True
