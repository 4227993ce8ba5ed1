"""Moves: which vertices a step leads to from those that are bound, and what it asks of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.events.graph import ALONG, END, IS_VERTEX
from ontosub.matching.compiled.index.kernels import inlined, mixed
from ontosub.matching.compiled.index.layout import (
    CLASS_FROM,
    CLASS_TO,
    ENDS,
    HOW,
    KIND_MASK,
    NONE,
    PROPERTY,
    SOURCE_MASK,
    TARGET_SHIFT,
)
from ontosub.matching.compiled.index.plan import (
    ALONE,
    ANY,
    BACKWARD,
    BACKWARD_ANY,
    CHECK,
    CHECK_ANY,
    FORWARD,
    FORWARD_ANY,
    HOME,
)

Array = NDArray[Any]

NO_CANDIDATE = -2


@inlined
def _lower_bound(arcs: Array, column: int, start: int, end: int, value: int) -> int:
    """Return the first of the sorted arcs[start:end] that is not below the value."""
    while end - start > 8:
        middle = (start + end) >> 1
        if arcs[middle, column] < value:
            start = middle + 1
        else:
            end = middle
    while start < end and arcs[start, column] < value:
        start += 1
    return start


@inlined
def candidates(
    nodes: Array,
    node: int,
    kind: int,
    out_from: Array,
    out: Array,
    in_from: Array,
    into: Array,
    home: int,
    count: int,
    binding: Array,
    property_binding: Array,
) -> tuple[int, int]:
    """Return the candidates of a move: arcs, vertices, or a single one to say that a check holds."""
    property_ = nodes[node, PROPERTY]
    if kind == HOME:
        return (home, home + 1) if home >= 0 else (0, 0)
    if kind == ANY:
        return 0, count
    at = binding[nodes[node, ENDS] & SOURCE_MASK]
    if kind >= CHECK_ANY:
        if property_ >= 0:
            return (in_from[at], in_from[at + 1]) if kind == BACKWARD_ANY else (out_from[at], out_from[at + 1])
        property_ = property_binding[~property_]
    if kind == BACKWARD or kind == BACKWARD_ANY:
        end = in_from[at + 1]
        first = _lower_bound(into, ALONG, in_from[at], end, property_)
        return first, _lower_bound(into, ALONG, first, end, property_ + 1)
    end = out_from[at + 1]
    first = _lower_bound(out, ALONG, out_from[at], end, property_)
    last = _lower_bound(out, ALONG, first, end, property_ + 1)
    if kind == CHECK or kind == CHECK_ANY:
        target = binding[nodes[node, ENDS] >> TARGET_SHIFT]
        first = _lower_bound(out, END, first, last, target)
        last = first + 1 if first < last and out[first, END] == target else first
    return first, last


@inlined
def vertex_of(
    nodes: Array,
    node: int,
    candidate: int,
    vertices: Array,
    out: Array,
    into: Array,
    binding: Array,
    property_binding: Array,
) -> int:
    """Return the vertex that a candidate leads to; NONE if there is none to bind, NO_CANDIDATE if it is none."""
    kind = nodes[node, HOW] & KIND_MASK
    if kind == FORWARD:
        return out[candidate, END]
    if kind == BACKWARD:
        return into[candidate, END]
    if kind == CHECK:
        return NONE
    if kind == HOME:
        return candidate
    property_ = nodes[node, PROPERTY]
    if kind == ANY:
        return candidate if vertices[candidate, IS_VERTEX] or property_ != ALONE else NO_CANDIDATE
    if kind == BACKWARD_ANY:
        if property_ >= 0:
            property_binding[property_] = into[candidate, ALONG]
        return into[candidate, END]
    if kind == CHECK_ANY and out[candidate, END] != binding[nodes[node, ENDS] >> TARGET_SHIFT]:
        return NO_CANDIDATE
    if property_ >= 0:
        property_binding[property_] = out[candidate, ALONG]
    return out[candidate, END] if kind == FORWARD_ANY else NONE


@inlined
def has_classes(details: Array, detail: int, classes: Array, bits: Array, vertex: int) -> bool:
    """Say whether the vertex has the further classes asked of it."""
    for position in range(details[detail, CLASS_FROM], details[detail, CLASS_TO]):
        class_ = classes[position]
        if not (bits[vertex, class_ >> 6] >> np.uint64(class_ & 63)) & np.uint64(1):
            return False
    return True


@inlined
def is_member(members: Array, node: int, term: int) -> bool:
    """Say whether the term is one of the constants that entries below the node ask for there."""
    sought = (np.int64(node) << 32) | np.int64(term)
    mask = members.shape[0] - 1
    slot = np.int64(mixed(np.uint64(0), sought) & np.uint64(mask))
    while members[slot] != NONE and members[slot] != sought:
        slot = (slot + 1) & mask
    return members[slot] == sought
