"""Atoms that hold where one of several others holds: `STR(?x) = "true" || STR(?x) = "1"`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.atoms.keys import noted

Array = NDArray[Any]

NONE = -1


class Alternatives:
    """From each atom to those that it is an alternative of: chains of links, so that one more costs next to nothing."""

    def __init__(self) -> None:
        self._first = np.full(16, NONE, np.int32)
        self._links = np.empty((16, 2), np.int32)
        self._count = 0

    def __len__(self) -> int:
        """Return how many links there are."""
        return self._count

    def add(self, members: Iterable[int], whole: int) -> None:
        """Let the atom `whole` hold wherever one of its members holds, all of which have lower numbers."""
        if whole > len(self._first):
            self._first = np.append(self._first, np.full(2 * whole - len(self._first), NONE, np.int32))
        for member in members:
            if self._count == len(self._links):
                self._links = np.append(self._links, np.empty_like(self._links), axis=0)
            self._links[self._count] = whole, self._first[member]
            self._first[member] = self._count
            self._count += 1

    def widen(self, keys: Array) -> Array:
        """Return the keys together with those that follow from them; some of these may come twice."""
        return _widened(keys, self._first, self._links)


@njit(cache=True)
def _widened(keys: Array, first: Array, links: Array) -> Array:
    wider = np.empty(2 * keys.shape[0] + 1, np.int64)
    count = keys.shape[0]
    wider[:count] = keys
    for i in range(keys.shape[0]):
        atom = keys[i] & 0xFFFFFFFF
        link = first[atom] if atom < first.shape[0] else NONE
        while link != NONE:
            wider = noted(wider, count, keys[i] >> 32, links[link, 0])
            count += 1
            link = links[link, 1]
    return wider[:count]
