"""The arrays that kernels read: an index segment, an event graph, and scratch space.

Records are rows of two-dimensional arrays, and the constants below name their columns: what is read together lies
together, and a kernel handles few arrays.

Trie nodes alternate: an *arrival* (what a vertex must be) has *moves* as children, a move has arrivals. Node 0 is the
arrival that everything starts from; it binds nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

Array = NDArray[Any]

NONE = -1

# Columns of a node.
KIND, SOURCE, PROPERTY, TARGET = 0, 1, 2, 3
"""Of a move: its kind, the register that it starts from, its property, the register that a check leads to."""
CLASS, CLASS_FROM, CLASS_TO, IS_CONSTANT, REGISTERS, PROPERTY_REGISTERS = 0, 1, 2, 3, 4, 5
"""Of an arrival: its first class, its other ones, whether it is a constant, how many registers are bound by then."""
CONSTANT_FROM, CONSTANT_TO, GROUP_FROM, GROUP_TO = 6, 7, 8, 9
"""Of an arrival: the registers that hold constants, and the groups of entries that end there."""
FIRST, NEXT, PARENT, UNDER = 10, 11, 12, 13
"""Of both: the tree, and how many entries and children the node has."""
NODE_COLUMNS = 16
"""A cache line of 32-bit numbers."""

# Columns of a group: entries that end at one arrival and are searched in one way.
COMPARISON, REGISTER, VALUE_KIND, ALL_FROM, ALL_TO = 0, 1, 2, 3, 4
"""How it is searched; and all of its entries at once, where there are no constants to tell them apart."""
GROUP_COLUMNS = 5

# Columns of a bucket: the entries of a group that have the same constants, sorted by threshold.
GROUP, ENTRY_FROM, ENTRY_TO, BUCKET_CONSTANTS = 0, 1, 2, 3
BUCKET_COLUMNS = 4

# Columns of an entry.
PATTERN, IS_OPEN, EXTRA_FROM, EXTRA_TO = 0, 1, 2, 3
ENTRY_COLUMNS = 4

# An extra threshold has the columns COMPARISON, REGISTER and VALUE_KIND of a group.
EXTRA_COLUMNS = 3


class Segment(NamedTuple):
    """An immutable part of the index."""

    nodes: Array
    classes: Array
    constant_registers: Array
    groups: Array
    bucket_slots: Array
    buckets: Array
    bucket_constants: Array
    entries: Array
    thresholds: Array
    extras: Array
    extra_values: Array
    member_slots: Array


# Columns of a vertex.
TERM, IS_VERTEX, OWN_KIND, SPELLED_KIND = 0, 1, 2, 3
"""Its number in the dictionary or -1; false for what is only a class of something; kinds of value (`literals`)."""
VERTEX_COLUMNS = 4

OWN, SPELLED_NUMBER = 0, 1
"""Columns of the values of a vertex: its own, and the number that it spells."""

ALONG, END = 0, 1
"""Columns of an arc: its property, and the vertex at its other end."""


class Graph(NamedTuple):
    """An event graph in numbers.

    Outgoing arcs of v are `out[out_from[v]:out_from[v + 1]]`, sorted by property and target; incoming ones likewise.
    `bits` has, for each vertex, the classes that subscriptions ask for.
    """

    vertices: Array
    values: Array
    bits: Array
    out_from: Array
    out: Array
    in_from: Array
    into: Array
    home: int


# Columns of what is counted at a node during a walk.
EPOCH, LIVE, VISITS = 0, 1, 2
STATE_COLUMNS = 4


class Scratch(NamedTuple):
    """What a walk writes while it runs. Nothing needs to be cleared: an entry counts only under the current epoch."""

    binding: Array
    property_binding: Array
    used: Array
    node_state: Array
    pattern_epoch: Array
    frame: Array
    found: Array
    rows: Array
    exhausted: Array
