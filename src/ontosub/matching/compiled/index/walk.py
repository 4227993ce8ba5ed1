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

from ontosub.matching.compiled.events.graph import TERM, Graph
from ontosub.matching.compiled.index.asking import (
    NO,
    OPEN,
    YES,
    decide_extras,
    decide_pairs,
    fill_point,
    find_bucket,
    hits_inside,
)
from ontosub.matching.compiled.index.kernels import inlined, uncounted
from ontosub.matching.compiled.index.layout import (
    ALWAYS_ENTRY,
    ATOM_REGISTER,
    BUCKET_FROM,
    CHILD_FROM,
    CHILD_TO,
    CLASS,
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
    FLAGS,
    GIVEN_UP,
    GONE_BELOW,
    GROUP_FROM,
    GROUP_TO,
    HAS_CLASSES,
    HOW,
    IS_CONSTANT,
    KIND_MASK,
    LIVE,
    NONE,
    ONCE_ENTRY,
    OPEN_ENTRY,
    PARENT,
    PATTERN,
    PLAIN_FROM,
    PLAIN_TO,
    PROPERTY,
    PROPERTY_REGISTERS,
    RUN_SHIFT,
    SOURCE_MASK,
    TARGET_SHIFT,
    TOTAL,
    VISITS,
    Scratch,
    Segment,
)
from ontosub.matching.compiled.index.moves import NO_CANDIDATE, candidates, has_classes, is_member, vertex_of
from ontosub.matching.compiled.index.plan import ANY, BACKWARD, CHECK

Array = NDArray[Any]

FRAME_COLUMNS = 9
"""What a frame remembers: the next child and where they end, the head of the run, the next candidate and where they
end, the next node of the run, the vertex, whether images must differ, and how many registers were bound before."""

ROW_HEAD = 3
"""A row begins with its entry, whether it is open, and how many vertices it has; all registers follow."""

VERTICES = 2
"""Where in a row it says how many vertices it has."""

DONE, FULL = 0, 1


@uncounted
def walk(
    segment: Segment, graph: Graph, scratch: Scratch, epoch: int, every: bool, budget: int, excludes: bool
) -> tuple[int, int, int, int, int, int]:
    """Match an event graph against a segment.

    Without `every`, a pattern is found once: its number goes to `scratch.found`. With it, each of its mappings is a row
    in `scratch.rows`, unless its entry says that once is enough; so is, without it, a mapping whose entry says that it
    is always needed, and in both cases one that Python must look at. When it `excludes` some, patterns that
    `scratch.seen` has under this epoch, or as GONE, are not looked for.
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
                if how & HAS_CLASSES and not has_classes(details, detail, classes, bits, vertex):
                    continue
                if how & IS_CONSTANT:
                    # Where nothing follows, the search for the entries will tell.
                    is_last = nodes[here, CHILD_FROM] == nodes[here, CHILD_TO]
                    term = vertices[vertex, TERM]
                    if term < 0 or not (is_last or is_member(members, here, term)):
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
                        sure = decide_pairs(groups, group, pairs, vertices, values, binding)
                        if sure == NO:
                            continue
                        dimensions = groups[group, DIMENSION_TO] - groups[group, DIMENSION_FROM]
                        if dimensions > 0:
                            known = fill_point(groups, group, wanted, vertices, values, binding, point)
                            if known == NO:
                                continue
                            sure = OPEN if known == OPEN else sure
                        register = groups[group, ATOM_REGISTER]
                        if register == NONE:
                            bucket = groups[group, BUCKET_FROM]
                            if details[detail, CONSTANT_FROM] < details[detail, CONSTANT_TO]:
                                bucket = find_bucket(
                                    details, detail, group, NONE, slots, buckets, keys, constant_registers, vertices,
                                    binding,
                                )  # fmt: skip
                                if bucket == NONE:
                                    continue
                            first, last = buckets[bucket, ENTRY_FROM], buckets[bucket, ENTRY_TO]
                            if dimensions > 0:
                                last = hits_inside(buckets, bucket, boxes, bounds, dimensions, point, ranges, hits, 0)
                                first, listed = 0, True
                        else:
                            listed = True
                            for position in range(atoms_from[binding[register]], atoms_from[binding[register] + 1]):
                                bucket = find_bucket(
                                    details, detail, group, atoms[position], slots, buckets, keys, constant_registers,
                                    vertices, binding,
                                )  # fmt: skip
                                if bucket != NONE:
                                    last = hits_inside(
                                        buckets, bucket, boxes, bounds, dimensions, point, ranges, hits, last
                                    )
                    for hit in range(first, last):
                        entry = hits[hit] if listed else hit
                        pattern, flags = entries[entry, PATTERN], entries[entry, FLAGS]
                        once = flags & ONCE_ENTRY or not (every or flags & ALWAYS_ENTRY)
                        if (once or excludes) and seen[pattern] >= epoch:
                            continue
                        answer = YES
                        if entries[entry, EXTRA_FROM] < entries[entry, EXTRA_TO]:
                            answer = decide_extras(
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
            vertex = vertex_of(nodes, head, here, vertices, out, into, binding, property_binding)
            if vertex != NO_CANDIDATE and not (injective and vertex != NONE and used[vertex]):
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
            candidate, end = candidates(
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
