"""Entries as columns: what a segment is built from, and what it can be taken apart into again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ontosub.matching.compiled.index.layout import (
    ATOM_REGISTER,
    DETAIL,
    DIMENSION_FROM,
    DIMENSION_TO,
    ENTRY_FROM,
    ENTRY_TO,
    EXTRA_FROM,
    FLAGS,
    GROUP,
    GROUP_FROM,
    GROUP_TO,
    KEY_FROM,
    NONE,
    PAIR_FROM,
    PAIR_TO,
    PATTERN,
    PLAIN_FROM,
    PLAIN_TO,
    REGISTER_FROM,
    Segment,
)
from ontosub.matching.compiled.index.ragged import Array, spread, starts_of, taken


class Entries(NamedTuple):
    """Ways in which patterns match, one per row. Lists of varying length are `x_from[i]:x_from[i + 1]` into `x`.

    `leaf` is the node that an entry's steps lead to. `atom` must hold of `atom_register` (both -1 if none does).
    `boxes` has, for each dimension, the least and the greatest value. `constants` are terms in the order of the
    registers that must hold them. `registers` tells where vertices and property variables are found.
    """

    leaf: Array
    pattern: Array
    flags: Array
    atom_register: Array
    atom: Array
    dimension_from: Array
    dimensions: Array
    boxes: Array
    pair_from: Array
    pairs: Array
    constant_from: Array
    constants: Array
    extra_from: Array
    extras: Array
    extra_values: Array
    register_from: Array
    registers: Array


def entries_of(segment: Segment) -> Entries:
    """Return the entries that a segment is made of."""
    buckets, groups, rows = segment.buckets, segment.groups, segment.entries
    bucket_of = np.repeat(np.arange(len(buckets)), buckets[:, ENTRY_TO] - buckets[:, ENTRY_FROM])
    group_of = buckets[bucket_of, GROUP]
    nodes, details = segment.nodes, segment.details
    leaves = np.flatnonzero(nodes[:, DETAIL] != NONE)
    details = details[nodes[leaves, DETAIL]]
    first = details[:, GROUP_FROM] - (details[:, PLAIN_FROM] < details[:, PLAIN_TO])
    leaf_of_group = np.repeat(leaves, details[:, GROUP_TO] - first).astype(np.int32)
    key_to = np.append(buckets[1:, KEY_FROM], len(segment.bucket_keys))
    keys = buckets[bucket_of, KEY_FROM]
    constants = key_to[bucket_of] - keys - 1
    dimensions = groups[group_of, DIMENSION_TO] - groups[group_of, DIMENSION_FROM]
    pairs = groups[group_of, PAIR_TO] - groups[group_of, PAIR_FROM]
    return Entries(
        leaf=leaf_of_group[group_of],
        pattern=rows[:, PATTERN],
        flags=rows[:, FLAGS],
        atom_register=groups[group_of, ATOM_REGISTER],
        atom=segment.bucket_keys[keys],
        dimension_from=starts_of(dimensions),
        dimensions=segment.dimensions[spread(groups[group_of, DIMENSION_FROM], dimensions)],
        boxes=np.asarray(segment.boxes),
        pair_from=starts_of(pairs),
        pairs=segment.pairs[spread(groups[group_of, PAIR_FROM], pairs)],
        constant_from=starts_of(constants),
        constants=segment.bucket_keys[spread(keys + 1, constants)],
        extra_from=np.append(rows[:, EXTRA_FROM], len(segment.extras)).astype(np.int64),
        extras=np.asarray(segment.extras),
        extra_values=np.asarray(segment.extra_values),
        register_from=np.append(rows[:, REGISTER_FROM], len(segment.registers)).astype(np.int64),
        registers=np.asarray(segment.registers),
    )


def chosen(entries: Entries, which: Array) -> Entries:
    """Return some of the entries."""
    dimensions, dimension_from = taken(entries.dimension_from, entries.dimensions, which)
    pairs, pair_from = taken(entries.pair_from, entries.pairs, which)
    constants, constant_from = taken(entries.constant_from, entries.constants, which)
    extras, extra_from = taken(entries.extra_from, entries.extras, which)
    registers, register_from = taken(entries.register_from, entries.registers, which)
    return Entries(
        leaf=entries.leaf[which],
        pattern=entries.pattern[which],
        flags=entries.flags[which],
        atom_register=entries.atom_register[which],
        atom=entries.atom[which],
        dimension_from=dimension_from,
        dimensions=dimensions,
        boxes=taken(entries.dimension_from, entries.boxes, which)[0],
        pair_from=pair_from,
        pairs=pairs,
        constant_from=constant_from,
        constants=constants,
        extra_from=extra_from,
        extras=extras,
        extra_values=taken(entries.extra_from, entries.extra_values, which)[0],
        register_from=register_from,
        registers=registers,
    )


def joined(parts: Iterable[Entries]) -> Entries:
    """Return the entries of all parts, one after the other."""
    columns = {}
    parts = list(parts)
    for name in Entries._fields:
        arrays = [getattr(part, name) for part in parts]
        if name.endswith("_from"):
            ends = np.cumsum([0, *(array[-1] for array in arrays)])
            arrays = [array[:-1] + end for array, end in zip(arrays, ends, strict=False)] + [ends[-1:]]
        columns[name] = np.concatenate(arrays)
    return Entries(**columns)
