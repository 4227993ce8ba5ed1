"""An event graph in numbers, as kernels read it.

Records are rows of two-dimensional arrays, and the constants below name their columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

Array = NDArray[Any]

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
    `bits` has, for each vertex, the classes that subscriptions ask for. `out_mask` and `in_mask` have, for each vertex,
    bit (p & 63) set for every property p of its outgoing and incoming arcs. `atoms[atoms_from[v]:atoms_from[v + 1]]`
    are the string predicates that hold of v.
    """

    vertices: Array
    values: Array
    bits: Array
    out_from: Array
    out: Array
    in_from: Array
    into: Array
    out_mask: Array
    in_mask: Array
    atoms_from: Array
    atoms: Array
    home: int
