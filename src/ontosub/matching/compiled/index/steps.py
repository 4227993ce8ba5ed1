"""The trie of steps: shared beginnings, laid out so that a walk finds siblings side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.index.kernels import mixed
from ontosub.matching.compiled.index.layout import (
    CHILD_FROM,
    CHILD_TO,
    CLASS,
    DETAIL,
    ENDS,
    HAS_CLASSES,
    HOW,
    IS_CONSTANT,
    KIND_MASK,
    NODE_COLUMNS,
    NONE,
    PARENT,
    PROPERTY,
    RUN_SHIFT,
    SOURCE_MASK,
    TARGET_SHIFT,
)
from ontosub.matching.compiled.index.plan import ANY, CHECK, CHECK_ANY, STEP_COLUMNS, write_steps

Array = NDArray[Any]

REGISTERS_MAX = 1 << 15
"""How many vertices a pattern may have: so many registers fit into a node."""

_SET, _CONSTANT, _PARENT = 4, 5, 6
"""Columns of a node while the trie grows, after those of a move: classes, whether it is a constant, the parent."""
_COLUMNS = 7


class Growing(NamedTuple):
    """A trie that grows: nodes in the order in which they came, found again by hashing. `size` counts them."""

    nodes: Array
    slots: Array
    size: Array


class LaidOut(NamedTuple):
    """A trie as a segment has it, without details; and what the details are made from.

    For each node: the set of classes that it asks for (-1: none), and how many registers are bound by then.
    """

    nodes: Array
    sets: Array
    registers: Array
    property_registers: Array


def growing(most: int) -> Growing:
    """Return an empty trie with room for so many steps."""
    trie = Growing(
        nodes=np.empty((most + 1, _COLUMNS), np.int32),
        slots=np.full(1 << max(4, (2 * most).bit_length()), NONE, np.int32),
        size=np.ones(1, np.int64),
    )
    trie.nodes[0] = ANY, 0, 0, 0, NONE, 0, NONE
    return trie


@njit(cache=True, nogil=True)
def _child(trie: Growing, parent: int, step: Array) -> int:
    """Return the node that a step leads to, which is added if it is new."""
    nodes, slots = trie.nodes, trie.slots
    hashed = mixed(np.uint64(0), parent)
    for column in range(STEP_COLUMNS):
        hashed = mixed(hashed, step[column])
    mask = slots.shape[0] - 1
    slot = np.int64(hashed & np.uint64(mask))
    while slots[slot] != NONE:
        number = slots[slot]
        same = nodes[number, _PARENT] == parent
        for column in range(STEP_COLUMNS):
            same = same and nodes[number, column] == step[column]
        if same:
            return number
        slot = (slot + 1) & mask
    number = trie.size[0]
    for column in range(STEP_COLUMNS):
        nodes[number, column] = step[column]
    nodes[number, _PARENT] = parent
    slots[slot] = number
    trie.size[0] += 1
    return number


@njit(cache=True, nogil=True)
def grow(
    trie: Growing,
    vertex_from: Array,
    classes: Array,
    constant: Array,
    arc_from: Array,
    arcs: Array,
    homes: Array,
    injective: Array,
    register_from: Array,
    registers: Array,
    leaves: Array,
) -> None:
    """Add the steps of plans to the trie; note their leaves, and the registers of vertices, then property variables.

    Of plan i, the vertices are those from vertex_from[i] on, and so with arcs and registers.
    """
    longest = 0
    for plan in range(leaves.shape[0]):
        longest = max(longest, vertex_from[plan + 1] - vertex_from[plan] + arc_from[plan + 1] - arc_from[plan])
    steps = np.empty((longest + 1, STEP_COLUMNS), np.int32)
    for plan in range(leaves.shape[0]):
        first, last = vertex_from[plan], vertex_from[plan + 1]
        count = write_steps(
            classes[first:last],
            constant[first:last],
            arcs[arc_from[plan] : arc_from[plan + 1]],
            homes[plan],
            injective[plan],
            steps[: last - first + arc_from[plan + 1] - arc_from[plan] + 1],
            registers[register_from[plan] : register_from[plan] + last - first],
            registers[register_from[plan] + last - first : register_from[plan + 1]],
        )
        node = 0
        for step in range(count):
            node = _child(trie, node, steps[step])
        leaves[plan] = node


@njit(cache=True, nogil=True)
def graft(trie: Growing, nodes: Array, sets: Array, leaves: Array) -> Array:
    """Add what leads to some leaves of a segment, whose nodes ask for class sets; return where its nodes are now."""
    where = np.zeros(nodes.shape[0], np.int32)
    needed = np.zeros(nodes.shape[0], np.bool_)
    for leaf in leaves:
        node = leaf
        while node > 0 and not needed[node]:
            needed[node] = True
            node = nodes[node, PARENT]
    step = np.empty(STEP_COLUMNS, np.int32)
    # Nodes come after those above them.
    for node in range(1, nodes.shape[0]):
        if needed[node]:
            kind = nodes[node, HOW] & KIND_MASK
            step[0], step[2] = kind, nodes[node, PROPERTY]
            step[1], step[3] = nodes[node, ENDS] & SOURCE_MASK, nodes[node, ENDS] >> TARGET_SHIFT
            step[_SET], step[_CONSTANT] = sets[node], (nodes[node, HOW] & IS_CONSTANT) != 0
            where[node] = _child(trie, where[nodes[node, PARENT]], step)
    return where


@njit(cache=True, nogil=True)
def laid_out(trie: Growing, set_from: Array, set_bits: Array) -> tuple[LaidOut, Array]:
    """Return the trie as a segment has it, and the new numbers of the nodes.

    Depth first, so that the end of a long path, which most nodes are, lies in one piece of memory. The classes of set s
    are set_bits[set_from[s]:set_from[s + 1]].
    """
    size = trie.size[0]
    rows = trie.nodes
    first, following = np.full(size, NONE, np.int32), np.full(size, NONE, np.int32)
    for node in range(1, size):
        parent = rows[node, _PARENT]
        following[node], first[parent] = first[parent], node
    nodes = np.zeros((size, NODE_COLUMNS), np.int32)
    sets = np.full(size, NONE, np.int32)
    registers, property_registers = np.zeros(size, np.int32), np.zeros(size, np.int32)
    number, old = np.zeros(size, np.int32), np.zeros(size, np.int32)
    stack, siblings = np.empty(size, np.int32), np.empty(size, np.int32)
    moves, asked = np.empty(size, np.int64), np.empty(size, np.int64)
    nodes[0, CLASS], nodes[0, DETAIL], nodes[0, PARENT] = NONE, NONE, NONE
    stack[0], height, placed = 0, 1, 1
    while height > 0:
        height -= 1
        parent = stack[height]
        count, child = 0, first[old[parent]]
        while child != NONE:
            siblings[count] = child
            moves[count], asked[count] = _order(rows, child, set_from, set_bits)
            child = following[child]
            count += 1
        order = np.argsort(asked[:count], kind="mergesort")
        order = order[np.argsort(moves[:count][order], kind="mergesort")]
        nodes[parent, CHILD_FROM], nodes[parent, CHILD_TO] = placed, placed + count
        head = placed
        for position in range(count):
            was = siblings[order[position]]
            kind, set_ = rows[was, 0], rows[was, _SET]
            if position > 0 and moves[order[position]] != moves[order[position - 1]]:
                head = placed
            nodes[head, HOW] += 1 << RUN_SHIFT
            nodes[placed, HOW] += kind | (IS_CONSTANT if rows[was, _CONSTANT] else 0)
            nodes[placed, ENDS] = max(0, rows[was, 1]) | (max(0, rows[was, 3]) << TARGET_SHIFT)
            nodes[placed, PROPERTY], nodes[placed, CLASS] = rows[was, 2], NONE
            nodes[placed, DETAIL], nodes[placed, PARENT] = NONE, parent
            if set_ >= 0:
                nodes[placed, CLASS] = set_bits[set_from[set_]]
                if set_from[set_ + 1] - set_from[set_] > 1:
                    nodes[placed, HOW] += HAS_CLASSES
            sets[placed] = set_
            registers[placed] = registers[parent] + (kind != CHECK and kind != CHECK_ANY)
            property_registers[placed] = property_registers[parent]
            if kind >= CHECK_ANY and rows[was, 2] >= 0:
                property_registers[placed] = rows[was, 2] + 1
            number[was], old[placed] = placed, was
            placed += 1
        for child in range(placed - 1, placed - 1 - count, -1):
            stack[height] = child
            height += 1
    return LaidOut(nodes, sets, registers, property_registers), number


@njit(cache=True, nogil=True)
def _order(rows: Array, node: int, set_from: Array, set_bits: Array) -> tuple[int, int]:
    """Return the keys by which siblings are sorted: the move, then the classes and whether it is a constant."""
    move = (np.int64(rows[node, 0]) << 60) | (np.int64(max(0, rows[node, 1])) << 45)
    move |= (np.int64(max(0, rows[node, 3])) << 30) | np.int64(rows[node, 2] + REGISTERS_MAX)
    set_ = rows[node, _SET]
    bit = np.int64(set_bits[set_from[set_]]) if set_ >= 0 else np.int64(-1)
    return move, ((bit + 1) << 33) | (np.int64(set_ + 1) << 1) | np.int64(rows[node, _CONSTANT])
