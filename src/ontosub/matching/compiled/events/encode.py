"""From a payload to an event graph in numbers: scan, state, reach, entail, sort.

Everything happens in one call of a kernel, because a call costs more than some of the steps. Steps that an ontology has
no use for are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.events.adjacency import arcs_by
from ontosub.matching.compiled.events.background import reach, type_arcs, vertices_by_number
from ontosub.matching.compiled.events.dictionary import UNKNOWN, find
from ontosub.matching.compiled.events.entail import chained, expanded, give, give_to_ends
from ontosub.matching.compiled.events.flat_tables import (
    DIRECTION_CLASS,
    HAS_BACKGROUND,
    HAS_EXPANSIONS,
    HAS_GIVEN,
    HAS_TRANSITIVE,
    KEEP_TYPES,
    LANGUAGE_CLASS,
    NEAR_ANY_LITERAL,
    NEAR_CLASS,
    NEAR_LITERAL,
    NEAR_TOP,
    STRING_CLASS,
    WORDS,
)
from ontosub.matching.compiled.events.graph import (
    IS_VERTEX,
    OWN,
    OWN_KIND,
    SPELLED_KIND,
    SPELLED_NUMBER,
    TERM,
    VERTEX_COLUMNS,
    Graph,
)
from ontosub.matching.compiled.events.literals import NO_VALUE, RESOURCE, closing_quote, value_at
from ontosub.matching.compiled.events.octets import hash_of
from ontosub.matching.compiled.events.scanner import LITERAL, QUOTE, START, STOP, power_of_two, scan
from ontosub.matching.compiled.events.stating import (
    CLASS,
    DICTIONARY,
    IS_NODE,
    OBJECT,
    SCANNED,
    SUBJECT,
    TYPED,
    VALUE_SORT,
    found_home,
    named_home,
    number_at,
    stated,
)

Array = NDArray[Any]

TOO_LARGE = 3
"""How encoding can end, beside the ways in which a scan can: with too many arcs."""


@njit(cache=True)
def encode(
    data: Array,
    home: Array,
    strict: bool,
    quads: bool,
    slots: Array,
    hashes: Array,
    offsets: Array,
    text: Array,
    property_of: Array,
    class_of: Array,
    about_from: Array,
    packed: Array,
) -> tuple[int, Graph, Array]:
    """Return how it ended, the event graph of a payload, and where in the payload its terms lie.

    `strict`, `quads` and how a payload is read: see `scan`. The home vertex of a strict payload is found by the rule;
    else it is the one written as `home`. The other arguments are the dictionary and the tables.

    The last array has two rows, starts and ends: first of the vertices (-1: a term of the dictionary only), then of the
    properties that have no number, which get the numbers after those that have one. Unless it ended well, the graph
    says nothing.
    """
    status, statements, statement_count, terms, term_count = scan(data, strict, quads, slots, hashes, offsets, text)
    nodes, vertices, given, given_count, typings, typing_count, unnumbered, unnumbered_count = stated(
        statements[:statement_count], terms, term_count, property_of, class_of, packed
    )
    home_vertex = found_home(data, nodes, vertices, terms) if strict else named_home(data, home, terms, term_count)
    places = np.empty(0, np.int64)
    if packed[HAS_BACKGROUND] or packed[KEEP_TYPES]:
        places = vertices_by_number(nodes, vertices, power_of_two(4 * vertices + 16))
    if packed[HAS_BACKGROUND]:
        nodes, vertices, given, given_count, typings, typing_count, places = reach(
            nodes,
            vertices,
            given,
            given_count,
            typings,
            typing_count,
            places,
            class_of,
            about_from,
            packed,
            offsets,
            text,
        )
    arcs, arc_count = _entailed(given, given_count, nodes, vertices, packed)
    if arc_count < 0:
        status, arc_count = TOO_LARGE, 0
    if packed[KEEP_TYPES]:
        nodes, vertices, arcs, arc_count = type_arcs(
            nodes, vertices, arcs, arc_count, given, given_count, typings, typing_count, places, packed
        )
    bits = np.zeros((vertices, packed[WORDS]), np.uint64)
    waiting = np.empty(64 * packed[WORDS], np.int64)
    for typing in range(typing_count):
        give(bits, typings[typing, TYPED], packed, packed[packed[NEAR_CLASS] + typings[typing, CLASS]], waiting)
    if packed[HAS_GIVEN]:
        give_to_ends(bits, given, given_count, nodes, packed, waiting)
    table, values = _described(
        data, bits, nodes, vertices, terms, class_of, packed, slots, hashes, offsets, text, waiting
    )
    spans = _spans(nodes, vertices, terms, unnumbered[:unnumbered_count])
    out_from, out, out_mask = arcs_by(SUBJECT, arcs, arc_count, vertices)
    in_from, into, in_mask = arcs_by(OBJECT, arcs, arc_count, vertices)
    atoms_from, atoms = np.zeros(vertices + 1, np.int32), np.zeros(0, np.int32)
    home_vertex = np.int64(home_vertex)
    graph = Graph(table, values, bits, out_from, out, in_from, into, out_mask, in_mask, atoms_from, atoms, home_vertex)
    return status, graph, spans


@njit(cache=True)
def _entailed(given: Array, count: int, nodes: Array, vertices: int, packed: Array) -> tuple[Array, int]:
    """Return all arcs that follow from the given ones; their count is -1 when there are too many."""
    arcs = given
    if packed[HAS_EXPANSIONS]:
        arcs, count = expanded(arcs, count, nodes, packed)
    if packed[HAS_TRANSITIVE]:
        arcs, count = chained(arcs, count, nodes, vertices, packed)
    return arcs, count


@njit(cache=True)
def _described(
    data: Array,
    bits: Array,
    nodes: Array,
    vertices: int,
    terms: Array,
    class_of: Array,
    packed: Array,
    slots: Array,
    hashes: Array,
    offsets: Array,
    text: Array,
    waiting: Array,
) -> tuple[Array, Array]:
    """Return what is known of each vertex, and values; note in `bits` the classes that a vertex has for what it is."""
    table, values = np.zeros((vertices, VERTEX_COLUMNS), np.int32), np.zeros((vertices, 2), np.float64)
    for vertex in range(vertices):
        term, scanned = nodes[vertex, DICTIONARY], nodes[vertex, SCANNED]
        table[vertex, TERM], table[vertex, IS_VERTEX] = term, nodes[vertex, IS_NODE]
        if nodes[vertex, VALUE_SORT] != LITERAL:
            # Two triple terms may be equal without being the same: like literals without a value, Python compares them.
            table[vertex, OWN_KIND] = NO_VALUE if nodes[vertex, VALUE_SORT] else RESOURCE
            give(bits, vertex, packed, packed[NEAR_TOP], waiting)
            continue
        give(bits, vertex, packed, packed[NEAR_ANY_LITERAL], waiting)
        if scanned >= 0:
            start, stop, quote = terms[scanned, START], terms[scanned, STOP], terms[scanned, QUOTE]
            known = value_at(data, start, quote, stop)
            class_ = _class_of(data, quote, stop, class_of, packed, slots, hashes, offsets, text)
        else:
            start, stop = offsets[term], offsets[term + 1]
            quote = closing_quote(text, start, stop)
            known = value_at(text, start, quote, stop)
            class_ = _class_of(text, quote, stop, class_of, packed, slots, hashes, offsets, text)
        table[vertex, OWN_KIND], values[vertex, OWN] = known[0], known[1]
        table[vertex, SPELLED_KIND], values[vertex, SPELLED_NUMBER] = known[2], known[3]
        if class_ >= 0:
            give(bits, vertex, packed, packed[packed[NEAR_LITERAL] + class_], waiting)
    return table, values


@njit(cache=True)
def _spans(nodes: Array, vertices: int, terms: Array, unnumbered: Array) -> Array:
    """Return where the terms of vertices and of properties without numbers lie in the payload; see `encode`."""
    spans = np.empty((2, vertices + unnumbered.shape[0]), np.int32)
    for place in range(spans.shape[1]):
        scanned = nodes[place, SCANNED] if place < vertices else unnumbered[place - vertices]
        spans[0, place] = terms[scanned, START] if scanned >= 0 else -1
        spans[1, place] = terms[scanned, STOP] if scanned >= 0 else -1
    return spans


@njit(cache=True)
def _class_of(
    data: Array,
    quote: int,
    stop: int,
    class_of: Array,
    packed: Array,
    slots: Array,
    hashes: Array,
    offsets: Array,
    text: Array,
) -> int:
    """Return the class that is the datatype of a literal whose text ends at `quote`, or UNKNOWN."""
    if quote == stop - 1:
        return np.int64(packed[STRING_CLASS])
    if data[quote + 1] != 94:
        # A direction has three letters behind two hyphens.
        has_direction = stop - quote > 6 and data[stop - 5] == 45 and data[stop - 4] == 45
        return np.int64(packed[DIRECTION_CLASS] if has_direction else packed[LANGUAGE_CLASS])
    datatype = find(data, quote + 3, stop, hash_of(data, quote + 3, stop), slots, hashes, offsets, text)
    return np.int64(number_at(class_of, datatype)) if datatype != UNKNOWN else np.int64(UNKNOWN)
