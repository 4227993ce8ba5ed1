"""What a subscription costs: its share of the steps made, and of the memory taken, by what it shares with others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.index.layout import (
    BUCKET_COLUMNS,
    BUCKET_FROM,
    CHILD_FROM,
    CHILD_TO,
    DETAIL,
    DETAIL_COLUMNS,
    ENTRIES,
    ENTRY_COLUMNS,
    ENTRY_FROM,
    EXTRA_COLUMNS,
    EXTRA_FROM,
    EXTRA_TO,
    GROUP_FROM,
    HOW,
    NODE_COLUMNS,
    NONE,
    PARENT,
    PLAIN_FROM,
    PLAIN_TO,
    RUN_SHIFT,
    STATE_COLUMNS,
    TOTAL,
    VISITS,
    Segment,
)

Array = NDArray[Any]

_NODE_BYTES = 4 * (NODE_COLUMNS + STATE_COLUMNS)
_ENTRY_BYTES = 4 * (ENTRY_COLUMNS + BUCKET_COLUMNS + 4)


@njit(cache=True, nogil=True)
def _shares(segment: Segment, state: Array) -> tuple[Array, Array]:
    """Return, for each node, the visits and the bytes of all nodes down to it, divided among the entries below them."""
    nodes, details = segment.nodes, segment.details
    count = nodes.shape[0]
    below = np.zeros(count, np.int64)
    for node in range(count - 1, -1, -1):
        if nodes[node, DETAIL] != NONE:
            below[node] += details[nodes[node, DETAIL], ENTRIES]
        if node > 0:
            below[nodes[node, PARENT]] += below[node]
    visits, size = np.zeros(count, np.float64), np.zeros(count, np.float64)
    # Node 0 leads to the others: parents come before their children.
    for parent in range(count):
        head = nodes[parent, CHILD_FROM]
        while head < nodes[parent, CHILD_TO]:
            last = head + (nodes[head, HOW] >> RUN_SHIFT)
            entries = 0
            for node in range(head, last):
                entries += below[node]
            made = np.float64(state[head, TOTAL]) + np.float64(state[head, VISITS])
            for node in range(head, last):
                held = _NODE_BYTES + (4 * DETAIL_COLUMNS if nodes[node, DETAIL] != NONE else 0)
                visits[node] = visits[parent] + made / max(1, entries)
                size[node] = size[parent] + held / max(1, below[node])
            head = last
    return visits, size


def shares(segment: Segment, state: Array, entries_of_pattern: Array, patterns: int) -> tuple[Array, Array]:
    """Return the visits and the bytes that fall to each pattern."""
    visits, size = _shares(segment, state)
    leaf = leaves(segment)
    lists = segment.entries[:, EXTRA_TO] - segment.entries[:, EXTRA_FROM]
    own = size[leaf] + _ENTRY_BYTES + lists * (4 * EXTRA_COLUMNS + 8)
    return (
        np.bincount(entries_of_pattern, visits[leaf], patterns),
        np.bincount(entries_of_pattern, own, patterns),
    )


def leaves(segment: Segment) -> Array:
    """Return the node at which each entry ends."""
    nodes = np.flatnonzero(segment.nodes[:, DETAIL] != NONE)
    details = segment.details[segment.nodes[nodes, DETAIL]]
    nodes, details = nodes[details[:, ENTRIES] > 0], details[details[:, ENTRIES] > 0]
    is_plain = details[:, PLAIN_FROM] < details[:, PLAIN_TO]
    groups = np.minimum(details[:, GROUP_FROM], len(segment.groups) - 1)
    first = np.where(is_plain, details[:, PLAIN_FROM], segment.buckets[segment.groups[groups, BUCKET_FROM], ENTRY_FROM])
    order = np.argsort(first, kind="stable")
    return np.repeat(nodes[order], details[order, ENTRIES])
