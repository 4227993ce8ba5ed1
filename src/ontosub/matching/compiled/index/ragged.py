"""Lists of varying length in flat arrays: list `i` is `values[starts[i]:starts[i + 1]]`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def starts_of(lengths: Array) -> Array:
    """Return where lists of these lengths start, and where the last one ends."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def spread(starts: Array, lengths: Array) -> Array:
    """Return all positions of ranges of these lengths."""
    begins = starts_of(lengths)
    return np.repeat(starts - begins[:-1], lengths) + np.arange(begins[-1])


def taken(starts: Array, values: Array, which: Array) -> tuple[Array, Array]:
    """Return the lists of the chosen rows, one after the other, and where they start."""
    lengths = np.diff(starts)[which]
    return values[spread(starts[:-1][which], lengths)], starts_of(lengths)
