"""The walk: one depth-first pass through the trie over an event graph finds all matches.

A frame of the walk stands at an arrival. It goes through the moves below it; for each move through the vertices that it
leads to; for each vertex through the arrivals that ask something of it. When only existence matters, a branch is left
as soon as every pattern under it has matched.

Work is counted per move. A move that takes more steps than the budget allows is given up, and only what lies under it
goes without an answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.conditions import ABOVE, AT_LEAST, AT_MOST, BELOW, SPELLED
from ontosub.matching.compiled.layout import (
    ALL_FROM,
    ALL_TO,
    ALONG,
    BUCKET_CONSTANTS,
    CLASS,
    CLASS_FROM,
    CLASS_TO,
    COMPARISON,
    CONSTANT_FROM,
    CONSTANT_TO,
    END,
    ENTRY_FROM,
    ENTRY_TO,
    EPOCH,
    EXTRA_FROM,
    EXTRA_TO,
    FIRST,
    GROUP,
    GROUP_FROM,
    GROUP_TO,
    IS_CONSTANT,
    IS_OPEN,
    IS_VERTEX,
    KIND,
    LIVE,
    NEXT,
    NONE,
    OWN,
    OWN_KIND,
    PARENT,
    PATTERN,
    PROPERTY,
    PROPERTY_REGISTERS,
    REGISTER,
    REGISTERS,
    SOURCE,
    SPELLED_KIND,
    SPELLED_NUMBER,
    TARGET,
    TERM,
    UNDER,
    VALUE_KIND,
    VISITS,
    Graph,
    Scratch,
    Segment,
)
from ontosub.matching.compiled.literals import NUMBER, UNSURE
from ontosub.matching.compiled.plan import (
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

_NO_CANDIDATE = -2

FRAME_COLUMNS = 7
"""What a frame remembers: the move after its move, its move, the next candidate and where they end, the next arrival,
the vertex, and whether images must differ."""

YES, NO, OPEN = 1, 0, 2
"""What a kernel can say of a condition. OPEN: let Python decide."""

ROW_HEAD = 4
"""A row begins with the pattern, whether it is open, and how many registers of each kind follow."""

DONE, FULL = 0, 1


@njit(cache=True)
def walk(
    segment: Segment, graph: Graph, scratch: Scratch, epoch: int, every: bool, budget: int
) -> tuple[int, int, int, int, int]:
    """Match an event graph against a segment.

    Without `every`, a pattern is found once: its number goes to `scratch.found`. With it, each of its mappings is a row
    in `scratch.rows`; so is, in both cases, a mapping that Python must look at. Returns how it ended (FULL: a buffer
    was too small), how many patterns were found, how long the rows are, how many moves were given up, and the visits.
    """
    # Numba counts references whenever a tuple is asked for an array: ask once.
    nodes, classes, members = segment.nodes, segment.classes, segment.member_slots
    constant_registers = segment.constant_registers
    groups, slots, buckets, bucket_constants = (
        segment.groups,
        segment.bucket_slots,
        segment.buckets,
        segment.bucket_constants,
    )
    entries, thresholds, extras, extra_values = (
        segment.entries,
        segment.thresholds,
        segment.extras,
        segment.extra_values,
    )
    vertices, values, bits = graph.vertices, graph.values, graph.bits
    out_from, out, in_from, into, home = graph.out_from, graph.out, graph.in_from, graph.into, graph.home
    binding, property_binding, used = scratch.binding, scratch.property_binding, scratch.used
    state, seen = scratch.node_state, scratch.pattern_epoch
    frame, found, rows = scratch.frame, scratch.found, scratch.rows
    found_count, length, given_up, visits = 0, 0, 0, 0
    # The frame at the top of the stack is held in variables.
    depth, following, move, candidate, end, child, vertex, injective = 0, nodes[0, FIRST], NONE, 0, 0, NONE, NONE, 0
    while True:
        descends = False
        while child != NONE:
            arrival, child = child, nodes[child, NEXT]
            if vertex != NONE:
                if not _fits(nodes, arrival, classes, members, vertices, bits, vertex):
                    continue
                binding[nodes[arrival, REGISTERS] - 1] = vertex
            if not every:
                _touch(nodes, state, arrival, epoch)
                if state[arrival, LIVE] == 0:
                    continue
            for group in range(nodes[arrival, GROUP_FROM], nodes[arrival, GROUP_TO]):
                first, last = groups[group, ALL_FROM], groups[group, ALL_TO]
                if nodes[arrival, CONSTANT_FROM] < nodes[arrival, CONSTANT_TO]:
                    bucket = _bucket(
                        nodes, arrival, group, constant_registers, slots, buckets, bucket_constants, vertices, binding
                    )
                    if bucket == NONE:
                        continue
                    first, last = buckets[bucket, ENTRY_FROM], buckets[bucket, ENTRY_TO]
                is_open = False
                if groups[group, COMPARISON] != NONE:
                    known, value = _value(vertices, values, binding[groups[group, REGISTER]], groups[group, VALUE_KIND])
                    if known == NO:
                        continue
                    if known == YES:
                        first, last = _between(thresholds, first, last, groups[group, COMPARISON], value)
                    is_open = known == OPEN
                elif not every and first < last and seen[entries[first, PATTERN]] == epoch:
                    continue  # entries without conditions are reported all at once
                for entry in range(first, last):
                    pattern = entries[entry, PATTERN]
                    if not every and seen[pattern] == epoch:
                        continue
                    answer = _extras(entries, entry, extras, extra_values, vertices, values, binding)
                    if answer == NO:
                        continue
                    unsure = is_open or answer == OPEN or entries[entry, IS_OPEN] == 1
                    if every or unsure:
                        needed = ROW_HEAD + nodes[arrival, REGISTERS] + nodes[arrival, PROPERTY_REGISTERS]
                        if length + needed > rows.shape[0]:
                            return FULL, found_count, length, given_up, visits
                        _write(rows, length, nodes, arrival, pattern, unsure, binding, property_binding)
                        length += needed
                    else:
                        if found_count >= found.shape[0]:
                            return FULL, found_count, length, given_up, visits
                        found[found_count] = pattern
                        found_count += 1
                        seen[pattern] = epoch
                        _retire(nodes, state, arrival, epoch)
            if nodes[arrival, FIRST] != NONE and (every or state[arrival, LIVE] > 0):
                descends = True
                break
        if descends:
            if injective and vertex != NONE:
                used[vertex] = True
            frame[depth, 0], frame[depth, 1], frame[depth, 2], frame[depth, 3] = following, move, candidate, end
            frame[depth, 4], frame[depth, 5], frame[depth, 6] = child, vertex, injective
            depth += 1
            following, move, candidate, end, child, vertex = nodes[arrival, FIRST], NONE, 0, 0, NONE, NONE
        while child == NONE and candidate < end:
            here = candidate
            candidate += 1
            visits += 1
            state[move, VISITS] += 1
            if state[move, VISITS] > budget:
                if given_up < scratch.exhausted.shape[0]:
                    scratch.exhausted[given_up] = move
                given_up += 1
                candidate = end
                break
            vertex = _vertex(nodes, move, nodes[move, KIND], here, vertices, out, into, binding, property_binding)
            if vertex != _NO_CANDIDATE and not (injective and vertex != NONE and used[vertex]):
                child = nodes[move, FIRST]
        while child == NONE and candidate >= end and following != NONE:
            move, following = following, nodes[following, NEXT]
            candidate, end = _range(
                nodes, move, out_from, out, in_from, into, home, vertices.shape[0], binding, property_binding
            )
            # Most moves lead nowhere: what is counted at a move is looked at only when this one leads somewhere.
            if candidate < end:
                _touch(nodes, state, move, epoch)
                if not every and state[move, LIVE] == 0:
                    candidate = end
                elif nodes[move, KIND] <= ANY:
                    injective = nodes[move, TARGET]
        if child == NONE and candidate >= end:
            if depth == 0:
                return DONE, found_count, length, given_up, visits
            depth -= 1
            following, move, candidate, end = frame[depth, 0], frame[depth, 1], frame[depth, 2], frame[depth, 3]
            child, vertex, injective = frame[depth, 4], frame[depth, 5], frame[depth, 6]
            if injective and vertex != NONE:
                used[vertex] = False


@njit(inline="always")
def _touch(nodes: Array, state: Array, node: int, epoch: int) -> None:
    """Reset what is counted at a node when the epoch is new to it."""
    if state[node, EPOCH] != epoch:
        state[node, EPOCH], state[node, LIVE], state[node, VISITS] = epoch, nodes[node, UNDER], 0


@njit(inline="always")
def _retire(nodes: Array, state: Array, node: int, epoch: int) -> None:
    """Count an entry of the node as matched; a node with nothing left to match is done, and counts so above."""
    while node != NONE:
        _touch(nodes, state, node, epoch)
        state[node, LIVE] -= 1
        node = nodes[node, PARENT] if state[node, LIVE] == 0 else NONE


@njit(inline="always")
def _lower_bound(arcs: Array, column: int, start: int, end: int, value: int) -> int:
    """Return the first of the sorted arcs[start:end] that is not below the value."""
    while start < end:
        middle = (start + end) >> 1
        if arcs[middle, column] < value:
            start = middle + 1
        else:
            end = middle
    return start


@njit(inline="always")
def _range(
    nodes: Array,
    move: int,
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
    kind, property_ = nodes[move, KIND], nodes[move, PROPERTY]
    if kind == HOME:
        return (home, home + 1) if home >= 0 else (0, 0)
    if kind == ANY:
        return 0, count
    at = binding[nodes[move, SOURCE]]
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
        target = binding[nodes[move, TARGET]]
        first = _lower_bound(out, END, first, last, target)
        last = first + 1 if first < last and out[first, END] == target else first
    return first, last


@njit(inline="always")
def _vertex(
    nodes: Array,
    move: int,
    kind: int,
    candidate: int,
    vertices: Array,
    out: Array,
    into: Array,
    binding: Array,
    property_binding: Array,
) -> int:
    """Return the vertex that a candidate leads to; NONE if there is none to bind, _NO_CANDIDATE if it is none."""
    if kind == FORWARD:
        return out[candidate, END]
    if kind == BACKWARD:
        return into[candidate, END]
    if kind == CHECK:
        return NONE
    if kind == HOME:
        return candidate
    property_ = nodes[move, PROPERTY]
    if kind == ANY:
        return candidate if vertices[candidate, IS_VERTEX] or property_ != ALONE else _NO_CANDIDATE
    if kind == BACKWARD_ANY:
        if property_ >= 0:
            property_binding[property_] = into[candidate, ALONG]
        return into[candidate, END]
    if kind == CHECK_ANY and out[candidate, END] != binding[nodes[move, TARGET]]:
        return _NO_CANDIDATE
    if property_ >= 0:
        property_binding[property_] = out[candidate, ALONG]
    return out[candidate, END] if kind == FORWARD_ANY else NONE


@njit(cache=True)
def mixed(value: int, more: int) -> int:
    """Return a 64-bit hash that continues `value` with `more`."""
    value = (value ^ np.uint64(more)) * np.uint64(0x9E3779B97F4A7C15)
    return value ^ (value >> np.uint64(32))


@njit(inline="always")
def _fits(
    nodes: Array, arrival: int, classes: Array, members: Array, vertices: Array, bits: Array, vertex: int
) -> bool:
    """Say whether the vertex has the classes asked of it and, where constants are asked for, is one of them."""
    class_ = nodes[arrival, CLASS]
    if class_ != NONE and not (bits[vertex, class_ >> 6] >> np.uint64(class_ & 63)) & np.uint64(1):
        return False
    for position in range(nodes[arrival, CLASS_FROM], nodes[arrival, CLASS_TO]):
        class_ = classes[position]
        if not (bits[vertex, class_ >> 6] >> np.uint64(class_ & 63)) & np.uint64(1):
            return False
    if not nodes[arrival, IS_CONSTANT]:
        return True
    term = vertices[vertex, TERM]
    if term < 0:
        return False
    sought = (np.int64(arrival) << 32) | np.int64(term)
    mask = members.shape[0] - 1
    slot = np.int64(mixed(np.uint64(0), sought) & np.uint64(mask))
    while members[slot] != NONE:
        if members[slot] == sought:
            return True
        slot = (slot + 1) & mask
    return False


@njit(inline="always")
def _bucket(
    nodes: Array,
    arrival: int,
    group: int,
    constant_registers: Array,
    slots: Array,
    buckets: Array,
    bucket_constants: Array,
    vertices: Array,
    binding: Array,
) -> int:
    """Return the group's bucket for the constants that the registers hold, or NONE."""
    start, end = nodes[arrival, CONSTANT_FROM], nodes[arrival, CONSTANT_TO]
    hashed = mixed(np.uint64(0), group)
    for position in range(start, end):
        hashed = mixed(hashed, vertices[binding[constant_registers[position]], TERM])
    mask = slots.shape[0] - 1
    slot = np.int64(hashed & np.uint64(mask))
    while slots[slot] != NONE:
        bucket = slots[slot]
        if buckets[bucket, GROUP] == group:
            first = buckets[bucket, BUCKET_CONSTANTS]
            same = True
            for position in range(start, end):
                term = vertices[binding[constant_registers[position]], TERM]
                if bucket_constants[first + position - start] != term:
                    same = False
                    break
            if same:
                return bucket
        slot = (slot + 1) & mask
    return NONE


@njit(inline="always")
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
    return (OPEN if own == UNSURE else NO), 0.0


@njit(inline="always")
def _between(thresholds: Array, first: int, last: int, comparison: int, value: float) -> tuple[int, int]:
    """Return which of the sorted thresholds[first:last] the value satisfies."""
    low = first + np.searchsorted(thresholds[first:last], value, side="left")
    if comparison == AT_MOST:
        return low, last
    if comparison == ABOVE:
        return first, low
    high = low + np.searchsorted(thresholds[low:last], value, side="right")
    if comparison == BELOW:
        return high, last
    if comparison == AT_LEAST:
        return first, high
    return low, high


@njit(inline="always")
def _holds(value: float, comparison: int, threshold: float) -> bool:
    if comparison == BELOW:
        return value < threshold
    if comparison == AT_MOST:
        return value <= threshold
    if comparison == ABOVE:
        return value > threshold
    if comparison == AT_LEAST:
        return value >= threshold
    return value == threshold


@njit(inline="always")
def _extras(
    entries: Array, entry: int, extras: Array, extra_values: Array, vertices: Array, values: Array, binding: Array
) -> int:
    """Decide the entry's further thresholds."""
    answer = YES
    for extra in range(entries[entry, EXTRA_FROM], entries[entry, EXTRA_TO]):
        known, value = _value(vertices, values, binding[extras[extra, REGISTER]], extras[extra, VALUE_KIND])
        if known == NO or (known == YES and not _holds(value, extras[extra, COMPARISON], extra_values[extra])):
            return NO
        if known == OPEN:
            answer = OPEN
    return answer


@njit(inline="always")
def _write(
    rows: Array,
    at: int,
    nodes: Array,
    arrival: int,
    pattern: int,
    unsure: bool,
    binding: Array,
    property_binding: Array,
) -> None:
    registers, properties = nodes[arrival, REGISTERS], nodes[arrival, PROPERTY_REGISTERS]
    rows[at], rows[at + 1], rows[at + 2], rows[at + 3] = pattern, unsure, registers, properties
    for i in range(registers):
        rows[at + ROW_HEAD + i] = binding[i]
    for i in range(properties):
        rows[at + ROW_HEAD + registers + i] = property_binding[i]
