"""The arrays that a walk reads and writes: a segment of the index, and scratch space.

Records are rows of two-dimensional arrays, and the constants below name their columns: what is read together lies
together, and a kernel handles few arrays.

A node of the trie is a step: a *move*, which says how to get on, and an *arrival*, which says what the vertex there
must be. Siblings are neighbours, and those among them that differ only in the arrival are a *run*, which is headed by
the first of them. Node 0 is where everything starts; it binds nothing. A walk visits many nodes and few of their
details, so nodes are small.

*Entries* are the ways in which patterns match. Those that end at one node and are searched in one way are a *group*;
those of a group with the same constants a *bucket*; within a bucket, entries are found by the *boxes* in which they
want the values of certain registers to lie.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

Array = NDArray[Any]

NONE = -1

# Columns of a node.
HOW, ENDS, PROPERTY, CLASS, CHILD_FROM, CHILD_TO, DETAIL, PARENT = range(8)
"""How to get on (kind of move, flags, run); from which register, and to which one a check leads; along which property;
the first class asked of the vertex; the children; the row of details, if there is one; the parent."""
NODE_COLUMNS = 8

KIND_MASK, IS_CONSTANT, HAS_CLASSES, RUN_SHIFT = 7, 8, 16, 8
"""Parts of HOW: the kind; whether the vertex must be one of the constants asked for; whether more classes are asked of
it; and, from that bit on, of how many siblings it heads the run."""
TARGET_SHIFT, SOURCE_MASK = 16, (1 << 16) - 1
"""Parts of ENDS: the source below, the target above."""

# Columns of the details of a node.
CLASS_FROM, CLASS_TO, CONSTANT_FROM, CONSTANT_TO = 0, 1, 2, 3
"""The further classes asked for; the registers that hold constants."""
GROUP_FROM, GROUP_TO, PLAIN_FROM, PLAIN_TO = 4, 5, 6, 7
"""The groups of entries that end there; and the entries of the group, if any, that asks for nothing more."""
ENTRIES, PROPERTY_REGISTERS = 8, 9
"""How many entries end there; how many registers of properties are bound by then."""
DETAIL_COLUMNS = 10

# Columns of a group.
ATOM_REGISTER, DIMENSION_FROM, DIMENSION_TO, PAIR_FROM, PAIR_TO = 0, 1, 2, 3, 4
"""The register whose atoms tell entries apart, the dimensions of the boxes, conditions between two registers."""
BUCKET_FROM, BUCKET_TO = 5, 6
GROUP_COLUMNS = 7

# Columns of a dimension: whose value, and of which kind.
REGISTER, VALUE_KIND = 0, 1

# Columns of a condition between two registers.
COMPARISON, FIRST, SECOND = 0, 1, 2

# Columns of a bucket.
GROUP, ENTRY_FROM, ENTRY_TO, KEY_FROM, BOX_FROM, BOUND_FROM = 0, 1, 2, 3, 4, 5
"""Its entries; its key (atom, then constants); where its boxes are; where the bounds of a search tree, if any."""
BUCKET_COLUMNS = 6

# Columns of an entry.
PATTERN, FLAGS, EXTRA_FROM, EXTRA_TO, REGISTER_FROM = 0, 1, 2, 3, 4
ENTRY_COLUMNS = 5

OPEN_ENTRY, ONCE_ENTRY, ALWAYS_ENTRY = 1, 2, 4
"""Flags. Open: only a candidate, Python decides. Once: nobody asks for the mappings, only whether there is one. Always:
the mappings are needed to tell whether there is an answer at all."""

# An extra condition: what it says of which register, and about which term or atom.
ABOUT, WHOSE, WHAT = 0, 1, 2
NOT_TERM, NOT_VALUE, HAS_ATOM = 0, 1, 2
EXTRA_COLUMNS = 3

BLOCK = 16
"""How many entries, or blocks of them, a search looks at one after the other."""


class Segment(NamedTuple):
    """An immutable part of the index."""

    nodes: Array
    details: Array
    classes: Array
    constant_registers: Array
    groups: Array
    dimensions: Array
    pairs: Array
    bucket_slots: Array
    buckets: Array
    bucket_keys: Array
    boxes: Array
    bounds: Array
    entries: Array
    extras: Array
    extra_values: Array
    member_slots: Array
    registers: Array


# Columns of what is counted at a node during a walk.
EPOCH, LIVE, VISITS, TOTAL = 0, 1, 2, 3
"""Under which epoch the others count; how many children and entries are still to be found; steps of the run that the
node heads, in this event and in all before."""
STATE_COLUMNS = 4

# Columns of what is noted beside: by node, how many children and entries have gone; from the top, which runs, by their
# heads, were given up.
GONE_BELOW, EXHAUSTED = 0, 1

GIVEN_UP = -1
"""LIVE of the head of a run that was given up."""

GONE = 2**31 - 1
"""What stands for a pattern that has gone, in place of the epoch in which it was last seen. Epochs are less."""


class Scratch(NamedTuple):
    """What a walk writes while it runs. Nothing needs to be cleared: an entry counts only under the current epoch."""

    binding: Array
    property_binding: Array
    used: Array
    state: Array
    seen: Array
    noted: Array
    frame: Array
    point: Array
    ranges: Array
    hits: Array
    found: Array
    rows: Array
