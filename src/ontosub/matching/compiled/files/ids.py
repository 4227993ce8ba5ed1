"""The ids of a segment's subscriptions, both ways, on arrays that may be memory-mapped.

From number to id: text and offsets in Arrow's own layout, so that Arrow reads them in place. From id to number: sorted
hashes, and the numbers in that order. No id becomes a Python object before it is asked for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ontosub.matching.compiled.files.array_files import Arrays
from ontosub.matching.compiled.files.packed import column, malformed
from ontosub.model.errors import UsageError


class Ids:
    """The ids of subscriptions that are numbered from 0, in the arrays that `build` made."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Raise IndexDirectoryError when the arrays are not what `build` makes."""
        self._text, self._starts = column(arrays, "id_text", np.uint8), column(arrays, "id_starts", np.int64)
        hashes, numbers = column(arrays, "id_hashes", np.uint64), column(arrays, "id_numbers", np.uint32)
        if not hashes.size == numbers.size == self._starts.size - 1:
            raise malformed("id_starts")
        if numbers.size and numbers.max() >= numbers.size:
            raise malformed("id_numbers")
        # Single numbers are read several times faster through memory views than through arrays.
        self._hashes, self._numbers = hashes.data, numbers.data
        self.strings = self._in_place()

    @staticmethod
    def build(ids: Sequence[str]) -> Arrays:
        """Return the arrays for these ids, which are numbered in this order.

        Raises UsageError when an id occurs twice, or has half of a surrogate pair in it, which no UTF-8 text can.
        """
        try:
            texts = list(map(str.encode, ids))
        except UnicodeEncodeError as error:
            raise UsageError(f"a subscription's id is not valid Unicode: {error.object!r}") from error
        hashes = np.fromiter(map(_hash, texts), np.uint64, len(texts))
        numbers = np.argsort(hashes, kind="stable").astype(np.uint32)
        hashes = hashes[numbers]
        for place in np.flatnonzero(hashes[1:] == hashes[:-1]):
            if ids[numbers[place]] == ids[numbers[place + 1]]:
                raise UsageError(f"two subscriptions of a segment have the id {ids[numbers[place]]!r}")
        return {
            "id_text": np.frombuffer(b"".join(texts), np.uint8),
            "id_starts": np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1),
            "id_hashes": hashes,
            "id_numbers": numbers,
        }

    def __len__(self) -> int:
        return len(self._hashes)

    def find(self, id: str) -> int | None:
        """Return the number of the subscription with this id, or None."""
        text, hash_ = _text_and_hash(id)
        for place in range(bisect_left(self._hashes, hash_), len(self)):
            if self._hashes[place] != hash_:
                break
            number = self._numbers[place]
            if self._bytes(number) == text:
                return number
        return None

    def id(self, number: int) -> str:
        """Return the id of the subscription with this number."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        return self._bytes(number).decode()

    def ids(self, numbers: NDArray[np.integer[Any]]) -> list[str]:
        """Return the ids of many subscriptions at once; `strings.take` does the same and stays in Arrow."""
        found: list[str] = self.strings.take(pa.array(numbers)).to_pylist()
        return found

    def all(self) -> list[str]:
        """Return all ids, in the order of their numbers."""
        found: list[str] = self.strings.to_pylist()
        return found

    def _bytes(self, number: int) -> bytes:
        return self._text[self._starts.item(number) : self._starts.item(number + 1)].tobytes()

    def _in_place(self) -> pa.LargeStringArray:
        try:
            strings = pa.LargeStringArray.from_buffers(len(self), pa.py_buffer(self._starts), pa.py_buffer(self._text))
            strings.validate(full=True)
        except pa.ArrowInvalid as error:
            raise malformed("id_text") from error
        return strings


@lru_cache(1)
def _text_and_hash(id: str) -> tuple[bytes, int]:
    """Return what is looked for. The last one is kept, because one segment after the other is asked for it."""
    text = id.encode("utf-8", "surrogatepass")
    return text, _hash(text)


def _hash(text: bytes) -> int:
    """Return a hash that is the same in every process, and for which nobody can choose colliding ids."""
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
