"""From statements to an event graph in numbers: vertices, values, background, entailment, arcs sorted both ways.

This is `ontosub.semantics.entailment` once more, on arrays: the oracle tests hold the two together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.concepts import Tables
from ontosub.matching.compiled.dictionary import UNKNOWN, find, hash_of
from ontosub.matching.compiled.layout import (
    ALONG,
    END,
    IS_VERTEX,
    OWN,
    OWN_KIND,
    SPELLED_KIND,
    SPELLED_NUMBER,
    TERM,
    VERTEX_COLUMNS,
    Graph,
)
from ontosub.matching.compiled.literals import closing_quote, value_of
from ontosub.matching.compiled.scanner import BLANK, IRI, LITERAL

Array = NDArray[Any]


@njit(cache=True)
def _kind_at(text: Array, start: int) -> int:
    if text[start] == 60:
        return IRI
    return BLANK if text[start] == 95 else LITERAL


@njit(cache=True)
def _grown(array: Array, needed: int) -> Array:
    if needed <= array.shape[0]:
        return array
    larger = np.empty(max(needed, array.shape[0] * 2), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@njit(cache=True)
def _class_at(numbers: Array, term: int) -> int:
    """Return what `class_of` or `property_of` says of a term; UNKNOWN for terms that came after the table was made."""
    return numbers[term] if 0 <= term < numbers.shape[0] else UNKNOWN


@njit(cache=True)
def encode(
    data: Array,
    statements: Array,
    starts: Array,
    ends: Array,
    kinds: Array,
    hashes: Array,
    terms: int,
    home: int,
    slots: Array,
    known_hashes: Array,
    offsets: Array,
    text: Array,
    tables: Tables,
) -> tuple[Graph, Array, Array]:
    """Return the event graph of scanned statements; `home` is the term of the home vertex or -1.

    Beside it: for each vertex the scanned term that it is (-1: one of the dictionary's only), and the scanned terms of
    the properties that have no number, which get the numbers after those that have one.
    """
    known_properties = tables.along_from.shape[0] - 1
    # Scanned terms: their numbers, and the vertices and unknown properties that they become.
    number = np.empty(terms, np.int32)
    for term in range(terms):
        number[term] = find(data, starts[term], ends[term], hashes[term], slots, known_hashes, offsets, text)
    vertex_of = np.full(terms, -1, np.int32)
    unknown_of = np.full(terms, -1, np.int32)
    unknown_terms = np.empty(terms, np.int32)
    unknown = 0
    # Vertices.
    capacity = max(16, 2 * terms)
    term_of = np.empty(capacity, np.int32)
    scanned = np.empty(capacity, np.int32)
    is_vertex = np.empty(capacity, np.bool_)
    is_literal = np.empty(capacity, np.bool_)
    vertices = 0
    # Arcs and types as they are given.
    arcs = np.empty((statements.shape[0] + 16, 3), np.int32)
    arc_count = 0
    typings = np.empty((statements.shape[0] + 16, 2), np.int32)
    typing_count = 0
    for row in range(statements.shape[0]):
        subject, predicate, object_ = statements[row, 0], statements[row, 1], statements[row, 2]
        is_typing = number[predicate] == tables.type_number and tables.type_number >= 0
        for part in range(2):
            end = subject if part == 0 else object_
            if part == 1 and is_typing and not tables.keep_types:
                continue
            if vertex_of[end] < 0:
                vertex_of[end] = vertices
                term_of[vertices] = number[end]
                scanned[vertices] = end
                is_literal[vertices] = kinds[end] == LITERAL
                is_vertex[vertices] = False
                vertices += 1
            if part == 0 or not is_typing:
                is_vertex[vertex_of[end]] = True
        if is_typing:
            class_ = _class_at(tables.class_of, number[object_])
            if class_ >= 0:
                typings[typing_count, 0], typings[typing_count, 1] = vertex_of[subject], class_
                typing_count += 1
            elif tables.keep_types:
                # A class that the index does not know is above nothing but itself: an arc is all there is to it.
                arcs[arc_count, 0], arcs[arc_count, 1] = vertex_of[subject], tables.type_property
                arcs[arc_count, 2] = vertex_of[object_]
                arc_count += 1
            continue
        property_ = _class_at(tables.property_of, number[predicate])
        if property_ < 0:
            if not tables.keep_unknown:
                continue
            if unknown_of[predicate] < 0:
                unknown_of[predicate] = known_properties + unknown
                unknown_terms[unknown] = predicate
                unknown += 1
            property_ = unknown_of[predicate]
        arcs[arc_count, 0], arcs[arc_count, 1], arcs[arc_count, 2] = vertex_of[subject], property_, vertex_of[object_]
        arc_count += 1
    home_vertex = vertex_of[home] if home >= 0 else -1

    # The background that the event can reach, through vertices that the dictionary knows.
    vertex_of_number = np.full(0, -1, np.int32)
    if tables.about_property.shape[0] > 0 or tables.keep_types:
        vertex_of_number = np.full(offsets.shape[0], -1, np.int32)
        for vertex in range(vertices):
            if term_of[vertex] >= 0:
                vertex_of_number[term_of[vertex]] = vertex
    if tables.about_property.shape[0] > 0:
        position = 0
        reached = np.empty(max(16, vertices), np.int32)
        reached_count = 0
        seen = np.zeros(tables.about_from.shape[0], np.bool_)
        for vertex in range(vertices):
            term = term_of[vertex]
            if is_vertex[vertex] and 0 <= term < tables.about_from.shape[0] - 1 and not seen[term]:
                seen[term] = True
                reached = _grown(reached, reached_count + 1)
                reached[reached_count] = term
                reached_count += 1
        while position < reached_count:
            term = reached[position]
            position += 1
            subject_vertex = vertex_of_number[term]
            for statement in range(tables.about_from[term], tables.about_from[term + 1]):
                property_, target = tables.about_property[statement], tables.about_object[statement]
                is_typing = property_ == tables.type_property
                class_ = tables.class_of[target] if is_typing else -1
                if is_typing and class_ >= 0:
                    if typing_count >= typings.shape[0]:
                        more = np.empty((typings.shape[0] * 2, 2), np.int32)
                        more[: typings.shape[0]] = typings
                        typings = more
                    typings[typing_count, 0], typings[typing_count, 1] = subject_vertex, class_
                    typing_count += 1
                    continue
                if is_typing and not tables.keep_types:
                    continue
                if vertex_of_number[target] < 0:
                    if vertices >= term_of.shape[0]:
                        needed = vertices + 1
                        term_of, scanned = _grown(term_of, needed), _grown(scanned, needed)
                        is_vertex, is_literal = _grown(is_vertex, needed), _grown(is_literal, needed)
                    vertex_of_number[target] = vertices
                    term_of[vertices], scanned[vertices] = target, -1
                    is_literal[vertices] = _kind_at(text, offsets[target]) == LITERAL
                    is_vertex[vertices] = False
                    vertices += 1
                target_vertex = vertex_of_number[target]
                if arc_count >= arcs.shape[0]:
                    wider = np.empty((arcs.shape[0] * 2, 3), np.int32)
                    wider[: arcs.shape[0]] = arcs
                    arcs = wider
                arcs[arc_count, 0], arcs[arc_count, 1], arcs[arc_count, 2] = subject_vertex, property_, target_vertex
                arc_count += 1
                if not is_typing:
                    is_vertex[target_vertex] = True
                    if target < tables.about_from.shape[0] - 1 and not seen[target]:
                        seen[target] = True
                        reached = _grown(reached, reached_count + 1)
                        reached[reached_count] = target
                        reached_count += 1

    # Entailment: expansions of each arc, then transitivity until nothing is new.
    keys = np.empty(max(16, 4 * arc_count), np.int64)
    count = 0
    for arc in range(arc_count):
        keys, count = _expand(keys, count, arcs[arc, 0], arcs[arc, 1], arcs[arc, 2], is_literal, tables)
    keys = np.unique(keys[:count])
    keys = _close_transitive(keys, is_literal, tables, known_properties)

    # Classes: given, through domain and range, and those that hold of everything of its kind.
    bits = np.zeros((vertices, tables.words), np.uint64)
    all_types = np.zeros((vertices if tables.keep_types else 0, tables.is_implied.shape[0]), np.bool_)
    for typing in range(typing_count):
        vertex, class_ = typings[typing, 0], typings[typing, 1]
        _give(bits, all_types, vertex, tables.above, tables.above_from[class_], tables.above_from[class_ + 1], tables)
    for arc in range(arc_count):
        subject, property_, object_ = arcs[arc, 0], arcs[arc, 1], arcs[arc, 2]
        if property_ >= known_properties or property_ == tables.type_property:
            continue
        if is_literal[object_]:
            first, last = tables.literal_subject_from[property_], tables.literal_subject_from[property_ + 1]
            _give(bits, all_types, subject, tables.literal_subject, first, last, tables)
        else:
            first, last = tables.subject_from[property_], tables.subject_from[property_ + 1]
            _give(bits, all_types, subject, tables.subject, first, last, tables)
            first, last = tables.object_from[property_], tables.object_from[property_ + 1]
            _give(bits, all_types, object_, tables.object, first, last, tables)
    nothing = np.zeros((0, 0), np.bool_)
    for vertex in range(vertices):
        if not is_literal[vertex]:
            _give(bits, nothing, vertex, tables.top, 0, tables.top.shape[0], tables)
            continue
        _give(bits, nothing, vertex, tables.any_literal, 0, tables.any_literal.shape[0], tables)
        if scanned[vertex] >= 0:
            source, begin, end = data, starts[scanned[vertex]], ends[scanned[vertex]]
        else:
            source, begin, end = text, offsets[term_of[vertex]], offsets[term_of[vertex] + 1]
        quote = closing_quote(source, begin, end)
        class_ = tables.string_class
        if quote < end - 1:
            class_ = tables.language_class
            if source[quote + 1] == 94:
                hashed = hash_of(source, quote + 3, end)
                datatype = find(source, quote + 3, end, hashed, slots, known_hashes, offsets, text)
                class_ = _class_at(tables.class_of, datatype)
        if class_ >= 0:
            first, last = tables.above_from[class_], tables.above_from[class_ + 1]
            _give(bits, nothing, vertex, tables.above, first, last, tables)

    # Types as arcs, where subscriptions ask for them.
    if tables.keep_types:
        extra = np.empty(16, np.int64)
        extra_count = 0
        given_vertices = vertices
        for vertex in range(given_vertices):
            for class_ in range(tables.is_implied.shape[0]):
                if all_types[vertex, class_] and not tables.is_implied[class_]:
                    term = tables.class_term[class_]
                    if vertex_of_number[term] < 0:
                        needed = vertices + 1
                        term_of, scanned = _grown(term_of, needed), _grown(scanned, needed)
                        is_vertex, is_literal = _grown(is_vertex, needed), _grown(is_literal, needed)
                        vertex_of_number[term] = vertices
                        term_of[vertices], scanned[vertices] = term, -1
                        is_literal[vertices], is_vertex[vertices] = False, False
                        vertices += 1
                    extra = _grown(extra, extra_count + 1)
                    extra[extra_count] = _key(vertex, tables.type_property, vertex_of_number[term])
                    extra_count += 1
        keys = np.unique(np.concatenate((keys, extra[:extra_count])))
        if vertices > given_vertices:
            wider_bits = np.zeros((vertices, tables.words), np.uint64)
            wider_bits[:given_vertices] = bits
            bits = wider_bits
            for vertex in range(given_vertices, vertices):
                _give(bits, nothing, vertex, tables.top, 0, tables.top.shape[0], tables)

    table = np.zeros((vertices, VERTEX_COLUMNS), np.int32)
    values = np.zeros((vertices, 2), np.float64)
    for vertex in range(vertices):
        table[vertex, TERM] = term_of[vertex]
        table[vertex, IS_VERTEX] = is_vertex[vertex]
        if is_literal[vertex]:
            if scanned[vertex] >= 0:
                known = value_of(data, starts[scanned[vertex]], ends[scanned[vertex]])
            else:
                known = value_of(text, offsets[term_of[vertex]], offsets[term_of[vertex] + 1])
            table[vertex, OWN_KIND], values[vertex, OWN] = known[0], known[1]
            table[vertex, SPELLED_KIND], values[vertex, SPELLED_NUMBER] = known[2], known[3]

    out_from, out = _sorted_arcs(keys, vertices)
    turned = np.empty(keys.shape[0], np.int64)
    for arc in range(keys.shape[0]):
        subject, property_, object_ = _parts(keys[arc])
        turned[arc] = _key(object_, property_, subject)
    turned.sort()
    in_from, into = _sorted_arcs(turned, vertices)
    graph = Graph(table, values, bits, out_from, out, in_from, into, np.int64(home_vertex))
    return graph, scanned[:vertices].copy(), unknown_terms[:unknown].copy()


@njit(cache=True)
def _key(subject: int, property_: int, object_: int) -> int:
    return (np.int64(subject) << 42) | (np.int64(property_) << 21) | np.int64(object_)


@njit(cache=True)
def _parts(key: int) -> tuple[int, int, int]:
    mask = (1 << 21) - 1
    return key >> 42, (key >> 21) & mask, key & mask


@njit(cache=True)
def _expand(
    keys: Array, count: int, subject: int, property_: int, object_: int, is_literal: Array, tables: Tables
) -> tuple[Array, int]:
    """Add an arc and all arcs that hold with it."""
    if property_ >= tables.along_from.shape[0] - 1:
        keys = _grown(keys, count + 1)
        keys[count] = _key(subject, property_, object_)
        return keys, count + 1
    if is_literal[object_]:
        first, last = tables.literal_from[property_], tables.literal_from[property_ + 1]
        keys = _grown(keys, count + last - first)
        for position in range(first, last):
            keys[count] = _key(subject, tables.literal[position], object_)
            count += 1
        return keys, count
    first, last = tables.along_from[property_], tables.along_from[property_ + 1]
    keys = _grown(keys, count + last - first)
    for position in range(first, last):
        if tables.along_turned[position]:
            keys[count] = _key(object_, tables.along[position], subject)
        else:
            keys[count] = _key(subject, tables.along[position], object_)
        count += 1
    return keys, count


@njit(cache=True)
def _close_transitive(keys: Array, is_literal: Array, tables: Tables, known_properties: int) -> Array:
    """Chain the arcs of transitive properties, and expand what is new, until nothing is."""
    any_transitive = False
    for property_ in range(tables.transitive.shape[0]):
        any_transitive |= tables.transitive[property_]
    new = keys
    while any_transitive and new.shape[0] > 0:
        more = np.empty(16, np.int64)
        count = 0
        for arc in range(keys.shape[0]):
            subject, property_, middle = _parts(keys[arc])
            if property_ >= known_properties or not tables.transitive[property_] or is_literal[middle]:
                continue
            first = np.searchsorted(keys, _key(middle, property_, 0))
            last = np.searchsorted(keys, _key(middle, property_ + 1, 0))
            for other in range(first, last):
                end = keys[other] & ((1 << 21) - 1)
                key = _key(subject, property_, end)
                place = np.searchsorted(keys, key)
                if place >= keys.shape[0] or keys[place] != key:
                    more, count = _expand(more, count, subject, property_, end, is_literal, tables)
        new = more[:count]
        if count > 0:
            keys = np.unique(np.concatenate((keys, new)))
    return keys


@njit(cache=True)
def _give(bits: Array, types: Array, vertex: int, classes: Array, first: int, last: int, tables: Tables) -> None:
    """Note that the vertex has the classes; `types`, unless empty, notes all of them, not only those asked for."""
    for position in range(first, last):
        class_ = classes[position]
        bit = tables.bit_of[class_]
        if bit >= 0:
            bits[vertex, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
        if types.shape[0] > 0:
            types[vertex, class_] = True


@njit(cache=True)
def _sorted_arcs(keys: Array, vertices: int) -> tuple[Array, Array]:
    """Return, for arcs sorted by start, property and end: where each vertex's arcs begin, and the arcs."""
    starts = np.zeros(vertices + 1, np.int64)
    arcs = np.empty((keys.shape[0], 2), np.int32)
    for arc in range(keys.shape[0]):
        subject, arcs[arc, ALONG], arcs[arc, END] = _parts(keys[arc])
        starts[subject + 1] += 1
    for vertex in range(vertices):
        starts[vertex + 1] += starts[vertex]
    return starts, arcs
