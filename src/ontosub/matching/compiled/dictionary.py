"""Terms as numbers: an append-only table from the N-Triples form of a term to a small integer.

The table is a set of flat arrays (slots, hashes, offsets, bytes), so that a kernel can look terms up in a payload
without making objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]

UNKNOWN = -1


@njit(cache=True)
def hash_of(data: Array, start: int, end: int) -> int:
    """Return the 64-bit FNV-1a hash of data[start:end]."""
    value = np.uint64(14695981039346656037)
    for position in range(start, end):
        value = (value ^ np.uint64(data[position])) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(29))


@njit(cache=True)
def find(
    data: Array, start: int, end: int, hashed: int, slots: Array, hashes: Array, offsets: Array, text: Array
) -> int:
    """Return the number of the term data[start:end], whose hash is given, or UNKNOWN."""
    mask = slots.shape[0] - 1
    slot = np.int64(hashed & np.uint64(mask))
    length = end - start
    while slots[slot] != UNKNOWN:
        number = slots[slot]
        if hashes[number] == hashed and offsets[number + 1] - offsets[number] == length:
            begin = offsets[number]
            same = True
            for i in range(length):
                if text[begin + i] != data[start + i]:
                    same = False
                    break
            if same:
                return number
        slot = (slot + 1) & mask
    return UNKNOWN


@njit(cache=True)
def _insert(
    data: Array, bounds: Array, slots: Array, hashes: Array, offsets: Array, text: Array, count: int, numbers: Array
) -> int:
    """Number the terms data[bounds[i]:bounds[i+1]], adding those that are new; return how many there are then."""
    mask = slots.shape[0] - 1
    for i in range(bounds.shape[0] - 1):
        start, end = bounds[i], bounds[i + 1]
        hashed = hash_of(data, start, end)
        number = find(data, start, end, hashed, slots, hashes, offsets, text)
        if number == UNKNOWN:
            number = count
            begin = offsets[count]
            for j in range(end - start):
                text[begin + j] = data[start + j]
            offsets[count + 1] = begin + end - start
            hashes[count] = hashed
            slot = np.int64(hashed & np.uint64(mask))
            while slots[slot] != UNKNOWN:
                slot = (slot + 1) & mask
            slots[slot] = count
            count += 1
        numbers[i] = number
    return count


@njit(cache=True)
def _fill(slots: Array, hashes: Array, count: int) -> None:
    mask = slots.shape[0] - 1
    for number in range(count):
        slot = np.int64(hashes[number] & np.uint64(mask))
        while slots[slot] != UNKNOWN:
            slot = (slot + 1) & mask
        slots[slot] = number


class Dictionary:
    """Numbers for terms, in the order in which they first came."""

    def __init__(self, arrays: Mapping[str, Array] | None = None) -> None:
        if arrays is None:
            self.slots = np.full(1024, UNKNOWN, np.int32)
            self.hashes = np.zeros(512, np.uint64)
            self.offsets = np.zeros(513, np.int64)
            self.text = np.zeros(16384, np.uint8)
            self._count = 0
        else:
            self.slots, self.hashes, self.offsets, self.text = (arrays[name] for name in _ARRAYS)
            self._count = len(self.hashes)

    def __len__(self) -> int:
        return self._count

    def number(self, terms: Iterable[str]) -> Array:
        """Return the numbers of the terms (in N-Triples form), adding those that are new."""
        encoded = [term.encode() for term in terms]
        bounds = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(term) for term in encoded], out=bounds[1:])
        data = np.frombuffer(b"".join(encoded), np.uint8)
        self._make_room(len(encoded), int(bounds[-1]))
        numbers = np.empty(len(encoded), np.int32)
        self._count = _insert(data, bounds, self.slots, self.hashes, self.offsets, self.text, self._count, numbers)
        return numbers

    def find(self, term: str) -> int:
        """Return the number of a term, or UNKNOWN."""
        data = np.frombuffer(term.encode(), np.uint8)
        end = len(data)
        return int(find(data, 0, end, hash_of(data, 0, end), self.slots, self.hashes, self.offsets, self.text))

    def term(self, number: int) -> str:
        """Return the term that has the number."""
        return self.text[self.offsets[number] : self.offsets[number + 1]].tobytes().decode()

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Yield the arrays that make up the table, cut to what is in use."""
        count = self._count
        yield from zip(
            _ARRAYS,
            (self.slots, self.hashes[:count], self.offsets[: count + 1], self.text[: self.offsets[count]]),
            strict=True,
        )

    def _make_room(self, terms: int, size: int) -> None:
        count = self._count + terms
        self.hashes = _grown(self.hashes, count)
        self.offsets = _grown(self.offsets, count + 1)
        self.text = _grown(self.text, int(self.offsets[self._count]) + size)
        if count * 2 > len(self.slots):
            self.slots = np.full(1 << (count * 2).bit_length(), UNKNOWN, np.int32)
            _fill(self.slots, self.hashes, self._count)
        elif not self.slots.flags.writeable:
            self.slots = self.slots.copy()


_ARRAYS = ("slots", "hashes", "offsets", "text")


def _grown(array: Array, needed: int) -> Array:
    """Return the array, or a larger copy when it is too small or cannot be written."""
    if needed <= len(array) and array.flags.writeable:
        return array
    larger = np.zeros(max(needed, len(array) * 2), array.dtype)
    larger[: len(array)] = array
    return larger
