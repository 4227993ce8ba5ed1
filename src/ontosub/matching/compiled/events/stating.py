"""What the statements of an event say: vertices, arcs, classes, and which vertex is the home.

Vertices and arcs are rows of arrays that grow; only later are they cut and sorted. All of these have 64 bits: kernels
are compiled for each type of argument.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.events.dictionary import UNKNOWN
from ontosub.matching.compiled.events.flat_tables import (
    KEEP_TYPES,
    KEEP_UNKNOWN,
    KNOWN_PROPERTIES,
    TYPE_NUMBER,
    TYPE_PROPERTY,
)
from ontosub.matching.compiled.events.octets import hash_of, same
from ontosub.matching.compiled.events.scanner import BLANK, HASH, LITERAL, NUMBER, SORT, START, STOP, UNNUMBERED, VERTEX

Array = NDArray[Any]

# Columns of a vertex that is being made.
DICTIONARY, SCANNED, IS_NODE, VALUE_SORT, IS_ENTERED, IS_REACHED = 0, 1, 2, 3, 4, 5
"""Its number in the dictionary or -1; its number among the scanned terms or -1; whether it is more than a class of
something; LITERAL or TRIPLE if it is a value, from which no arc leads back, else 0; whether it has incoming arcs, is
known to have been reached by the background."""
NODE_COLUMNS = 6

SUBJECT, PROPERTY, OBJECT = 0, 1, 2
"""Columns of an arc."""

TYPED, CLASS = 0, 1
"""Columns of a typing: a vertex and a class that it is said to have."""

_HOME_LABEL = 72  # H


@njit(cache=True)
def grown(rows: Array, needed: int) -> Array:
    """Return the rows, with room for as many as are needed."""
    if needed <= rows.shape[0]:
        return rows
    larger = np.empty((max(needed, 2 * rows.shape[0]), rows.shape[1]), rows.dtype)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger


@njit(cache=True)
def add_arc(arcs: Array, count: int, subject: int, property_: int, object_: int) -> Array:
    """Write down an arc; return the arcs, which may have moved."""
    arcs = grown(arcs, count + 1)
    arcs[count, SUBJECT], arcs[count, PROPERTY], arcs[count, OBJECT] = subject, property_, object_
    return arcs


@njit(cache=True)
def number_at(numbers: Array, term: int) -> Any:
    """Return what a table says of a term of the dictionary; UNKNOWN for terms that came after the table was made."""
    return numbers[term] if 0 <= term < numbers.shape[0] else UNKNOWN


@njit(inline="always")
def _vertex(nodes: Array, count: int, terms: Array, term: int) -> Any:
    """Return the vertex that a scanned term is; make one of it, the last, if it is none yet."""
    vertex = terms[term, VERTEX]
    if vertex < 0:
        vertex = count
        terms[term, VERTEX] = vertex
        nodes[vertex, DICTIONARY], nodes[vertex, SCANNED] = terms[term, NUMBER], term
        nodes[vertex, VALUE_SORT] = terms[term, SORT] if terms[term, SORT] >= LITERAL else 0
        nodes[vertex, IS_NODE], nodes[vertex, IS_ENTERED], nodes[vertex, IS_REACHED] = 0, 0, 0
    return vertex


@njit(cache=True)
def stated(
    statements: Array, terms: Array, term_count: int, property_of: Array, class_of: Array, packed: Array
) -> tuple[Array, int, Array, int, Array, int, Array, int]:
    """Return the vertices, arcs and typings of scanned statements, and the scanned terms of properties without numbers.

    Each with their count. A property that no subscription or axiom names has no number; it gets one after all others.
    """
    nodes, vertices = np.empty((term_count, NODE_COLUMNS), np.int64), 0
    arcs, arc_count = np.empty((statements.shape[0], 3), np.int64), 0
    typings, typing_count = np.empty((statements.shape[0], 2), np.int64), 0
    unnumbered, unnumbered_count = np.empty(term_count, np.int64), 0
    type_number, keeps_types = packed[TYPE_NUMBER], packed[KEEP_TYPES]
    for row in range(statements.shape[0]):
        predicate, object_term = statements[row, 1], statements[row, 2]
        subject = _vertex(nodes, vertices, terms, statements[row, 0])
        vertices = max(vertices, subject + 1)
        nodes[subject, IS_NODE] = 1
        property_ = packed[TYPE_PROPERTY]
        if terms[predicate, NUMBER] == type_number:
            class_ = number_at(class_of, terms[object_term, NUMBER])
            if class_ >= 0:
                typings[typing_count, TYPED], typings[typing_count, CLASS] = subject, class_
                typing_count += 1
            if not keeps_types:
                continue
            object_ = _vertex(nodes, vertices, terms, object_term)
            vertices = max(vertices, object_ + 1)
            # A class that the index does not know is above nothing but itself: an arc is all there is to it.
            if class_ >= 0:
                continue
        else:
            object_ = _vertex(nodes, vertices, terms, object_term)
            vertices = max(vertices, object_ + 1)
            nodes[object_, IS_NODE], nodes[object_, IS_ENTERED] = 1, 1
            property_ = number_at(property_of, terms[predicate, NUMBER])
            if property_ < 0:
                if not packed[KEEP_UNKNOWN]:
                    continue
                if terms[predicate, UNNUMBERED] < 0:
                    terms[predicate, UNNUMBERED] = packed[KNOWN_PROPERTIES] + unnumbered_count
                    unnumbered[unnumbered_count] = predicate
                    unnumbered_count += 1
                property_ = terms[predicate, UNNUMBERED]
        arcs[arc_count, SUBJECT], arcs[arc_count, PROPERTY], arcs[arc_count, OBJECT] = subject, property_, object_
        arc_count += 1
    return nodes, vertices, arcs, arc_count, typings, typing_count, unnumbered, unnumbered_count


@njit(cache=True)
def found_home(data: Array, nodes: Array, vertices: int, terms: Array) -> int:
    """Return the home vertex by the rule of `ontosub.model.event.find_home`, or -1."""
    root, roots = -1, 0
    for vertex in range(vertices):
        if not nodes[vertex, IS_NODE] or nodes[vertex, VALUE_SORT]:
            continue
        term = nodes[vertex, SCANNED]
        start = terms[term, START]
        if terms[term, SORT] == BLANK and terms[term, STOP] == start + 3 and data[start + 2] == _HOME_LABEL:
            return vertex
        if not nodes[vertex, IS_ENTERED]:
            root = vertex
            roots += 1
    return root if roots == 1 else -1


@njit(cache=True)
def named_home(data: Array, home: Array, terms: Array, term_count: int) -> Any:
    """Return the vertex whose term is written so, or -1."""
    hashed = np.int64(hash_of(home, 0, len(home)))
    for term in range(term_count):
        start, stop = terms[term, START], terms[term, STOP]
        if terms[term, HASH] == hashed and stop - start == len(home) and same(data, start, stop, home, 0):
            return terms[term, VERTEX]
    return -1
