"""The arcs of each vertex, one after the other, sorted and without repetitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.events.graph import ALONG, END
from ontosub.matching.compiled.events.stating import OBJECT, PROPERTY, SUBJECT

Array = NDArray[Any]

_FEW = 32
"""Up to how many numbers are sorted by insertion."""


@njit(cache=True)
def _sort(keys: Array, start: int, end: int) -> None:
    """Sort keys[start:end]: few by insertion, many as a heap. No order of the keys makes this slow."""
    if end - start > _FEW:
        _sort_heap(keys, start, end - start)
        return
    for i in range(start + 1, end):
        key = keys[i]
        j = i
        while j > start and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


@njit(cache=True)
def _sort_heap(keys: Array, start: int, count: int) -> None:
    # First every key finds its place below a larger one; then the largest goes to the end, again and again.
    first, last = count // 2, count
    while last > 1:
        if first > 0:
            first -= 1
            key = keys[start + first]
        else:
            last -= 1
            key = keys[start + last]
            keys[start + last] = keys[start]
        parent, child = first, 2 * first + 1
        while child < last:
            if child + 1 < last and keys[start + child] < keys[start + child + 1]:
                child += 1
            if keys[start + child] <= key:
                break
            keys[start + parent] = keys[start + child]
            parent, child = child, 2 * child + 1
        keys[start + parent] = key


@njit(cache=True)
def arcs_by(column: int, arcs: Array, count: int, vertices: int) -> tuple[Array, Array, Array]:
    """Return where the arcs of each vertex start, the arcs, sorted by property and other end, and the masks.

    `column` says which end of an arc it belongs to: SUBJECT or OBJECT. A mask has bit (p & 63) for each property p.
    """
    other = OBJECT if column == SUBJECT else SUBJECT
    starts = np.zeros(vertices + 1, np.int64)
    for arc in range(count):
        starts[arcs[arc, column] + 1] += 1
    for vertex in range(vertices):
        starts[vertex + 1] += starts[vertex]
    keys = np.empty(count, np.int64)
    # Counting down to where the arcs of a vertex start leaves every start where it belongs.
    for arc in range(count):
        vertex = arcs[arc, column] + 1
        starts[vertex] -= 1
        keys[starts[vertex]] = arcs[arc, PROPERTY] << 32 | arcs[arc, other]
    return _without_repetitions(keys, starts, count)


@njit(cache=True)
def _without_repetitions(keys: Array, starts: Array, count: int) -> tuple[Array, Array, Array]:
    """Sort the keys of each vertex v, from starts[v + 1] to the next start, and leave one of equal ones."""
    vertices = starts.shape[0] - 1
    sorted_arcs = np.empty((count, 2), np.int32)
    masks = np.zeros(vertices, np.uint64)
    kept = 0
    for vertex in range(vertices):
        start = starts[vertex + 1]
        end = starts[vertex + 2] if vertex + 2 <= vertices else count
        starts[vertex] = kept
        _sort(keys, start, end)
        for i in range(start, end):
            if i > start and keys[i] == keys[i - 1]:
                continue
            property_ = keys[i] >> 32
            sorted_arcs[kept, ALONG], sorted_arcs[kept, END] = property_, keys[i] & 0xFFFFFFFF
            masks[vertex] |= np.uint64(1) << np.uint64(property_ & 63)
            kept += 1
    starts[vertices] = kept
    return starts, sorted_arcs[:kept], masks
