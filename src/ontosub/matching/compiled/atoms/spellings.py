"""Which texts are spelled in a certain way: a hash table from whole texts to atoms, to which more can be added."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.atoms.bodies import BEGIN, END, KIND, Bodies
from ontosub.matching.compiled.atoms.keys import noted
from ontosub.matching.compiled.events.dictionary import UNKNOWN, Dictionary, find, hash_of

Array = NDArray[Any]


class Spellings:
    """Finds the atom of a text as a whole."""

    def __init__(self) -> None:
        self._texts = Dictionary()
        self._atoms = np.empty(16, np.int64)

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, text: str, atom: int) -> None:
        """Add a text that was not added before."""
        if len(self._texts) == len(self._atoms):
            self._atoms = np.append(self._atoms, np.empty_like(self._atoms))
        self._atoms[self._texts.number([text])] = atom

    def find(self, bodies: Bodies, domain: int) -> Array:
        """Return the keys of the atoms that hold; see `keys`."""
        texts = self._texts
        return _find(*bodies, domain, texts.slots, texts.hashes, texts.offsets, texts.text, self._atoms)


@njit(cache=True)
def _find(
    buffer: Array,
    table: Array,
    domain: int,
    slots: Array,
    hashes: Array,
    offsets: Array,
    text: Array,
    atoms: Array,
) -> Array:
    keys, count = np.empty(16, np.int64), 0
    for vertex in range(table.shape[0]):
        if not (domain >> table[vertex, KIND]) & 1:
            continue
        begin, end = table[vertex, BEGIN], table[vertex, END]
        number = find(buffer, begin, end, hash_of(buffer, begin, end), slots, hashes, offsets, text)
        if number != UNKNOWN:
            keys = noted(keys, count, vertex, atoms[number])
            count += 1
    return keys[:count]
