"""The automaton of Aho and Corasick: all needles that a text contains, in one pass over it.

A state is the longest end of what was read that some needle starts with: a node of the trie. Where a node has no child
along the next byte, `fail` leads to the state of the next shorter end. States of depth 0 and 1, where most of a text is
spent, have their moves worked out in a table. How many needles there are does not change the number of moves: at most
two per byte, one along it and one back.

A needle is reported once per text: behind the longest needle that ends at a place the shorter ones are chained, and a
needle that was met before has its whole chain behind it. So a text costs its length and its distinct needles.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.atoms.bodies import BEGIN, END, KIND, Bodies
from ontosub.matching.compiled.atoms.keys import noted
from ontosub.matching.compiled.atoms.trie import NONE, Needle, child_between, plant

Array = NDArray[Any]


# Columns of a state.
FIRST, FAIL, LONGEST = 0, 1, 2
"""Its first child; the state of the next shorter end; the longest needle that ends there, or NONE."""
STATE_COLUMNS = 4


class Machine(NamedTuple):
    """The automaton in arrays: the children of state n are those from its first up to the first of state n + 1.

    `near[n]` are the moves from a shallow state n, `shorter[i]` is the next shorter needle that needle i ends with.
    """

    states: Array
    label: Array
    near: Array
    shorter: Array


class Automaton:
    """Finds the needles that a text contains. Not to be used by two threads at once."""

    def __init__(self, needles: Iterable[Needle]) -> None:
        ordered = sorted(needles)
        self._machine = Machine(*_machine(*plant(text for text, _ in ordered), len(ordered)))
        self._atoms = np.array([atom for _, atom in ordered], np.int64)
        self._met = np.full(len(ordered), -1, np.int64)
        self._texts_read = 0
        self.steps = 0

    def find(self, bodies: Bodies, domain: int) -> Array:
        """Return the keys of the atoms that hold; see `keys`. `steps` then counts the moves and needles."""
        keys, self.steps = _search(*bodies, domain, *self._machine, self._atoms, self._met, self._texts_read)
        self._texts_read += len(bodies.table)
        return keys


@njit(cache=True)
def _machine(first: Array, label: Array, needle: Array, needles: int) -> tuple[Array, Array, Array, Array]:
    states = np.zeros((first.shape[0], STATE_COLUMNS), np.int32)
    states[:, FIRST] = first
    states[0, LONGEST] = needle[0]
    near = _near(first, label)
    shorter = np.full(needles, NONE, np.int32)
    for node in range(label.shape[0]):
        for child in range(first[node], first[node + 1]):
            if node > 0:
                states[child, FAIL] = _move(states, label, near, states[node, FAIL], label[child])[0]
            behind = states[states[child, FAIL], LONGEST]
            states[child, LONGEST] = behind
            if needle[child] != NONE:
                states[child, LONGEST] = needle[child]
                shorter[needle[child]] = behind
    return states, label, near, shorter


@njit(cache=True)
def _near(first: Array, label: Array) -> Array:
    """Return the moves from the root and its children, by byte."""
    near = np.zeros((first[1], 256), np.int32)
    for child in range(first[0], first[1]):
        near[0, label[child]] = child
    for node in range(1, first[1]):
        near[node] = near[0]
        for child in range(first[node], first[node + 1]):
            near[node, label[child]] = child
    return near


@njit(cache=True)
def _move(states: Array, label: Array, near: Array, node: int, byte: int) -> tuple[int, int]:
    """Return the state that follows a state, and how many moves led there."""
    moves = 1
    while node >= near.shape[0]:
        child = child_between(label, states[node, FIRST], states[node + 1, FIRST], byte)
        if child != NONE:
            return child, moves
        node = states[node, FAIL]
        moves += 1
    return near[node, byte], moves


@njit(cache=True)
def _search(
    buffer: Array,
    table: Array,
    domain: int,
    states: Array,
    label: Array,
    near: Array,
    shorter: Array,
    atoms: Array,
    met: Array,
    texts_read: int,
) -> tuple[Array, int]:
    """Run over the bodies. `met[i]` is the number of the last text with needle i; texts are numbered over all calls."""
    keys, count, steps = np.empty(64, np.int64), 0, 0
    for vertex in range(table.shape[0]):
        if not (domain >> table[vertex, KIND]) & 1:
            continue
        text = texts_read + vertex
        node, position, end = 0, table[vertex, BEGIN], table[vertex, END]
        while True:
            found = states[node, LONGEST]
            while found != NONE and met[found] != text:
                met[found] = text
                keys = noted(keys, count, vertex, atoms[found])
                count += 1
                found = shorter[found]
            if position == end:
                break
            node, moves = _move(states, label, near, node, buffer[position])
            steps += moves
            position += 1
    return keys[:count], steps + count
