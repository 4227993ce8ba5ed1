"""Bytes, eight at a time: hash, compare, search.

Nothing is read outside of the given bounds. Kernels are compiled for each type of argument, and an array that can be
written is of another type than one that cannot: so all bytes come in arrays that cannot.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]
Word: TypeAlias = Any
"""A number of 64 bits without sign."""

_EIGHT, _HALF = np.uint64(8), np.uint64(32)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_ONES, _TOPS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_PLACES = np.uint64(0x0001020304050607)
_SEVEN, _LAST = np.uint64(7), np.uint64(56)


@njit(cache=True)
def _word(data: Array, start: int) -> Word:
    """Return data[start:start + 8] as a number, the first byte lowest. LLVM makes one load of it."""
    i = np.uint64(start)
    return (
        np.uint64(data[i])
        | np.uint64(data[i + np.uint64(1)]) << np.uint64(8)
        | np.uint64(data[i + np.uint64(2)]) << np.uint64(16)
        | np.uint64(data[i + np.uint64(3)]) << np.uint64(24)
        | np.uint64(data[i + np.uint64(4)]) << np.uint64(32)
        | np.uint64(data[i + np.uint64(5)]) << np.uint64(40)
        | np.uint64(data[i + np.uint64(6)]) << np.uint64(48)
        | np.uint64(data[i + np.uint64(7)]) << np.uint64(56)
    )


@njit(cache=True)
def _short_word(data: Array, start: int, end: int) -> Word:
    """Return data[start:end], at most seven bytes, as a number."""
    if start + 8 <= len(data):
        return _word(data, start) & ((np.uint64(1) << (_EIGHT * np.uint64(end - start))) - np.uint64(1))
    word = np.uint64(0)
    for i in range(end - 1, start - 1, -1):
        word = word << _EIGHT | np.uint64(data[i])
    return word


@njit(cache=True)
def _mixed(value: Word, word: Word) -> Word:
    value = (value ^ word) * _MULTIPLIER
    return value ^ value >> _HALF


@njit(cache=True)
def hash_of(data: Array, start: int, end: int) -> Word:
    """Return a 64-bit hash of data[start:end]."""
    value = _mixed(np.uint64(0), np.uint64(end - start))
    if end - start < 8:
        return _mixed(value, _short_word(data, start, end))
    for i in range(start, end - 8, 8):
        value = _mixed(value, _word(data, i))
    # The last eight bytes, which the loop may have seen some of.
    return _mixed(value, _word(data, end - 8))


@njit(cache=True)
def same(data: Array, start: int, end: int, other: Array, other_start: int) -> Any:
    """Say whether data[start:end] is what `other` has from `other_start` on."""
    offset = other_start - start
    if end - start < 8:
        for i in range(start, end):
            if data[i] != other[i + offset]:
                return False
        return True
    for i in range(start, end - 8, 8):
        if _word(data, i) != _word(other, i + offset):
            return False
    return _word(data, end - 8) == _word(other, end - 8 + offset)


@njit(cache=True)
def _places_of(word: Word, byte: int) -> Word:
    """Return a number whose lowest bit set is the highest bit of the first such byte in the word; 0: there is none."""
    different = word ^ (_ONES * np.uint64(byte))
    return (different - _ONES) & ~different & _TOPS


@njit(cache=True)
def _first(places: Word) -> Any:
    """Return the number of the byte whose highest bit is the lowest bit set: a multiplication moves it to the top."""
    lowest = (places & (~places + np.uint64(1))) >> _SEVEN
    return np.int64(lowest * _PLACES >> _LAST)


@njit(cache=True)
def find_byte(data: Array, start: int, end: int, byte: int) -> Any:
    """Return where the byte first occurs in data[start:end]; `end` if nowhere."""
    i = start
    while i + 8 <= end:
        places = _places_of(_word(data, i), byte)
        if places != np.uint64(0):
            return i + _first(places)
        i += 8
    while i < end and data[i] != byte:
        i += 1
    return i


@njit(cache=True)
def find_either(data: Array, start: int, end: int, byte: int, other: int) -> Any:
    """Return where one of two bytes first occurs in data[start:end]; `end` if nowhere."""
    i = start
    while i + 8 <= end:
        word = _word(data, i)
        places = _places_of(word, byte) | _places_of(word, other)
        if places != np.uint64(0):
            return i + _first(places)
        i += 8
    while i < end and data[i] != byte and data[i] != other:
        i += 1
    return i
