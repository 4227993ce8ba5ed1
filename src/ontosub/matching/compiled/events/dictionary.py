"""Terms as numbers: an append-only table from the N-Triples form of a term to a small integer.

The table is a set of flat arrays (slots, hashes, offsets, bytes), so that a kernel can look terms up in a payload
without making objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.events.octets import hash_of, same

Array = NDArray[Any]

UNKNOWN = -1

__all__ = ["UNKNOWN", "Dictionary", "find", "hash_of"]


@njit(cache=True)
def find(
    data: Array, start: int, end: int, hashed: int, slots: Array, hashes: Array, offsets: Array, text: Array
) -> int:
    """Return the number of the term data[start:end], whose hash is given, or UNKNOWN."""
    mask = slots.shape[0] - 1
    slot = np.int64(hashed & np.uint64(mask))
    while slots[slot] != UNKNOWN:
        number = slots[slot]
        if hashes[number] == hashed and offsets[number + 1] - offsets[number] == end - start:
            if same(data, start, end, text, offsets[number]):
                return np.int64(number)
        slot = (slot + 1) & mask
    return UNKNOWN


@njit(cache=True)
def _find_all_of(data: Array, slots: Array, hashes: Array, offsets: Array, text: Array) -> int:
    return find(data, 0, len(data), hash_of(data, 0, len(data)), slots, hashes, offsets, text)


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
    """Numbers for terms, in the order in which they first came.

    `slots`, `hashes`, `offsets` and `text` are for kernels to read (`find`); they are other arrays after a call of
    `number`.
    """

    def __init__(self, arrays: Mapping[str, Array] | None = None) -> None:
        """Make an empty table, or one of the arrays that `arrays` gave: they are never written."""
        if arrays is None:
            arrays = {
                "slots": np.full(1024, UNKNOWN, np.int32),
                "hashes": np.zeros(0, np.uint64),
                "offsets": np.zeros(1, np.int64),
                "text": np.zeros(0, np.uint8),
            }
        self._count = len(arrays["hashes"])
        self._own: tuple[Array, ...] = ()
        self.slots, self.hashes, self.offsets, self.text = (_read_only(arrays[name]) for name in _ARRAYS)

    def __len__(self) -> int:
        return self._count

    def number(self, terms: Iterable[str]) -> Array:
        """Return the numbers of the terms (in N-Triples form), adding those that are new."""
        encoded = [term.encode() for term in terms]
        bounds = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(term) for term in encoded], out=bounds[1:])
        slots, hashes, offsets, text = self._own = self._roomy(len(encoded), int(bounds[-1]))
        numbers = np.empty(len(encoded), np.int32)
        data = np.frombuffer(b"".join(encoded), np.uint8)
        self._count = _insert(data, bounds, slots, hashes, offsets, text, self._count, numbers)
        self.slots, self.hashes, self.offsets, self.text = map(_read_only, self._own)
        return numbers

    def find(self, term: str) -> int:
        """Return the number of a term, or UNKNOWN."""
        data = np.frombuffer(term.encode(), np.uint8)
        return int(_find_all_of(data, self.slots, self.hashes, self.offsets, self.text))

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

    def since(self, first: int) -> dict[str, Array]:
        """Return the terms from a number on, as `of_pieces` takes them."""
        offsets = self.offsets[first : self._count + 1]
        return {
            "hashes": self.hashes[first : self._count],
            "offsets": offsets - offsets[0],
            "text": self.text[offsets[0] : offsets[-1]],
        }

    @classmethod
    def of_pieces(cls, pieces: Sequence[Mapping[str, Array]]) -> Dictionary:
        """Return the table of the terms in all pieces, which are numbered in that order."""
        if len(pieces) == 1:
            (one,) = pieces
            hashes, offsets, text = one["hashes"], one["offsets"], one["text"]
        else:
            ends = np.cumsum([0, *(int(piece["offsets"][-1]) for piece in pieces)])
            starts = [piece["offsets"][:-1] + end for piece, end in zip(pieces, ends, strict=False)]
            offsets = np.concatenate([*starts, ends[-1:]]).astype(np.int64)
            hashes = np.concatenate([np.zeros(0, np.uint64), *(piece["hashes"] for piece in pieces)])
            text = np.concatenate([np.zeros(0, np.uint8), *(piece["text"] for piece in pieces)])
        slots = np.full(1 << max(10, (2 * len(hashes)).bit_length()), UNKNOWN, np.int32)
        _fill(slots, hashes, len(hashes))
        return cls({"slots": slots, "hashes": hashes, "offsets": offsets, "text": text})

    def _roomy(self, terms: int, size: int) -> tuple[Array, Array, Array, Array]:
        """Return arrays of our own that have room for that many more terms of that size together."""
        count, end = self._count + terms, int(self.offsets[self._count]) + size
        slots, *others = self._own or (self.slots, self.hashes, self.offsets, self.text)
        hashes, offsets, text = map(_grown, others, (count, count + 1, end))
        if count * 2 > len(slots):
            slots = np.full(1 << (count * 2).bit_length(), UNKNOWN, np.int32)
            _fill(slots, hashes, self._count)
        elif not slots.flags.writeable:
            slots = slots.copy()
        return slots, hashes, offsets, text


_ARRAYS = ("slots", "hashes", "offsets", "text")


def _grown(array: Array, needed: int) -> Array:
    """Return the array, or a larger copy when it is too small or cannot be written."""
    if needed <= len(array) and array.flags.writeable:
        return array
    larger = np.zeros(max(needed, len(array) * 2), array.dtype)
    larger[: len(array)] = array
    return larger


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
