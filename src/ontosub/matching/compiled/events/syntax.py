"""What is certainly valid N-Triples, in exactly the form that a term is kept in.

The lane accepts only what needs no thought: plain absolute IRIs, plain labels, literals without needless escapes. Of
everything else a real parser says what it is. So these functions may say no to what is valid, but never yes to what is
not, or to what a parser would write down otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.events.octets import same

Array = NDArray[Any]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"


def _characters(allowed: str) -> Array:
    table = np.zeros(256, np.bool_)
    table[[ord(character) for character in allowed]] = True
    return table


_IN_SCHEME = _characters(_LETTERS + _DIGITS + "+-.")
_IN_IRI = _characters(_LETTERS + _LETTERS.upper() + _DIGITS + "-._~!$&'()*+,;=:@/?#")
_IN_LABEL = _characters(_LETTERS + _LETTERS.upper() + _DIGITS + "_-")
_IS_LETTER = _characters(_LETTERS)
_IS_HEXADECIMAL = _characters(_DIGITS + "abcdefABCDEF")
_IS_ESCAPED = _characters('tbnrf"\\')
"""What stands behind a backslash in canonical N-Triples, but for code points in numbers."""

_RDF = np.frombuffer(b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#", np.uint8)


@njit(cache=True)
def is_plain_iri(data: Array, start: int, end: int) -> bool:
    """Say whether data[start:end], which starts with < and ends with >, is a plain absolute IRI in ASCII."""
    last = end - 1
    i = start + 1
    while i < last and _IN_SCHEME[data[i]]:
        i += 1
    if i == start + 1 or i >= last or data[i] != 58 or not _IS_LETTER[data[start + 1]]:
        return False
    i += 1
    in_authority = i + 1 < last and data[i] == 47 and data[i + 1] == 47
    if in_authority:
        i += 2
    in_fragment, in_port = False, False
    while i < last:
        c = data[i]
        if c == 37:  # %
            if i + 2 >= last or not _IS_HEXADECIMAL[data[i + 1]] or not _IS_HEXADECIMAL[data[i + 2]]:
                return False
        elif not _IN_IRI[c]:
            return False
        if c == 47 or c == 63 or c == 35:  # / ? #
            if c == 35 and in_fragment:
                return False
            in_fragment |= c == 35
            in_authority, in_port = False, False
        elif in_port and not 48 <= c <= 57:
            return False
        elif in_authority and c == 64:  # a user name: let a real parser look at it
            return False
        elif in_authority and c == 58:
            in_port = True
        i += 1
    return True


@njit(cache=True)
def is_plain_label(data: Array, start: int, end: int) -> bool:
    """Say whether data[start:end], which starts with _, is a blank node with a plain label."""
    if end - start < 3 or data[start + 1] != 58 or data[start + 2] == 45:
        return False
    for i in range(start + 2, end):
        if not _IN_LABEL[data[i]]:
            return False
    return True


@njit(cache=True)
def is_plain_literal(data: Array, start: int, quote: int, end: int) -> bool:
    """Say whether data[start:end], whose text ends at `quote`, is a literal in the form that it is kept in.

    What is beyond ASCII must be known to be UTF-8.
    """
    if not _is_plain_text(data, start + 1, quote):
        return False
    first = quote + 1
    if first == end:
        return True
    if data[first] == 64:
        return _is_plain_language(data, first + 1, end)
    # The datatypes of RDF itself are those of languages: a literal that names them is malformed.
    is_of_rdf = end - first - 2 > len(_RDF) and same(_RDF, 0, len(_RDF), data, first + 2)
    return not is_of_rdf and is_plain_iri(data, first + 2, end)


@njit(cache=True)
def _is_plain_text(data: Array, start: int, end: int) -> bool:
    i = start
    while i < end:
        c = data[i]
        if c < 32 or c == 127:
            return False
        if c == 92:
            i += 1
            if i >= end or not _IS_ESCAPED[data[i]]:
                return False
        # U+FFFE and U+FFFF, which are no characters, are written as escapes.
        if c == 239 and i + 2 < end and data[i + 1] == 191 and data[i + 2] >= 190:
            return False
        i += 1
    return True


@njit(cache=True)
def _is_plain_language(data: Array, start: int, end: int) -> bool:
    """Say whether the tag is a language of two or three small letters, perhaps with a region of two."""
    i = start
    while i < end and _IS_LETTER[data[i]]:
        i += 1
    if not 2 <= i - start <= 3:
        return False
    return i == end or (i + 3 == end and data[i] == 45 and bool(_IS_LETTER[data[i + 1]] and _IS_LETTER[data[i + 2]]))
