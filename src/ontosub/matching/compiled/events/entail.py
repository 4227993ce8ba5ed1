"""Entailment on numbers: what holds with each arc, chains of transitive properties, classes of vertices.

This is `ontosub.semantics.entailment` once more, on arrays: the oracle tests hold the two together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.events.ancestry import EMPTY
from ontosub.matching.compiled.events.flat_tables import (
    ALONG_FROM,
    KNOWN_PROPERTIES,
    LITERAL_FROM,
    NEAR_ABOVE,
    NEAR_FROM,
    NEAR_LITERAL_SUBJECT,
    NEAR_OBJECT,
    NEAR_SUBJECT,
    TRANSITIVE_FROM,
    TYPE_PROPERTY,
)
from ontosub.matching.compiled.events.stating import OBJECT, PROPERTY, SUBJECT, VALUE_SORT, add_arc

Array = NDArray[Any]

ARCS_MAX = 4_000_000
"""How many arcs an event may have, with all that follow: a long chain of a transitive property has no end of them."""


@njit(cache=True)
def expanded(given: Array, count: int, nodes: Array, packed: Array) -> tuple[Array, int]:
    """Return the arcs together with all arcs that hold with them."""
    arcs, arc_count = np.empty((2 * count + 16, 3), np.int64), 0
    for arc in range(count):
        subject, property_, object_ = given[arc, SUBJECT], given[arc, PROPERTY], given[arc, OBJECT]
        arcs, arc_count = _expand(arcs, arc_count, subject, property_, object_, nodes, packed)
    return arcs, arc_count


@njit(cache=True)
def _expand(
    arcs: Array, count: int, subject: int, property_: int, object_: int, nodes: Array, packed: Array
) -> tuple[Array, int]:
    """Add an arc and all arcs that hold with it."""
    if property_ >= packed[KNOWN_PROPERTIES]:
        return add_arc(arcs, count, subject, property_, object_), count + 1
    lists = packed[LITERAL_FROM if nodes[object_, VALUE_SORT] else ALONG_FROM] + property_
    for position in range(packed[lists], packed[lists + 1]):
        along = packed[position]
        if along >= 0:
            arcs = add_arc(arcs, count, subject, along, object_)
        else:
            arcs = add_arc(arcs, count, object_, ~along, subject)
        count += 1
    return arcs, count


@njit(cache=True)
def chained(arcs: Array, count: int, nodes: Array, vertices: int, packed: Array) -> tuple[Array, int]:
    """Add the chains of transitive properties to expanded arcs, and what holds with them.

    One search per property is enough: whatever holds with a chain of p and is transitive itself is a chain of what
    holds with the arcs of p. Gives up, with the count at -1, when there are more than ARCS_MAX.
    """
    given = count
    lists = packed[TRANSITIVE_FROM]
    starts, seen_from, waiting = (
        np.empty(vertices + 1, np.int64),
        np.empty(vertices, np.int64),
        np.empty(vertices, np.int64),
    )
    for position in range(packed[lists], packed[lists + 1]):
        property_ = packed[position]
        ends = _ends_along(property_, arcs, given, starts)
        seen_from[:] = -1
        for vertex in range(vertices if ends.shape[0] > 0 else 0):
            direct, reached = _search(vertex, ends, starts, seen_from, waiting)
            for place in range(direct, reached):
                arcs, count = _expand(arcs, count, vertex, property_, waiting[place], nodes, packed)
            if count > ARCS_MAX:
                return arcs, -1
    return arcs, count


@njit(cache=True)
def _ends_along(property_: int, arcs: Array, count: int, starts: Array) -> Array:
    """Return where the arcs of a property lead to, by subject; from where on is written into `starts`."""
    starts[:] = 0
    total = 0
    for arc in range(count):
        if arcs[arc, PROPERTY] == property_:
            starts[arcs[arc, SUBJECT]] += 1
            total += 1
    ends = np.empty(total, np.int64)
    last = 0
    for vertex in range(starts.shape[0]):
        last += starts[vertex]
        starts[vertex] = last
    for arc in range(count if total > 0 else 0):
        if arcs[arc, PROPERTY] == property_:
            subject = arcs[arc, SUBJECT]
            starts[subject] -= 1
            ends[starts[subject]] = arcs[arc, OBJECT]
    return ends


@njit(cache=True)
def _search(vertex: int, ends: Array, starts: Array, seen_from: Array, waiting: Array) -> tuple[int, int]:
    """Write down what can be reached from a vertex, once each; return how many by one arc, and how many in all."""
    direct, count, done = 0, 0, -1
    at = vertex
    while True:
        for place in range(starts[at], starts[at + 1]):
            end = ends[place]
            if seen_from[end] != vertex:
                seen_from[end] = vertex
                waiting[count] = end
                count += 1
        if done < 0:
            direct = count
        done += 1
        if done == count:
            return direct, count
        at = waiting[done]


@njit(cache=True)
def give(bits: Array, vertex: int, packed: Array, list_: int, waiting: Array) -> None:
    """Note that the vertex has the asked classes of a list, and all above them.

    Whatever the vertex is known to have, it is known to have with all above. `waiting` has room for all asked classes.
    """
    lists, above, count = packed[NEAR_FROM], packed[NEAR_ABOVE], 0
    while True:
        for position in range(packed[lists + list_], packed[lists + list_ + 1]):
            bit = packed[position]
            mask = np.uint64(1) << np.uint64(bit & 63)
            if not bits[vertex, bit >> 6] & mask:
                bits[vertex, bit >> 6] |= mask
                if packed[above + bit] != EMPTY:
                    waiting[count] = packed[above + bit]
                    count += 1
        if count == 0:
            return
        count -= 1
        list_ = waiting[count]


@njit(cache=True)
def give_to_ends(bits: Array, arcs: Array, count: int, nodes: Array, packed: Array, waiting: Array) -> None:
    """Note the classes that the ends of given arcs have through domains and ranges."""
    for arc in range(count):
        subject, property_, object_ = arcs[arc, SUBJECT], arcs[arc, PROPERTY], arcs[arc, OBJECT]
        if property_ >= packed[KNOWN_PROPERTIES] or property_ == packed[TYPE_PROPERTY]:
            continue
        if nodes[object_, VALUE_SORT]:
            give(bits, subject, packed, packed[packed[NEAR_LITERAL_SUBJECT] + property_], waiting)
        else:
            give(bits, subject, packed, packed[packed[NEAR_SUBJECT] + property_], waiting)
            give(bits, object_, packed, packed[packed[NEAR_OBJECT] + property_], waiting)
