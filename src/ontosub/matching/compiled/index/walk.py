"""The walk: one depth-first pass through the trie over an event graph finds all matches.

A frame of the walk stands at a node. It goes through the runs of its children; for each run through the vertices that
its move leads to; for each vertex through the nodes of the run, which ask something of it. A branch under which there
is nothing left to find, because all of it has been found, has gone or was given up, is left at once.

Steps are counted per run. Those of the runs on the way to an entry are what its pattern takes by itself, whoever shares
them: when they are more than the budget, the run that takes the next one is given up, and only what lies under it goes
without an answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.events.graph import (
    ALONG,
    END,
    IS_VERTEX,
    OWN,
    OWN_KIND,
    SPELLED_KIND,
    SPELLED_NUMBER,
    TERM,
    Graph,
)
from ontosub.matching.compiled.events.literals import MOMENT, NO_VALUE, NUMBER, RESOURCE, UNSURE
from ontosub.matching.compiled.index.conditions import AT_MOST, BELOW, DIFFERENT, EQUAL, SAME, SPELLED
from ontosub.matching.compiled.index.kernels import inlined, mixed, uncounted
from ontosub.matching.compiled.index.layout import (
    ABOUT,
    ATOM_REGISTER,
    BLOCK,
    BOUND_FROM,
    BOX_FROM,
    BUCKET_FROM,
    CHILD_FROM,
    CHILD_TO,
    CLASS,
    CLASS_FROM,
    CLASS_TO,
    COMPARISON,
    CONSTANT_FROM,
    CONSTANT_TO,
    DETAIL,
    DIMENSION_FROM,
    DIMENSION_TO,
    ENDS,
    ENTRIES,
    ENTRY_FROM,
    ENTRY_TO,
    EPOCH,
    EXHAUSTED,
    EXTRA_FROM,
    EXTRA_TO,
    FIRST,
    FLAGS,
    GIVEN_UP,
    GONE_BELOW,
    GROUP,
    GROUP_FROM,
    GROUP_TO,
    HAS_ATOM,
    HAS_CLASSES,
    HOW,
    IS_CONSTANT,
    KEY_FROM,
    KIND_MASK,
    LIVE,
    NONE,
    NOT_TERM,
    ONCE_ENTRY,
    OPEN_ENTRY,
    PAIR_FROM,
    PAIR_TO,
    PARENT,
    PATTERN,
    PLAIN_FROM,
    PLAIN_TO,
    PROPERTY,
    PROPERTY_REGISTERS,
    REGISTER,
    RUN_SHIFT,
    SECOND,
    SOURCE_MASK,
    TARGET_SHIFT,
    TOTAL,
    VALUE_KIND,
    VISITS,
    WHAT,
    WHOSE,
    Scratch,
    Segment,
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

_NO_CANDIDATE = -2

FRAME_COLUMNS = 9
"""What a frame remembers: the next child and where they end, the head of the run, the next candidate and where they
end, the next node of the run, the vertex, whether images must differ, and how many registers were bound before."""

YES, NO, OPEN = 1, 0, 2
"""What a kernel can say of a condition. OPEN: let Python decide."""

ROW_HEAD = 3
"""A row begins with its entry, whether it is open, and how many vertices it has; all registers follow."""

DONE, FULL = 0, 1


@uncounted
def walk(
    segment: Segment, graph: Graph, scratch: Scratch, epoch: int, every: bool, budget: int, excludes: bool
) -> tuple[int, int, int, int, int, int]:
    """Match an event graph against a segment.

    Without `every`, a pattern is found once: its number goes to `scratch.found`. With it, each of its mappings is a row
    in `scratch.rows`, unless its entry says that once is enough; so is, in both cases, a mapping that Python must look
    at. When it `excludes` some, patterns that `scratch.seen` has under this epoch, or as GONE, are not looked for.
    Returns how it ended (FULL: a buffer was too small), how many patterns were found, how long the rows are, how many
    of them are open, how many runs were given up, and the visits.
    """
    # Numba counts references whenever a tuple is asked for an array: ask once.
    nodes, details, classes, members = segment.nodes, segment.details, segment.classes, segment.member_slots
    groups, entries, pairs, wanted = segment.groups, segment.entries, segment.pairs, segment.dimensions
    slots, buckets, keys = segment.bucket_slots, segment.buckets, segment.bucket_keys
    boxes, bounds, constant_registers = segment.boxes, segment.bounds, segment.constant_registers
    extras, extra_values = segment.extras, segment.extra_values
    vertices, values, bits = graph.vertices, graph.values, graph.bits
    out_from, out, in_from, into, home = graph.out_from, graph.out, graph.in_from, graph.into, graph.home
    out_mask, in_mask, atoms_from, atoms = graph.out_mask, graph.in_mask, graph.atoms_from, graph.atoms
    binding, property_binding, used = scratch.binding, scratch.property_binding, scratch.used
    state, seen, noted, frame = scratch.state, scratch.seen, scratch.noted, scratch.frame
    hits, found, rows = scratch.hits, scratch.found, scratch.rows
    point, ranges = scratch.point, scratch.ranges
    found_count, length, opened, given_up, visits = 0, 0, 0, 0, 0
    # The frame at the top of the stack is held in variables. At first, node 0 is a run of its own, without a vertex.
    depth, following, children_end, head, candidate, end = 0, 0, 0, 0, 0, 0
    node, run_end, vertex, injective, bound = 0, 1, NONE, 0, 0
    left = budget  # less what the runs above have taken
    while True:
        descends = False
        while node < run_end:
            here = node
            node += 1
            detail = nodes[here, DETAIL]
            if vertex != NONE:
                class_ = nodes[here, CLASS]
                if class_ != NONE and not (bits[vertex, class_ >> 6] >> np.uint64(class_ & 63)) & np.uint64(1):
                    continue
                how = nodes[here, HOW]
                if how & HAS_CLASSES and not _has_classes(details, detail, classes, bits, vertex):
                    continue
                if how & IS_CONSTANT:
                    # Where nothing follows, the search for the entries will tell.
                    is_last = nodes[here, CHILD_FROM] == nodes[here, CHILD_TO]
                    term = vertices[vertex, TERM]
                    if term < 0 or not (is_last or _is_member(members, here, term)):
                        continue
                binding[bound] = vertex
            if state[here, EPOCH] != epoch:
                _touch(nodes, details, state, noted, here, epoch, excludes)
                if excludes and state[here, LIVE] == 0:
                    continue
            elif state[here, LIVE] <= 0:
                continue
            if detail != NONE and details[detail, ENTRIES] > 0:
                for group in range(details[detail, GROUP_FROM] - 1, details[detail, GROUP_TO]):
                    # The entries in question are a range, or, after a search, a list.
                    first, last, listed, sure = 0, 0, False, YES
                    if group < details[detail, GROUP_FROM]:
                        first, last = details[detail, PLAIN_FROM], details[detail, PLAIN_TO]
                    else:
                        sure = _pairs(groups, group, pairs, vertices, values, binding)
                        if sure == NO:
                            continue
                        dimensions = groups[group, DIMENSION_TO] - groups[group, DIMENSION_FROM]
                        if dimensions > 0:
                            known = _point(groups, group, wanted, vertices, values, binding, point)
                            if known == NO:
                                continue
                            sure = OPEN if known == OPEN else sure
                        register = groups[group, ATOM_REGISTER]
                        if register == NONE:
                            bucket = groups[group, BUCKET_FROM]
                            if details[detail, CONSTANT_FROM] < details[detail, CONSTANT_TO]:
                                bucket = _bucket(
                                    details, detail, group, NONE, slots, buckets, keys, constant_registers, vertices,
                                    binding,
                                )  # fmt: skip
                                if bucket == NONE:
                                    continue
                            first, last = buckets[bucket, ENTRY_FROM], buckets[bucket, ENTRY_TO]
                            if dimensions > 0:
                                last = _inside(buckets, bucket, boxes, bounds, dimensions, point, ranges, hits, 0)
                                first, listed = 0, True
                        else:
                            listed = True
                            for position in range(atoms_from[binding[register]], atoms_from[binding[register] + 1]):
                                bucket = _bucket(
                                    details, detail, group, atoms[position], slots, buckets, keys, constant_registers,
                                    vertices, binding,
                                )  # fmt: skip
                                if bucket != NONE:
                                    last = _inside(
                                        buckets, bucket, boxes, bounds, dimensions, point, ranges, hits, last
                                    )
                    for hit in range(first, last):
                        entry = hits[hit] if listed else hit
                        pattern, flags = entries[entry, PATTERN], entries[entry, FLAGS]
                        once = not every or flags & ONCE_ENTRY
                        if (once or excludes) and seen[pattern] >= epoch:
                            continue
                        answer = YES
                        if entries[entry, EXTRA_FROM] < entries[entry, EXTRA_TO]:
                            answer = _extras(
                                entries, entry, extras, extra_values, vertices, values, binding, atoms_from, atoms
                            )
                            if answer == NO:
                                continue
                        unsure = sure == OPEN or answer == OPEN or (flags & OPEN_ENTRY) != 0
                        if unsure or not once:
                            registers = bound + (vertex != NONE)
                            properties = details[detail, PROPERTY_REGISTERS]
                            if length + ROW_HEAD + registers + properties > rows.shape[0]:
                                return FULL, found_count, length, opened, given_up, visits
                            opened += unsure
                            rows[length], rows[length + 1], rows[length + 2] = entry, unsure, registers
                            length += ROW_HEAD
                            for register in range(registers):
                                rows[length + register] = binding[register]
                            length += registers
                            for register in range(properties):
                                rows[length + register] = property_binding[register]
                            length += properties
                        else:
                            found[found_count] = pattern
                            found_count += 1
                            seen[pattern] = epoch
                            _retire(nodes, state, here)
            if nodes[here, CHILD_FROM] < nodes[here, CHILD_TO] and state[here, LIVE] > 0:
                descends = True
                break
        if descends:
            if injective and vertex != NONE:
                used[vertex] = True
            frame[depth, 0], frame[depth, 1], frame[depth, 2] = following, children_end, head
            frame[depth, 3], frame[depth, 4], frame[depth, 5] = candidate, end, node
            frame[depth, 6], frame[depth, 7], frame[depth, 8] = vertex, injective, bound
            depth += 1
            bound += vertex != NONE
            left -= state[head, VISITS]
            following, children_end = nodes[here, CHILD_FROM], nodes[here, CHILD_TO]
            head, candidate, end, node, run_end, vertex = 0, 0, 0, 0, 0, NONE
        while node >= run_end and candidate < end:
            here = candidate
            candidate += 1
            visits += 1
            state[head, VISITS] += 1
            if state[head, VISITS] > left:
                _give_up(nodes, details, state, noted, head, epoch, excludes)
                noted[given_up, EXHAUSTED] = head
                given_up += 1
                candidate = end
                break
            vertex = _vertex(nodes, head, here, vertices, out, into, binding, property_binding)
            if vertex != _NO_CANDIDATE and not (injective and vertex != NONE and used[vertex]):
                node, run_end = head, head + (nodes[head, HOW] >> RUN_SHIFT)
        while node >= run_end and candidate >= end and following < children_end:
            head = following
            how = nodes[head, HOW]
            following += how >> RUN_SHIFT
            kind = how & KIND_MASK
            # Most moves lead nowhere: one look at the mask of the vertex tells.
            if CHECK <= kind <= BACKWARD:
                at = binding[nodes[head, ENDS] & SOURCE_MASK]
                mask = in_mask[at] if kind == BACKWARD else out_mask[at]
                if not (mask >> np.uint64(nodes[head, PROPERTY] & 63)) & np.uint64(1):
                    continue
            if state[head, EPOCH] != epoch:
                _touch(nodes, details, state, noted, head, epoch, excludes)
                if excludes and state[head, LIVE] == 0 and how >> RUN_SHIFT == 1:
                    continue
            elif state[head, LIVE] <= 0 and (state[head, LIVE] == GIVEN_UP or how >> RUN_SHIFT == 1):
                continue
            if kind <= ANY:
                injective = nodes[head, ENDS] >> TARGET_SHIFT
            candidate, end = _range(
                nodes, head, kind, out_from, out, in_from, into, home, vertices.shape[0], binding, property_binding
            )
        if node >= run_end and candidate >= end:
            if depth == 0:
                return DONE, found_count, length, opened, given_up, visits
            depth -= 1
            following, children_end, head = frame[depth, 0], frame[depth, 1], frame[depth, 2]
            candidate, end, node = frame[depth, 3], frame[depth, 4], frame[depth, 5]
            vertex, injective, bound = frame[depth, 6], frame[depth, 7], frame[depth, 8]
            left += state[head, VISITS]
            run_end = head + (nodes[head, HOW] >> RUN_SHIFT) if depth > 0 else 1
            if given_up > 0 and state[head, LIVE] <= 0 and run_end == head + 1:
                candidate = end
            if injective and vertex != NONE:
                used[vertex] = False


@inlined
def _touch(nodes: Array, details: Array, state: Array, noted: Array, node: int, epoch: int, excludes: bool) -> None:
    """Begin to count at a node, for a new epoch."""
    state[node, EPOCH] = epoch
    live = nodes[node, CHILD_TO] - nodes[node, CHILD_FROM]
    detail = nodes[node, DETAIL]
    if detail != NONE:
        live += details[detail, ENTRIES]
    state[node, LIVE] = live - noted[node, GONE_BELOW] if excludes else live
    state[node, TOTAL] += state[node, VISITS]
    state[node, VISITS] = 0


@inlined
def _retire(nodes: Array, state: Array, node: int) -> None:
    """Count an entry of the node as found; what has nothing left to find is done, and counts so above."""
    while node != NONE:
        state[node, LIVE] -= 1
        node = nodes[node, PARENT] if state[node, LIVE] == 0 else NONE


@uncounted
def _give_up(nodes: Array, details: Array, state: Array, noted: Array, head: int, epoch: int, excludes: bool) -> None:
    """Look for nothing more under a run; what has nothing left to find then is done, too."""
    parent = nodes[head, PARENT]
    for node in range(head, head + (nodes[head, HOW] >> RUN_SHIFT)):
        if state[node, EPOCH] != epoch:
            _touch(nodes, details, state, noted, node, epoch, excludes)
        if state[node, LIVE] > 0:
            _retire(nodes, state, parent)
        state[node, LIVE] = 0
    state[head, LIVE] = GIVEN_UP


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
def _range(
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
def _vertex(
    nodes: Array,
    node: int,
    candidate: int,
    vertices: Array,
    out: Array,
    into: Array,
    binding: Array,
    property_binding: Array,
) -> int:
    """Return the vertex that a candidate leads to; NONE if there is none to bind, _NO_CANDIDATE if it is none."""
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
        return candidate if vertices[candidate, IS_VERTEX] or property_ != ALONE else _NO_CANDIDATE
    if kind == BACKWARD_ANY:
        if property_ >= 0:
            property_binding[property_] = into[candidate, ALONG]
        return into[candidate, END]
    if kind == CHECK_ANY and out[candidate, END] != binding[nodes[node, ENDS] >> TARGET_SHIFT]:
        return _NO_CANDIDATE
    if property_ >= 0:
        property_binding[property_] = out[candidate, ALONG]
    return out[candidate, END] if kind == FORWARD_ANY else NONE


@inlined
def _has_classes(details: Array, detail: int, classes: Array, bits: Array, vertex: int) -> bool:
    """Say whether the vertex has the further classes asked of it."""
    for position in range(details[detail, CLASS_FROM], details[detail, CLASS_TO]):
        class_ = classes[position]
        if not (bits[vertex, class_ >> 6] >> np.uint64(class_ & 63)) & np.uint64(1):
            return False
    return True


@inlined
def _is_member(members: Array, node: int, term: int) -> bool:
    """Say whether the term is one of the constants that entries below the node ask for there."""
    sought = (np.int64(node) << 32) | np.int64(term)
    mask = members.shape[0] - 1
    slot = np.int64(mixed(np.uint64(0), sought) & np.uint64(mask))
    while members[slot] != NONE and members[slot] != sought:
        slot = (slot + 1) & mask
    return members[slot] == sought


@inlined
def _point(
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
def _bucket(
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
def _inside(
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
def _pairs(groups: Array, group: int, pairs: Array, vertices: Array, values: Array, binding: Array) -> int:
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
def _extras(
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
