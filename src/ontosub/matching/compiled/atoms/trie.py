"""A trie of needles in flat arrays, and the needles that a text starts or ends with.

Nodes are numbered breadth first, so that the children of a node lie side by side, in the order of their labels, and
those of the next node follow: two arrays hold the whole tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.atoms.bodies import BEGIN, END, KIND, Bodies
from ontosub.matching.compiled.atoms.keys import noted

Array = NDArray[Any]

NONE = -1

FORWARD, BACKWARD = 1, -1


class Needle(NamedTuple):
    """A text that is looked for, and the atom that holds where it is found."""

    text: bytes
    atom: int


class Tree(NamedTuple):
    """The children of node n are `first[n]` up to `first[n + 1]`; `needle[n]` is the needle that ends at n, or NONE."""

    first: Array
    label: Array
    needle: Array


def plant(needles: Iterable[bytes]) -> Tree:
    """Return the tree of distinct needles, given in order."""
    needles = list(needles)
    bounds = np.zeros(len(needles) + 1, np.int64)
    np.cumsum([len(needle) for needle in needles], out=bounds[1:])
    return Tree(*_plant(np.frombuffer(b"".join(needles), np.uint8), bounds))


class Trie:
    """Finds the needles that a text starts with, or, read BACKWARD, those that it ends with."""

    def __init__(self, needles: Iterable[Needle], direction: int = FORWARD) -> None:
        ordered = sorted((text[::direction], atom) for text, atom in needles)
        self._direction = direction
        self._tree = plant(text for text, _ in ordered)
        self._atoms = np.array([atom for _, atom in ordered], np.int64)
        self.steps = 0

    def find(self, bodies: Bodies, domain: int) -> Array:
        """Return the keys of the atoms that hold; see `keys`. `steps` then says how many nodes were looked at."""
        keys, self.steps = _walk(*bodies, domain, self._direction, *self._tree, self._atoms)
        return keys


@njit(cache=True)
def _plant(data: Array, bounds: Array) -> tuple[Array, Array, Array]:
    """Make the tree of the needles data[bounds[i]:bounds[i + 1]], which are distinct and in order.

    A node stands for a range of needles that start alike; it is split by their next byte.
    """
    most = data.shape[0] + 1
    low, high = np.empty(most, np.int32), np.empty(most, np.int32)
    first, label = np.empty(most + 1, np.int32), np.empty(most, np.uint8)
    needle = np.full(most, NONE, np.int32)
    low[0], high[0], label[0] = 0, bounds.shape[0] - 1, 0
    node, nodes, depth, level_end = 0, 1, 0, 1
    while node < nodes:
        if node == level_end:
            depth += 1
            level_end = nodes
        first[node] = nodes
        i, end = low[node], high[node]
        if i < end and bounds[i + 1] - bounds[i] == depth:
            needle[node] = i
            i += 1
        while i < end:
            byte = data[bounds[i] + depth]
            low[nodes], label[nodes] = i, byte
            while i < end and data[bounds[i] + depth] == byte:
                i += 1
            high[nodes] = i
            nodes += 1
        node += 1
    first[nodes] = nodes
    return first[: nodes + 1].copy(), label[:nodes].copy(), needle[:nodes].copy()


@njit(cache=True)
def child_between(label: Array, low: int, end: int, byte: int) -> int:
    """Return which of the siblings low, low + 1, … below `end` is reached along a byte, or NONE."""
    high = end
    while low < high:
        middle = (low + high) >> 1
        if label[middle] < byte:
            low = middle + 1
        else:
            high = middle
    return low if low < end and label[low] == byte else NONE


@njit(cache=True)
def _walk(
    buffer: Array, table: Array, domain: int, direction: int, first: Array, label: Array, needle: Array, atoms: Array
) -> tuple[Array, int]:
    keys, count, steps = np.empty(64, np.int64), 0, 0
    for vertex in range(table.shape[0]):
        if not (domain >> table[vertex, KIND]) & 1:
            continue
        begin, end = table[vertex, BEGIN], table[vertex, END]
        position, stop = (begin, end) if direction == FORWARD else (end - 1, begin - 1)
        node = 0
        while node != NONE:
            steps += 1
            if needle[node] != NONE:
                keys = noted(keys, count, vertex, atoms[needle[node]])
                count += 1
            if position == stop:
                break
            node = child_between(label, first[node], first[node + 1], buffer[position])
            position += direction
    return keys[:count], steps
