"""Kernels that continue tables of rows: along arcs, by classes, and by what other tables hold.

A row continues in as many ways as the graph allows. Nothing is made beyond a limit: then a kernel gives no rows, and as
many steps as it had taken, which are more than the limit. See docs/INDEX.md, "Queries".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.queries.terms import UNBOUND

Array = NDArray[Any]

SUBJECT, SUBJECT_SEEN, PROPERTY, PROPERTY_SEEN, OBJECT, OBJECT_SEEN, ALONG = range(7)
"""Where an arc's ends are: subject, property and object, each with the place of what is seen of it; and where among the
constants the property is that the arc leads along, unless that is a variable."""

ANY = -1
"""Stands for a property that is a variable."""

NEEDS_ALL = -1
"""Given instead of a number of steps when a row binds neither end of an arc, and the arcs by property are not there."""

NO, YES, UNKNOWN = 0, 1, 2

_FIRST = 16
"""For how many rows there is room at first."""


@njit(cache=True, inline="always")
def _value(rows, constants, row, place, seen):  # type: ignore[no-untyped-def]
    if place < 0:
        return constants[rows[row, 0], ~place]
    value = rows[row, place]
    return rows[row, seen] if value == UNBOUND else value


@njit(cache=True, inline="always")
def _bind(found, row, constants, place, seen, value):  # type: ignore[no-untyped-def]
    """Say whether a term can have a value in a row, and give it to the row."""
    if place < 0:
        return constants[found[row, 0], ~place] == value
    if found[row, place] != UNBOUND and found[row, place] != value:
        return False
    if found[row, seen] != UNBOUND and found[row, seen] != value:
        return False
    found[row, place] = value
    return True


@njit(cache=True)
def first_not_below(arcs, column, low, high, value):  # type: ignore[no-untyped-def]
    """Return the first of some sorted arcs that is not below a value in a column."""
    while low < high:
        middle = (low + high) // 2
        if arcs[middle, column] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def _with_room(found, count):  # type: ignore[no-untyped-def]
    if count < found.shape[0]:
        return found
    larger = np.empty((2 * found.shape[0], found.shape[1]), np.int32)
    larger[:count] = found
    return larger


@njit(cache=True)
def continued(  # type: ignore[no-untyped-def]
    rows, constants, ends, ranges, out_from, out_arcs, in_from, in_arcs, by_property, property_terms, limit
):
    """Return the rows with each arc that they can have, and how many steps that took.

    `by_property` may be empty as long as each row binds an end. `ranges` are the vertices of each owner's event; where
    a property is a variable, there is one event only.
    """
    found = np.empty((max(_FIRST, rows.shape[0]), rows.shape[1]), np.int32)
    count, steps = 0, 0
    vertices = out_from.shape[0] - 1
    for row in range(rows.shape[0]):
        start = _value(rows, constants, row, ends[SUBJECT], ends[SUBJECT_SEEN])
        end = _value(rows, constants, row, ends[OBJECT], ends[OBJECT_SEEN])
        along = ANY if ends[ALONG] == ANY else constants[rows[row, 0], ends[ALONG]]
        steps += 1
        if start >= vertices or end >= vertices:
            continue
        if start != UNBOUND:
            arcs, low, high = out_arcs, out_from[start], out_from[start + 1]
        elif end != UNBOUND:
            arcs, low, high = in_arcs, in_from[end], in_from[end + 1]
        elif by_property.shape[0] < out_arcs.shape[0]:
            return found[:0], NEEDS_ALL
        else:
            arcs, low, high = by_property, 0, by_property.shape[0]
        if along != ANY:
            low = first_not_below(arcs, 0, low, high, along)
            high = first_not_below(arcs, 0, low, high, along + 1)
            if start != UNBOUND and end != UNBOUND:
                low = first_not_below(arcs, 1, low, high, end)
                high = min(high, low + 1)
            elif start == UNBOUND and end == UNBOUND:
                low = first_not_below(arcs, 1, low, high, ranges[rows[row, 0], 0])
                high = first_not_below(arcs, 1, low, high, ranges[rows[row, 0], 1])
        for place in range(low, high):
            steps += 1
            if steps > limit:
                return found[:0], steps
            if start != UNBOUND:
                one, other = start, arcs[place, 1]
            elif end != UNBOUND:
                one, other = arcs[place, 1], end
            else:
                one, other = arcs[place, 1], arcs[place, 2]
            if end != UNBOUND and other != end:
                continue
            found = _with_room(found, count)
            found[count] = rows[row]
            if (
                _bind(found, count, constants, ends[SUBJECT], ends[SUBJECT_SEEN], one)
                and (
                    along != ANY
                    or _bind(
                        found, count, constants, ends[PROPERTY], ends[PROPERTY_SEEN], property_terms[arcs[place, 0]]
                    )
                )
                and _bind(found, count, constants, ends[OBJECT], ends[OBJECT_SEEN], other)
            ):
                count += 1
    return found[:count], steps


@njit(cache=True, inline="always")
def _has_class(bits, vertex, bit):  # type: ignore[no-untyped-def]
    return (bits[vertex, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0


@njit(cache=True)
def have_classes(rows, constants, place, seen, classes, bits, is_vertex):  # type: ignore[no-untyped-def]
    """Say of each row whether what a term stands for has classes; UNKNOWN of what the graph does not say."""
    has = np.full(rows.shape[0], YES, np.uint8)
    for row in range(rows.shape[0]):
        vertex = _value(rows, constants, row, place, seen)
        for class_ in classes:
            bit = constants[rows[row, 0], class_]
            if vertex < bits.shape[0] and _has_class(bits, vertex, bit):
                continue
            if vertex < bits.shape[0] and is_vertex[vertex]:
                has[row] = NO
                break
            has[row] = UNKNOWN
    return has


@njit(cache=True)
def vertices_with(rows, constants, place, seen, classes, ranges, bits, is_vertex, limit):  # type: ignore[no-untyped-def]
    """Return the rows with each vertex that has classes, and how many steps that took."""
    found = np.empty((max(_FIRST, rows.shape[0]), rows.shape[1]), np.int32)
    count, steps = 0, 0
    for row in range(rows.shape[0]):
        value = _value(rows, constants, row, place, seen)
        steps += 1
        if value >= bits.shape[0]:
            continue
        low, high = value, value + 1
        if value == UNBOUND:
            low, high = ranges[rows[row, 0], 0], ranges[rows[row, 0], 1]
        steps += (high - low) >> 6
        for vertex in range(low, high):
            has = is_vertex[vertex]
            for class_ in classes:
                has = has and _has_class(bits, vertex, constants[rows[row, 0], class_])
            if not has:
                continue
            steps += 1
            if steps > limit:
                return found[:0], steps
            found = _with_room(found, count)
            found[count] = rows[row]
            if place >= 0:
                found[count, place] = vertex
            count += 1
    return found[:count], steps


@njit(cache=True)
def unmarked(rows, found, mark):  # type: ignore[no-untyped-def]
    """Return the rows whose marks no row found has."""
    is_alone = np.ones(rows.shape[0], np.bool_)
    for row in range(found.shape[0]):
        is_alone[found[row, mark]] = False
    return is_alone


@njit(cache=True)
def gathered(numbers, place, entry, starts, widths, offsets, width):  # type: ignore[no-untyped-def]
    """Return what stands at the offsets of its entry in each row that a walk wrote down."""
    values = np.full((place.shape[0], width), UNBOUND, np.int32)
    for row in range(place.shape[0]):
        first = starts[entry[row]]
        for column in range(widths[entry[row]]):
            values[row, column] = numbers[place[row] + offsets[first + column]]
    return values


@njit(cache=True)
def core_table(owners, found, width, size):  # type: ignore[no-untyped-def]
    """Return what the index found as a table: owners, some columns of it, and which row that was."""
    table = np.full((owners.shape[0], size), UNBOUND, np.int32)
    for row in range(owners.shape[0]):
        table[row, 0] = owners[row]
        for column in range(width):
            table[row, 1 + column] = found[row, column]
        table[row, 1 + width] = row
    return table
