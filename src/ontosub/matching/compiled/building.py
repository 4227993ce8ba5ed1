"""Building a segment: step sequences into a trie, entries into groups and buckets, everything into arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.layout import (
    ALL_FROM,
    ALL_TO,
    BUCKET_COLUMNS,
    BUCKET_CONSTANTS,
    CLASS,
    CLASS_FROM,
    CLASS_TO,
    CONSTANT_FROM,
    CONSTANT_TO,
    ENTRY_COLUMNS,
    ENTRY_FROM,
    ENTRY_TO,
    EXTRA_COLUMNS,
    EXTRA_FROM,
    EXTRA_TO,
    FIRST,
    GROUP,
    GROUP_COLUMNS,
    GROUP_FROM,
    GROUP_TO,
    IS_CONSTANT,
    IS_OPEN,
    NEXT,
    NODE_COLUMNS,
    NONE,
    PARENT,
    PATTERN,
    PROPERTY_REGISTERS,
    REGISTERS,
    UNDER,
    Segment,
)
from ontosub.matching.compiled.plan import CHECK, CHECK_ANY, Arrival, Move, Sequence
from ontosub.matching.compiled.walk import mixed

Array = NDArray[Any]


class Limit(NamedTuple):
    """A threshold on a register."""

    register: int
    comparison: int
    value_kind: int
    value: float


class Entry(NamedTuple):
    """One way in which a pattern can match: where its steps lead, by which constants and within which limits.

    `constants` are dictionary numbers, in the order in which the steps bind them. An open entry is a candidate only:
    something about it is decided elsewhere.
    """

    pattern: int
    sequence: Sequence
    constants: tuple[int, ...]
    limits: tuple[Limit, ...]
    is_open: bool


class _Node(NamedTuple):
    parent: int
    move: Move | None
    arrival: Arrival | None
    registers: int
    property_registers: int
    constants: tuple[int, ...]
    constant_nodes: tuple[int, ...]


class Builder:
    """Collects entries and makes one segment of them."""

    def __init__(self) -> None:
        self._nodes = [_Node(NONE, None, Arrival(), 0, 0, (), ())]
        self._children: dict[tuple[int, Move | Arrival], int] = {}
        self._leaf: dict[Sequence, int] = {}
        self._groups: dict[tuple[int, int, int, int], int] = {}
        self._buckets: dict[tuple[int, tuple[int, ...]], int] = {}
        self._entry_bucket: list[int] = []
        self._entry_pattern: list[int] = []
        self._entry_threshold: list[float] = []
        self._entry_open: list[bool] = []
        self._entry_extras: list[tuple[Limit, ...]] = []

    def __len__(self) -> int:
        return len(self._entry_pattern)

    def add(self, entry: Entry) -> None:
        """Take in an entry."""
        leaf = self._leaf.get(entry.sequence)
        if leaf is None:
            leaf = self._leaf[entry.sequence] = self._path(entry.sequence)
        limit, extras = (entry.limits[0], entry.limits[1:]) if entry.limits else (_NO_LIMIT, ())
        group_key = (leaf, limit.comparison, limit.register, limit.value_kind)
        group = self._groups.setdefault(group_key, len(self._groups))
        bucket = self._buckets.setdefault((group, entry.constants), len(self._buckets))
        self._entry_bucket.append(bucket)
        self._entry_pattern.append(entry.pattern)
        self._entry_threshold.append(limit.value)
        self._entry_open.append(entry.is_open)
        self._entry_extras.append(extras)

    def _path(self, sequence: Sequence) -> int:
        node = 0
        for move, arrival in sequence.steps:
            node = self._child(self._child(node, move), arrival)
        return node

    def _child(self, parent: int, step: Move | Arrival) -> int:
        key = (parent, step)
        node = self._children.get(key)
        if node is None:
            node = self._children[key] = len(self._nodes)
            self._nodes.append(self._new(parent, step, node))
        return node

    def _new(self, parent: int, step: Move | Arrival, node: int) -> _Node:
        above = self._nodes[parent]
        if isinstance(step, Move):
            properties = above.property_registers
            if step.kind >= CHECK_ANY and step.property >= 0:
                properties = step.property + 1
            return _Node(parent, step, None, above.registers, properties, above.constants, above.constant_nodes)
        assert above.move is not None  # noqa: S101 - arrivals follow moves
        binds = above.move.kind not in (CHECK, CHECK_ANY)
        constants, nodes = above.constants, above.constant_nodes
        if step.constant:
            constants, nodes = (*constants, above.registers), (*nodes, node)
        return _Node(parent, None, step, above.registers + binds, above.property_registers, constants, nodes)

    def build(self) -> Segment:
        """Return the segment of all entries taken in."""
        self._renumber()
        nodes, classes, constant_registers = self._tree()
        return Segment(nodes, classes, constant_registers, **self._leaves(nodes))

    def _renumber(self) -> None:
        """Number the nodes breadth first: siblings, which a walk looks at one after the other, become neighbours."""
        children: list[list[int]] = [[] for _ in self._nodes]
        for number in range(1, len(self._nodes)):
            children[self._nodes[number].parent].append(number)
        order = [0]
        for number in order:
            order.extend(children[number])
        new = [0] * len(order)
        for position, number in enumerate(order):
            new[number] = position
        self._nodes = [
            node._replace(
                parent=new[node.parent] if node.parent != NONE else NONE,
                constant_nodes=tuple(new[each] for each in node.constant_nodes),
            )
            for node in (self._nodes[number] for number in order)
        ]
        self._groups = {(new[leaf], *how): group for (leaf, *how), group in self._groups.items()}  # type: ignore[misc]

    def _tree(self) -> tuple[Array, Array, Array]:
        """Return the nodes, all but their groups, with the classes and constant registers that they refer to."""
        table = np.full((len(self._nodes), NODE_COLUMNS), NONE, np.int32)
        classes: list[int] = []
        registers: list[int] = []
        for number, node in enumerate(self._nodes):
            if node.move is not None:
                table[number, :4] = node.move
                continue
            arrival = node.arrival or Arrival()
            first, *others = arrival.classes or (NONE,)
            table[number, CLASS] = first
            table[number, CLASS_FROM : CLASS_TO + 1] = len(classes), len(classes) + len(others)
            table[number, IS_CONSTANT] = arrival.constant
            table[number, REGISTERS : PROPERTY_REGISTERS + 1] = node.registers, node.property_registers
            table[number, CONSTANT_FROM : CONSTANT_TO + 1] = len(registers), len(registers) + len(node.constants)
            table[number, GROUP_FROM : GROUP_TO + 1] = 0
            classes += others
            registers += node.constants
        for number in range(len(self._nodes) - 1, 0, -1):
            parent = self._nodes[number].parent
            table[number, PARENT] = parent
            table[number, NEXT] = table[parent, FIRST]
            table[parent, FIRST] = number
        table[:, UNDER] = self._under()
        return table, np.array(classes, np.int32), np.array(registers, np.int32)

    def _under(self) -> Array:
        """Count the entries and the children of each node."""
        under = np.bincount([node.parent for node in self._nodes[1:]], minlength=len(self._nodes))
        leaf_of_group = np.zeros(len(self._groups), np.int64)
        for (leaf, *_), group in self._groups.items():
            leaf_of_group[group] = leaf
        group_of_bucket = np.array([group for group, _ in self._buckets], np.int64)
        np.add.at(under, leaf_of_group[group_of_bucket[self._entry_bucket]], 1)
        return under

    def _leaves(self, nodes: Array) -> dict[str, Array]:
        """Return groups, buckets and entries; note in the nodes which groups are theirs."""
        # Groups of one arrival must be neighbours: number them anew in the order of their arrivals.
        order = sorted(self._groups.items())
        new_number = np.zeros(len(order), np.int32)
        groups = np.zeros((len(order), GROUP_COLUMNS), np.int32)
        for position, ((leaf, *how), number) in enumerate(order):
            new_number[number] = position
            groups[position, :3] = how
            if nodes[leaf, GROUP_TO] == 0:
                nodes[leaf, GROUP_FROM] = position
            nodes[leaf, GROUP_TO] = position + 1
        bucket_of = np.array(self._entry_bucket, np.int64)
        counts = np.bincount(bucket_of, minlength=len(self._buckets))
        lengths = np.array([len(constants) for _, constants in self._buckets], np.int32)
        buckets = np.zeros((len(self._buckets), BUCKET_COLUMNS), np.int32)
        buckets[:, GROUP] = new_number[[group for group, _ in self._buckets]]
        buckets[:, ENTRY_TO] = np.cumsum(counts)
        buckets[:, ENTRY_FROM] = buckets[:, ENTRY_TO] - counts
        buckets[:, BUCKET_CONSTANTS] = np.cumsum(lengths) - lengths
        constants = np.array([number for _, constants in self._buckets for number in constants], np.int32)
        alone = buckets[lengths == 0]
        groups[alone[:, GROUP], ALL_FROM : ALL_TO + 1] = alone[:, ENTRY_FROM : ENTRY_TO + 1]
        thresholds = np.array(self._entry_threshold, np.float64)
        sorting = np.lexsort((thresholds, bucket_of))
        extras = [limit for entry in sorting for limit in self._entry_extras[entry]]
        extra_counts = np.array([len(self._entry_extras[entry]) for entry in sorting], np.int32)
        entries = np.zeros((len(sorting), ENTRY_COLUMNS), np.int32)
        entries[:, PATTERN] = np.array(self._entry_pattern, np.int32)[sorting]
        entries[:, IS_OPEN] = np.array(self._entry_open, np.bool_)[sorting]
        entries[:, EXTRA_TO] = np.cumsum(extra_counts)
        entries[:, EXTRA_FROM] = entries[:, EXTRA_TO] - extra_counts
        searches = [(limit.comparison, limit.register, limit.value_kind) for limit in extras]
        return {
            "groups": groups,
            "bucket_slots": _bucket_slots(buckets, constants, lengths),
            "buckets": buckets,
            "bucket_constants": constants,
            "entries": entries,
            "thresholds": thresholds[sorting],
            "extras": np.array(searches, np.int32).reshape(len(extras), EXTRA_COLUMNS),
            "extra_values": np.array([limit.value for limit in extras], np.float64),
            "member_slots": self._members(),
        }

    def _members(self) -> Array:
        """Return the table of (arrival, constant) pairs that any entry asks for."""
        leaf_of_group = {group: leaf for (leaf, *_), group in self._groups.items()}
        pairs = {
            (node << 32) | constant
            for group, constants in self._buckets
            for node, constant in zip(self._nodes[leaf_of_group[group]].constant_nodes, constants, strict=True)
        }
        return _member_slots(np.array(sorted(pairs), np.int64))


_NO_LIMIT = Limit(NONE, NONE, NONE, 0.0)


@njit(cache=True)
def _bucket_slots(buckets: Array, constants: Array, lengths: Array) -> Array:
    size = 16
    while size < 2 * buckets.shape[0]:
        size *= 2
    slots = np.full(size, NONE, np.int32)
    for bucket in range(buckets.shape[0]):
        hashed = mixed(np.uint64(0), buckets[bucket, GROUP])
        first = buckets[bucket, BUCKET_CONSTANTS]
        for position in range(first, first + lengths[bucket]):
            hashed = mixed(hashed, constants[position])
        slot = np.int64(hashed & np.uint64(size - 1))
        while slots[slot] != NONE:
            slot = (slot + 1) & (size - 1)
        slots[slot] = bucket
    return slots


@njit(cache=True)
def _member_slots(pairs: Array) -> Array:
    size = 16
    while size < 2 * pairs.shape[0]:
        size *= 2
    slots = np.full(size, np.int64(NONE), np.int64)
    for pair in pairs:
        slot = np.int64(mixed(np.uint64(0), pair) & np.uint64(size - 1))
        while slots[slot] != NONE:
            slot = (slot + 1) & (size - 1)
        slots[slot] = pair
    return slots
