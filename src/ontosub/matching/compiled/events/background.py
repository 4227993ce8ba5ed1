"""The background that an event can reach, and types as arcs: vertices that no statement of the event has made.

Both find vertices by their number in the dictionary, with a small hash table of the event's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.events.flat_tables import (
    ABOUT_OBJECT,
    ABOUT_PROPERTY,
    CLASS_TERM,
    KEEP_TYPES,
    KNOWN_CLASSES,
    KNOWN_PROPERTIES,
    LITERAL_SUBJECT_FROM,
    OBJECT_FROM,
    PARENTS_FROM,
    SUBJECT_FROM,
    TYPE_PROPERTY,
)
from ontosub.matching.compiled.events.scanner import LITERAL, TRIPLE
from ontosub.matching.compiled.events.stating import (
    CLASS,
    DICTIONARY,
    IS_ENTERED,
    IS_NODE,
    IS_REACHED,
    OBJECT,
    PROPERTY,
    SCANNED,
    SUBJECT,
    TYPED,
    VALUE_SORT,
    add_arc,
    grown,
    number_at,
)

Array = NDArray[Any]

_QUOTE, _LESS = 34, 60


@njit(cache=True)
def _place(places: Array, number: int) -> Any:
    """Return where the entry of a number is, or is to be put: an entry is (number << 32 | vertex), or -1."""
    mask = places.shape[0] - 1
    place = (number * 0x9E3779B1 >> 8) & mask
    while places[place] >= 0 and places[place] >> 32 != number:
        place = (place + 1) & mask
    return place


@njit(cache=True)
def vertices_by_number(nodes: Array, vertices: int, size: int) -> Array:
    """Return a table of `size` places, a power of two, in which to find vertices by their number in the dictionary."""
    places = np.full(size, -1, np.int64)
    for vertex in range(vertices):
        number = nodes[vertex, DICTIONARY]
        if number >= 0:
            places[_place(places, number)] = number << 32 | vertex
    return places


@njit(cache=True)
def _ensure(nodes: Array, vertices: int, places: Array, number: int, sort: int) -> tuple[Array, int, Array, int]:
    """Return the vertex with that number in the dictionary, made if there is none, and the tables and count then."""
    place = _place(places, number)
    if places[place] >= 0:
        return nodes, vertices, places, places[place] & 0xFFFFFFFF
    nodes = grown(nodes, vertices + 1)
    nodes[vertices, DICTIONARY], nodes[vertices, SCANNED], nodes[vertices, VALUE_SORT] = number, -1, sort
    nodes[vertices, IS_NODE], nodes[vertices, IS_ENTERED], nodes[vertices, IS_REACHED] = 0, 0, 0
    places[place] = number << 32 | vertices
    if 2 * vertices >= places.shape[0]:
        places = vertices_by_number(nodes, vertices + 1, 2 * places.shape[0])
    return nodes, vertices + 1, places, vertices


@njit(cache=True)
def _value_sort(text: Array, start: int) -> int:
    """Return LITERAL or TRIPLE if a value starts there, 0 if a resource does."""
    if text[start] == _QUOTE:
        return LITERAL
    return TRIPLE if text[start] == _LESS and text[start + 1] == _LESS else 0


@njit(cache=True)
def reach(
    nodes: Array,
    vertices: int,
    arcs: Array,
    arc_count: int,
    typings: Array,
    typing_count: int,
    places: Array,
    class_of: Array,
    about_from: Array,
    packed: Array,
    offsets: Array,
    text: Array,
) -> tuple[Array, int, Array, int, Array, int, Array]:
    """Add the background's statements about the vertices, about those that these lead to, and so on."""
    waiting, waiting_count = np.empty((vertices, 1), np.int64), 0
    for vertex in range(vertices):
        if nodes[vertex, IS_NODE] and nodes[vertex, DICTIONARY] >= 0:
            nodes[vertex, IS_REACHED] = 1
            waiting[waiting_count, 0] = vertex
            waiting_count += 1
    while waiting_count > 0:
        waiting_count -= 1
        subject = waiting[waiting_count, 0]
        term = nodes[subject, DICTIONARY]
        for statement in range(*_about(about_from, term)):
            property_ = packed[packed[ABOUT_PROPERTY] + statement]
            target = packed[packed[ABOUT_OBJECT] + statement]
            is_typing = property_ == packed[TYPE_PROPERTY]
            class_ = number_at(class_of, target) if is_typing else -1
            if class_ >= 0:
                typings = grown(typings, typing_count + 1)
                typings[typing_count, TYPED], typings[typing_count, CLASS] = subject, class_
                typing_count += 1
            if is_typing and (class_ >= 0 or not packed[KEEP_TYPES]):
                continue
            sort = _value_sort(text, offsets[target])
            nodes, vertices, places, object_ = _ensure(nodes, vertices, places, target, sort)
            arcs = add_arc(arcs, arc_count, subject, property_, object_)
            arc_count += 1
            if not is_typing:
                nodes[object_, IS_NODE] = 1
                if not nodes[object_, IS_REACHED]:
                    nodes[object_, IS_REACHED] = 1
                    waiting = grown(waiting, waiting_count + 1)
                    waiting[waiting_count, 0] = object_
                    waiting_count += 1
    return nodes, vertices, arcs, arc_count, typings, typing_count, places


@njit(cache=True)
def _about(about_from: Array, term: int) -> tuple[int, int]:
    """Return where the background's statements about a term are. Terms that came later have none."""
    return (about_from[term], about_from[term + 1]) if term < about_from.shape[0] - 1 else (0, 0)


@njit(cache=True)
def type_arcs(
    nodes: Array,
    vertices: int,
    arcs: Array,
    arc_count: int,
    given: Array,
    given_count: int,
    typings: Array,
    typing_count: int,
    places: Array,
    packed: Array,
) -> tuple[Array, int, Array, int]:
    """Add the types of vertices as arcs: those stated, and those of the ends of given arcs."""
    climbed = np.full(packed[KNOWN_CLASSES], -1, np.int64)
    waiting, climbs = np.empty(packed[KNOWN_CLASSES], np.int64), 0
    for typing in range(typing_count):
        waiting[0] = typings[typing, CLASS]
        nodes, vertices, places, arcs, arc_count = _add_types(
            nodes, vertices, places, arcs, arc_count, typings[typing, TYPED], packed, waiting, 1, climbed, climbs
        )
        climbs += 1
    for arc in range(given_count):
        subject, property_, object_ = given[arc, SUBJECT], given[arc, PROPERTY], given[arc, OBJECT]
        if property_ >= packed[KNOWN_PROPERTIES] or property_ == packed[TYPE_PROPERTY]:
            continue
        ends_in_value = nodes[object_, VALUE_SORT]
        lists = packed[LITERAL_SUBJECT_FROM if ends_in_value else SUBJECT_FROM] + property_
        count = _listed(packed, lists, waiting)
        nodes, vertices, places, arcs, arc_count = _add_types(
            nodes, vertices, places, arcs, arc_count, subject, packed, waiting, count, climbed, climbs
        )
        climbs += 1
        if not ends_in_value:
            count = _listed(packed, packed[OBJECT_FROM] + property_, waiting)
            nodes, vertices, places, arcs, arc_count = _add_types(
                nodes, vertices, places, arcs, arc_count, object_, packed, waiting, count, climbed, climbs
            )
            climbs += 1
    return nodes, vertices, arcs, arc_count


@njit(cache=True)
def _listed(packed: Array, lists: int, waiting: Array) -> int:
    """Write down the list that starts where packed[lists] says; return its length."""
    count = packed[lists + 1] - packed[lists]
    for place in range(count):
        waiting[place] = packed[packed[lists] + place]
    return count


@njit(cache=True)
def _add_types(
    nodes: Array,
    vertices: int,
    places: Array,
    arcs: Array,
    arc_count: int,
    vertex: int,
    packed: Array,
    waiting: Array,
    count: int,
    climbed: Array,
    climb: int,
) -> tuple[Array, int, Array, Array, int]:
    """Add an arc from the vertex to each of the waiting classes, and to all above them.

    `climbed` has, for each class, the last climb that came there; this one has the number `climb`.
    """
    for place in range(count):
        climbed[waiting[place]] = climb
    while count > 0:
        count -= 1
        class_ = waiting[count]
        term = packed[packed[CLASS_TERM] + class_]
        if term >= 0:
            nodes, vertices, places, end = _ensure(nodes, vertices, places, term, 0)
            arcs = add_arc(arcs, arc_count, vertex, packed[TYPE_PROPERTY], end)
            arc_count += 1
        lists = packed[PARENTS_FROM] + class_
        for position in range(packed[lists], packed[lists + 1]):
            parent = packed[position]
            if climbed[parent] != climb:
                climbed[parent] = climb
                waiting[count] = parent
                count += 1
    return nodes, vertices, places, arcs, arc_count
