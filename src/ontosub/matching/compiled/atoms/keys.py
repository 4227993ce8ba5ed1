"""Which atoms hold of which vertices, as keys: the vertex above 32 bits of atom, so that they sort by both."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]


@njit(cache=True)
def noted(keys: Array, count: int, vertex: int, atom: int) -> Array:
    """Return the keys, grown if need be, with that of an atom that holds of a vertex put at `count`."""
    if count >= keys.shape[0]:
        longer = np.empty(keys.shape[0] * 2, np.int64)
        longer[:count] = keys
        keys = longer
    keys[count] = (np.int64(vertex) << 32) | np.int64(atom)
    return keys


@njit(cache=True)
def rows_of(keys: Array, vertices: int) -> tuple[Array, Array]:
    """Return (from, atoms): atoms[from[v]:from[v + 1]] are those of vertex v, each once, in order.

    The keys may come in any order and more than once; they are sorted in place.
    """
    keys.sort()
    starts, atoms = np.zeros(vertices + 1, np.int32), np.empty(keys.shape[0], np.int32)
    count = 0
    for i in range(keys.shape[0]):
        if i == 0 or keys[i] != keys[i - 1]:
            atoms[count] = keys[i] & 0xFFFFFFFF
            count += 1
            starts[(keys[i] >> 32) + 1] = count
    for vertex in range(vertices):
        starts[vertex + 1] = max(starts[vertex], starts[vertex + 1])
    return starts, atoms[:count]
