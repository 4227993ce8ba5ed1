"""Building a segment: entries that end at nodes of a trie into groups, buckets and boxes."""

from __future__ import annotations

import numpy as np
from numba import njit

from ontosub.matching.compiled.index.entries import Entries, entries_of, joined
from ontosub.matching.compiled.index.kernels import mixed
from ontosub.matching.compiled.index.layout import (
    ATOM_REGISTER,
    BLOCK,
    BOUND_FROM,
    BOX_FROM,
    BUCKET_COLUMNS,
    BUCKET_FROM,
    BUCKET_TO,
    CLASS_FROM,
    CLASS_TO,
    CONSTANT_FROM,
    CONSTANT_TO,
    DETAIL,
    DETAIL_COLUMNS,
    DIMENSION_FROM,
    DIMENSION_TO,
    ENTRIES,
    ENTRY_COLUMNS,
    ENTRY_FROM,
    ENTRY_TO,
    EXTRA_FROM,
    EXTRA_TO,
    FLAGS,
    GROUP,
    GROUP_COLUMNS,
    GROUP_FROM,
    GROUP_TO,
    HAS_CLASSES,
    HOW,
    IS_CONSTANT,
    KEY_FROM,
    NONE,
    PAIR_FROM,
    PAIR_TO,
    PARENT,
    PATTERN,
    PLAIN_FROM,
    PLAIN_TO,
    PROPERTY_REGISTERS,
    REGISTER_FROM,
    Segment,
)
from ontosub.matching.compiled.index.ragged import Array, starts_of, taken
from ontosub.matching.compiled.index.steps import LaidOut


def assemble(trie: LaidOut, set_from: Array, set_bits: Array, entries: Entries) -> Segment:
    """Return the segment of entries whose leaves are in a trie, which was laid out by these sets of classes."""
    group_of, group_first = _groups(entries)
    bucket_of, bucket_first = _buckets(entries, group_of)
    # Groups of one node are neighbours, first the plain one; and so are buckets of one group, entries of one bucket.
    asks = sum(
        np.diff(starts)[group_first] for starts in (entries.dimension_from, entries.pair_from, entries.constant_from)
    )
    is_plain = (asks == 0) & (entries.atom_register[group_first] == NONE)
    by_leaf = np.lexsort((~is_plain, entries.leaf[group_first]))
    group_rank = _ranks(by_leaf)
    by_group = np.argsort(group_rank[group_of[bucket_first]], kind="stable")
    bucket_rank = _ranks(by_group)
    order = np.argsort(bucket_rank[bucket_of], kind="stable")
    group_first, bucket_first = group_first[by_leaf], bucket_first[by_group]
    bucket_group = group_rank[group_of[bucket_first]].astype(np.int32)
    counts = np.bincount(bucket_of, minlength=len(by_group))[by_group]
    dimensions = np.diff(entries.dimension_from)[bucket_first]

    buckets = np.zeros((len(by_group), BUCKET_COLUMNS), np.int32)
    buckets[:, GROUP] = bucket_group
    buckets[:, ENTRY_TO] = np.cumsum(counts)
    buckets[:, ENTRY_FROM] = buckets[:, ENTRY_TO] - counts
    keys, key_from = taken(entries.constant_from, entries.constants, bucket_first)
    buckets[:, KEY_FROM] = key_from[:-1] + np.arange(len(by_group))  # before the constants is the atom
    buckets[:, BOX_FROM] = starts_of(counts * dimensions)[:-1]
    searched = (counts > BLOCK) & (dimensions > 0)
    bound_counts = _blocks(counts) * dimensions * searched
    buckets[:, BOUND_FROM] = np.where(searched, starts_of(bound_counts)[:-1], NONE)
    bucket_keys = np.insert(keys, key_from[:-1], entries.atom[bucket_first]).astype(np.int32)
    bounds = np.zeros((int(bound_counts.sum()), 2), np.float64)
    _arrange(order, buckets, dimensions, entries.dimension_from, entries.boxes, bounds)

    groups = np.zeros((len(by_leaf), GROUP_COLUMNS), np.int32)
    groups[:, ATOM_REGISTER] = entries.atom_register[group_first]
    group_dimensions, dimension_from = taken(entries.dimension_from, entries.dimensions, group_first)
    groups[:, DIMENSION_FROM], groups[:, DIMENSION_TO] = dimension_from[:-1], dimension_from[1:]
    group_pairs, pair_from = taken(entries.pair_from, entries.pairs, group_first)
    groups[:, PAIR_FROM], groups[:, PAIR_TO] = pair_from[:-1], pair_from[1:]
    groups[:, BUCKET_TO] = np.cumsum(np.bincount(bucket_group, minlength=len(by_leaf)))
    groups[:, BUCKET_FROM] = np.concatenate([[0], groups[:-1, BUCKET_TO]])

    rows = np.zeros((len(order), ENTRY_COLUMNS), np.int32)
    rows[:, PATTERN], rows[:, FLAGS] = entries.pattern[order], entries.flags[order]
    extras, extra_from = taken(entries.extra_from, entries.extras, order)
    rows[:, EXTRA_FROM], rows[:, EXTRA_TO] = extra_from[:-1], extra_from[1:]
    registers, register_from = taken(entries.register_from, entries.registers, order)
    rows[:, REGISTER_FROM] = register_from[:-1]
    details, classes, constant_registers = _detail(
        trie, set_from, set_bits, entries, group_first, is_plain[by_leaf], groups, buckets
    )
    return Segment(
        nodes=trie.nodes,
        details=details,
        classes=classes,
        constant_registers=constant_registers,
        groups=groups,
        dimensions=group_dimensions,
        pairs=group_pairs,
        bucket_slots=_slots(buckets, bucket_keys),
        buckets=buckets,
        bucket_keys=bucket_keys,
        boxes=taken(entries.dimension_from, entries.boxes, order)[0],
        bounds=bounds,
        entries=rows,
        extras=extras,
        extra_values=taken(entries.extra_from, entries.extra_values, order)[0],
        member_slots=_members(trie, entries, order, buckets),
        registers=registers,
    )


def rehashed(segment: Segment) -> Segment:
    """Return a segment whose keys were replaced, with the tables in which they are found."""
    # Kernels are compiled for the type: arrays of a segment cannot be written, those that one is built from can.
    trie, buckets = LaidOut(segment.nodes, *[_NOTHING] * 3), segment.buckets.copy()
    entries = joined([entries_of(segment)])
    return segment._replace(
        bucket_slots=_slots(buckets, segment.bucket_keys),
        member_slots=_members(trie, entries, np.arange(len(entries.leaf)), buckets),
    )


_NOTHING = np.empty(0, np.int32)


def _ranks(order: Array) -> Array:
    """Return where each number stands in an order."""
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


@njit(cache=True, nogil=True)
def _same_rows(starts: Array, rows: Array, one: int, other: int) -> bool:
    length = starts[one + 1] - starts[one]
    if starts[other + 1] - starts[other] != length:
        return False
    for position in range(length):
        for column in range(rows.shape[1]):
            if rows[starts[one] + position, column] != rows[starts[other] + position, column]:
                return False
    return True


@njit(cache=True, nogil=True)
def _hash_rows(hashed: int, starts: Array, rows: Array, one: int) -> int:
    for position in range(starts[one], starts[one + 1]):
        for column in range(rows.shape[1]):
            hashed = mixed(hashed, rows[position, column])
    return mixed(hashed, starts[one + 1] - starts[one])


@njit(cache=True, nogil=True)
def _table(count: int) -> Array:
    size = 16
    while size < 2 * count:
        size *= 2
    return np.full(size, NONE, np.int32)


@njit(cache=True, nogil=True)
def _groups(entries: Entries) -> tuple[Array, Array]:
    """Return the group of each entry and the first entry of each group."""
    count = entries.leaf.shape[0]
    slots = _table(count)
    mask = slots.shape[0] - 1
    group_of, first = np.empty(count, np.int32), np.empty(count, np.int32)
    groups = 0
    for entry in range(count):
        hashed = mixed(mixed(np.uint64(0), entries.leaf[entry]), entries.atom_register[entry])
        hashed = _hash_rows(hashed, entries.dimension_from, entries.dimensions, entry)
        hashed = _hash_rows(hashed, entries.pair_from, entries.pairs, entry)
        slot = np.int64(hashed & np.uint64(mask))
        while slots[slot] != NONE:
            other = first[slots[slot]]
            if (
                entries.leaf[other] == entries.leaf[entry]
                and entries.atom_register[other] == entries.atom_register[entry]
                and _same_rows(entries.dimension_from, entries.dimensions, entry, other)
                and _same_rows(entries.pair_from, entries.pairs, entry, other)
            ):
                break
            slot = (slot + 1) & mask
        if slots[slot] == NONE:
            slots[slot], first[groups] = groups, entry
            groups += 1
        group_of[entry] = slots[slot]
    return group_of, first[:groups].copy()


@njit(cache=True, nogil=True)
def _buckets(entries: Entries, group_of: Array) -> tuple[Array, Array]:
    """Return the bucket of each entry and the first entry of each bucket."""
    count = group_of.shape[0]
    slots = _table(count)
    mask = slots.shape[0] - 1
    bucket_of, first = np.empty(count, np.int32), np.empty(count, np.int32)
    constants = entries.constants.reshape(-1, 1)
    buckets = 0
    for entry in range(count):
        hashed = mixed(mixed(np.uint64(0), group_of[entry]), entries.atom[entry])
        hashed = _hash_rows(hashed, entries.constant_from, constants, entry)
        slot = np.int64(hashed & np.uint64(mask))
        while slots[slot] != NONE:
            other = first[slots[slot]]
            if (
                group_of[other] == group_of[entry]
                and entries.atom[other] == entries.atom[entry]
                and _same_rows(entries.constant_from, constants, entry, other)
            ):
                break
            slot = (slot + 1) & mask
        if slots[slot] == NONE:
            slots[slot], first[buckets] = buckets, entry
            buckets += 1
        bucket_of[entry] = slots[slot]
    return bucket_of, first[:buckets].copy()


def _blocks(counts: Array) -> Array:
    """Return how many blocks, and blocks of blocks and so on, that many entries make."""
    total, left = np.zeros(len(counts), np.int64), counts.astype(np.int64)
    while (left > 1).any():
        left = np.where(left > 1, -(-left // BLOCK), 0)
        total += left
    return total


@njit(cache=True, nogil=True)
def _arrange(order: Array, buckets: Array, dimensions: Array, starts: Array, boxes: Array, bounds: Array) -> None:
    """Put the entries of each large bucket into an order in which neighbours have like boxes, and bound their blocks.

    Bounds enclose the boxes of a block of entries; those of a block of blocks follow, and so on to a single one.
    """
    stack = np.empty((256, 3), np.int64)
    for bucket in range(buckets.shape[0]):
        if buckets[bucket, BOUND_FROM] == NONE:
            continue
        count, first_entry, last_entry = dimensions[bucket], buckets[bucket, ENTRY_FROM], buckets[bucket, ENTRY_TO]
        stack[0, 0], stack[0, 1], stack[0, 2], height = first_entry, last_entry, 0, 1
        while height > 0:
            height -= 1
            first, last, turn = stack[height, 0], stack[height, 1], stack[height, 2]
            if last - first <= BLOCK:
                continue
            # Take turns among the coordinates that tell the boxes apart.
            for _ in range(2 * count):
                coordinate = turn % (2 * count)
                turn += 1
                values = np.empty(last - first, np.float64)
                for position in range(first, last):
                    values[position - first] = boxes[starts[order[position]] + coordinate // 2, coordinate % 2]
                if values.min() < values.max():
                    order[first:last] = order[first:last][np.argsort(values, kind="mergesort")]
                    break
            # Halves end where blocks do.
            unit = BLOCK
            while unit * BLOCK < last - first:
                unit *= BLOCK
            middle = first + max(1, (last - first) // (2 * unit)) * unit
            stack[height, 0], stack[height, 1], stack[height, 2] = first, middle, turn
            stack[height + 1, 0], stack[height + 1, 1], stack[height + 1, 2] = middle, last, turn
            height += 2
        below, at = -1, buckets[bucket, BOUND_FROM]
        size = last_entry - first_entry
        while size > 1:
            blocks = (size + BLOCK - 1) // BLOCK
            for block in range(blocks):
                for dimension in range(count):
                    low, high = np.inf, -np.inf
                    for member in range(block * BLOCK, min(size, (block + 1) * BLOCK)):
                        if below < 0:
                            box = boxes[starts[order[first_entry + member]] + dimension]
                        else:
                            box = bounds[below + member * count + dimension]
                        low, high = min(low, box[0]), max(high, box[1])
                    bounds[at + block * count + dimension, 0] = low
                    bounds[at + block * count + dimension, 1] = high
            below, at, size = at, at + blocks * count, blocks


@njit(cache=True, nogil=True)
def _detail(
    trie: LaidOut,
    set_from: Array,
    set_bits: Array,
    entries: Entries,
    group_first: Array,
    is_plain: Array,
    groups: Array,
    buckets: Array,
) -> tuple[Array, Array, Array]:
    """Give the nodes that need them details; return these, the classes and the registers that they refer to."""
    nodes = trie.nodes
    for group in range(group_first.shape[0]):
        nodes[entries.leaf[group_first[group]], DETAIL] = 0
    count, class_count = 0, 0
    for node in range(nodes.shape[0]):
        if nodes[node, DETAIL] == 0 or nodes[node, HOW] & HAS_CLASSES:
            nodes[node, DETAIL] = count
            count += 1
            if trie.sets[node] >= 0:
                class_count += set_from[trie.sets[node] + 1] - set_from[trie.sets[node]] - 1
    details = np.zeros((count, DETAIL_COLUMNS), np.int32)
    classes = np.empty(class_count, np.int32)
    registers = np.empty(max(1, entries.constants.shape[0]), np.int32)
    class_count, register_count, group = 0, 0, 0
    for node in range(nodes.shape[0]):
        if nodes[node, DETAIL] == NONE:
            continue
        row = details[nodes[node, DETAIL]]
        row[CLASS_FROM] = class_count
        if trie.sets[node] >= 0:
            for position in range(set_from[trie.sets[node]] + 1, set_from[trie.sets[node] + 1]):
                classes[class_count] = set_bits[position]
                class_count += 1
        row[CLASS_TO] = class_count
        row[PROPERTY_REGISTERS] = trie.property_registers[node]
        row[GROUP_FROM] = row[GROUP_TO] = group
        if group == group_first.shape[0] or entries.leaf[group_first[group]] != node:
            continue
        first = group_first[group]
        row[CONSTANT_FROM] = register_count
        register_count += entries.constant_from[first + 1] - entries.constant_from[first]
        row[CONSTANT_TO] = register_count
        at, above = register_count, node
        while above > 0:
            if nodes[above, HOW] & IS_CONSTANT:
                at -= 1
                registers[at] = trie.registers[above] - 1
            above = nodes[above, PARENT]
        while group < group_first.shape[0] and entries.leaf[group_first[group]] == node:
            first_bucket, last_bucket = groups[group, BUCKET_FROM], groups[group, BUCKET_TO] - 1
            row[ENTRIES] += buckets[last_bucket, ENTRY_TO] - buckets[first_bucket, ENTRY_FROM]
            if is_plain[group]:
                row[PLAIN_FROM], row[PLAIN_TO] = buckets[first_bucket, ENTRY_FROM], buckets[first_bucket, ENTRY_TO]
                row[GROUP_FROM] += 1
            group += 1
        row[GROUP_TO] = group
    return details, classes, registers[:register_count].copy()


@njit(cache=True, nogil=True)
def _members(trie: LaidOut, entries: Entries, order: Array, buckets: Array) -> Array:
    """Return the table of (node, constant) pairs that any entry asks for."""
    nodes = trie.nodes
    size = 16
    while size < 2 * entries.constants.shape[0]:
        size *= 2
    members = np.full(size, np.int64(NONE), np.int64)
    for bucket in range(buckets.shape[0]):
        entry = order[buckets[bucket, ENTRY_FROM]]
        at, node = entries.constant_from[entry + 1], entries.leaf[entry]
        while node > 0:
            if nodes[node, HOW] & IS_CONSTANT:
                at -= 1
                pair = (np.int64(node) << 32) | np.int64(entries.constants[at])
                slot = np.int64(mixed(np.uint64(0), pair) & np.uint64(size - 1))
                while members[slot] != NONE and members[slot] != pair:
                    slot = (slot + 1) & (size - 1)
                members[slot] = pair
            node = nodes[node, PARENT]
    return members


@njit(cache=True, nogil=True)
def _slots(buckets: Array, keys: Array) -> Array:
    slots = _table(buckets.shape[0])
    mask = slots.shape[0] - 1
    for bucket in range(buckets.shape[0]):
        end = buckets[bucket + 1, KEY_FROM] if bucket + 1 < buckets.shape[0] else keys.shape[0]
        hashed = mixed(np.uint64(0), buckets[bucket, GROUP])
        for position in range(buckets[bucket, KEY_FROM], end):
            hashed = mixed(hashed, keys[position])
        slot = np.int64(hashed & np.uint64(mask))
        while slots[slot] != NONE:
            slot = (slot + 1) & mask
        slots[slot] = bucket
    return slots
