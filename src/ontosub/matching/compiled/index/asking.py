"""What entries ask of the vertices that a walk has bound when it comes to the end of a path.

A group's bucket is found by hashing, its boxes by searching; conditions that are left are decided one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.events.graph import (
    OWN,
    OWN_KIND,
    SPELLED_KIND,
    SPELLED_NUMBER,
    TERM,
)
from ontosub.matching.compiled.events.literals import (
    MOMENT,
    NO_VALUE,
    NUMBER,
    RESOURCE,
    UNSURE,
)
from ontosub.matching.compiled.index.conditions import (
    AT_MOST,
    BELOW,
    DIFFERENT,
    EQUAL,
    SAME,
    SPELLED,
)
from ontosub.matching.compiled.index.kernels import inlined, mixed, uncounted
from ontosub.matching.compiled.index.layout import (
    ABOUT,
    BLOCK,
    BOUND_FROM,
    BOX_FROM,
    COMPARISON,
    CONSTANT_FROM,
    CONSTANT_TO,
    DIMENSION_FROM,
    DIMENSION_TO,
    ENTRY_FROM,
    ENTRY_TO,
    EXTRA_FROM,
    EXTRA_TO,
    FIRST,
    GROUP,
    HAS_ATOM,
    KEY_FROM,
    NONE,
    NOT_TERM,
    PAIR_FROM,
    PAIR_TO,
    REGISTER,
    SECOND,
    VALUE_KIND,
    WHAT,
    WHOSE,
)

Array = NDArray[Any]

YES, NO, OPEN = 1, 0, 2
"""What a kernel can say of a condition. OPEN: let Python decide."""


@inlined
def fill_point(
    groups: Array, group: int, wanted: Array, vertices: Array, values: Array, binding: Array, point: Array
) -> int:
    """Fill in the values that a group looks at; say whether there are such (YES, NO, or OPEN if one is not sure)."""
    known = YES
    first = groups[group, DIMENSION_FROM]
    for dimension in range(first, groups[group, DIMENSION_TO]):
        vertex = binding[wanted[dimension, REGISTER]]
        sure, value = _value(vertices, values, vertex, wanted[dimension, VALUE_KIND])
        if sure == NO:
            return NO
        if sure == OPEN:
            known, value = OPEN, np.nan
        point[dimension - first] = value
    return known


@inlined
def find_bucket(
    details: Array,
    detail: int,
    group: int,
    atom: int,
    slots: Array,
    buckets: Array,
    keys: Array,
    constant_registers: Array,
    vertices: Array,
    binding: Array,
) -> int:
    """Return the group's bucket for an atom and the constants that the registers hold, or NONE."""
    start, end = details[detail, CONSTANT_FROM], details[detail, CONSTANT_TO]
    hashed = mixed(mixed(np.uint64(0), group), atom)
    for position in range(start, end):
        hashed = mixed(hashed, vertices[binding[constant_registers[position]], TERM])
    mask = slots.shape[0] - 1
    slot = np.int64(hashed & np.uint64(mask))
    while slots[slot] != NONE:
        bucket = slots[slot]
        key = buckets[bucket, KEY_FROM]
        if buckets[bucket, GROUP] == group and keys[key] == atom:
            same = True
            for position in range(start, end):
                if keys[key + 1 + position - start] != vertices[binding[constant_registers[position]], TERM]:
                    same = False
                    break
            if same:
                return bucket
        slot = (slot + 1) & mask
    return NONE


@uncounted
def hits_inside(
    buckets: Array,
    bucket: int,
    boxes: Array,
    bounds: Array,
    dimensions: int,
    point: Array,
    ranges: Array,
    hits: Array,
    count: int,
) -> int:
    """Add to the hits the entries of a bucket in whose boxes the point lies; return how many hits there are then.

    A coordinate that is not a number lies everywhere.
    """
    start, size = buckets[bucket, ENTRY_FROM], buckets[bucket, ENTRY_TO] - buckets[bucket, ENTRY_FROM]
    box_from, at = buckets[bucket, BOX_FROM], buckets[bucket, BOUND_FROM]
    # The stack holds ranges of entries or blocks, their level, and where their boxes or bounds are.
    level, height = 0, 1
    ranges[0, 0], ranges[0, 1], ranges[0, 2], ranges[0, 3] = 0, size, 0, box_from
    if at != NONE:
        while size > BLOCK:
            size = (size + BLOCK - 1) // BLOCK
            level += 1
            ranges[level, 4] = at
            at += size * dimensions
        ranges[0, 1], ranges[0, 2], ranges[0, 3] = size, level, ranges[level, 4]
        ranges[0, 4] = box_from
    entries = buckets[bucket, ENTRY_TO] - start
    while height > 0:
        height -= 1
        first, last, level, where = ranges[height, 0], ranges[height, 1], ranges[height, 2], ranges[height, 3]
        for member in range(first, last):
            if _encloses(boxes if level == 0 else bounds, where + member * dimensions, dimensions, point):
                if level == 0:
                    hits[count] = start + member
                    count += 1
                else:
                    below = entries
                    for _ in range(level - 1):
                        below = (below + BLOCK - 1) // BLOCK
                    ranges[height, 0], ranges[height, 1] = member * BLOCK, min(below, (member + 1) * BLOCK)
                    ranges[height, 2], ranges[height, 3] = level - 1, ranges[level - 1, 4]
                    height += 1
    return count


@inlined
def _encloses(boxes: Array, at: int, dimensions: int, point: Array) -> bool:
    for dimension in range(dimensions):
        if point[dimension] < boxes[at + dimension, 0] or point[dimension] > boxes[at + dimension, 1]:
            return False
    return True


@inlined
def _value(vertices: Array, values: Array, vertex: int, kind: int) -> tuple[int, float]:
    """Return whether the vertex has a value of the kind (YES, NO or OPEN), and the value."""
    own = vertices[vertex, OWN_KIND]
    if kind == SPELLED:
        spelled = vertices[vertex, SPELLED_KIND]
        if own == NUMBER:
            return YES, values[vertex, OWN]
        if spelled == NUMBER:
            return YES, values[vertex, SPELLED_NUMBER]
        return (OPEN if own == UNSURE or spelled == UNSURE else NO), 0.0
    if own == kind:
        return YES, values[vertex, OWN]
    if own == UNSURE or (own >= MOMENT and kind >= MOMENT):
        return OPEN, 0.0
    return NO, 0.0


@inlined
def decide_pairs(groups: Array, group: int, pairs: Array, vertices: Array, values: Array, binding: Array) -> int:
    """Decide the conditions between two registers that all entries of a group have."""
    answer = YES
    for position in range(groups[group, PAIR_FROM], groups[group, PAIR_TO]):
        comparison = pairs[position, COMPARISON]
        first, second = binding[pairs[position, FIRST]], binding[pairs[position, SECOND]]
        if comparison == SAME:
            if first != second:
                return NO
            continue
        kind, other = vertices[first, OWN_KIND], vertices[second, OWN_KIND]
        if kind == RESOURCE or other == RESOURCE:
            # What is no literal equals itself and nothing else, and has no order.
            if comparison != (EQUAL if first == second else DIFFERENT):
                return NO
            continue
        if kind == NO_VALUE or kind == UNSURE or other != kind:
            answer = OPEN
            continue
        left, right = values[first, OWN], values[second, OWN]
        if comparison == BELOW:
            holds = left < right
        elif comparison == AT_MOST:
            holds = left <= right
        elif comparison == EQUAL:
            holds = left == right
        else:
            holds = left != right
        if not holds:
            return NO
    return answer


@uncounted
def decide_extras(
    entries: Array,
    entry: int,
    extras: Array,
    extra_values: Array,
    vertices: Array,
    values: Array,
    binding: Array,
    atoms_from: Array,
    atoms: Array,
) -> int:
    """Decide what else an entry asks for."""
    answer = YES
    for extra in range(entries[entry, EXTRA_FROM], entries[entry, EXTRA_TO]):
        about, vertex, what = extras[extra, ABOUT], binding[extras[extra, WHOSE]], extras[extra, WHAT]
        if about == NOT_TERM:
            if vertices[vertex, TERM] == what:
                return NO
        elif about == HAS_ATOM:
            held = False
            for position in range(atoms_from[vertex], atoms_from[vertex + 1]):
                held = held or atoms[position] == what
            if not held:
                return NO
        elif vertices[vertex, OWN_KIND] == what:
            if values[vertex, OWN] == extra_values[extra]:
                return NO
        elif vertices[vertex, OWN_KIND] != RESOURCE:
            answer = OPEN
    return answer
