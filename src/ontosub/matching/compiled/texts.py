"""Columns of texts that repeat: written out or, for who writes them as Parquet, as a dictionary and indices into it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ontosub.matching.compiled.index.part import Part

Array = NDArray[Any]


class Texts:
    """Some texts, from which columns are made by their numbers."""

    def __init__(self, texts: pa.Array, *, encoded: bool) -> None:
        self._texts, self._encoded = texts, encoded
        self._place: Array | None = None
        if encoded:
            # Each text stands in a dictionary once: Parquet would mistake the second for what follows it.
            unique = texts.dictionary_encode()
            self._texts = unique.dictionary.cast(pa.string())
            if len(self._texts) < len(texts):
                self._place = unique.indices.to_numpy()

    def at(self, numbers: Array) -> pa.Array:
        """Return the column of the texts with these numbers."""
        if not self._encoded:
            return self._texts.take(pa.array(numbers)).cast(pa.string())
        places = numbers.astype(np.int32, copy=False) if self._place is None else self._place[numbers]
        return pa.DictionaryArray.from_arrays(pa.array(places), self._texts, safe=False)


def subscription_ids(part: Part, numbers: Array, *, encoded: bool) -> pa.Array:
    """Return the column of the ids of subscriptions of a part."""
    if not encoded:
        return part.holding.strings(numbers)
    is_used = np.zeros(len(part), np.bool_)
    is_used[numbers] = True
    place = np.cumsum(is_used, dtype=np.int32) - 1
    return pa.DictionaryArray.from_arrays(pa.array(place[numbers]), part.holding.strings(np.flatnonzero(is_used)))
