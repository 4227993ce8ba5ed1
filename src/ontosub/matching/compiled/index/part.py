"""A part of the index: a segment, the subscriptions in it, which of them are gone, and what has been counted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.events.graph import Graph
from ontosub.matching.compiled.files.array_files import ArrayFile
from ontosub.matching.compiled.index.costs import leaves, shares
from ontosub.matching.compiled.index.holdings import Holding
from ontosub.matching.compiled.index.layout import (
    BUCKET_FROM,
    CHILD_FROM,
    CHILD_TO,
    DETAIL,
    ENTRIES,
    ENTRY_FROM,
    EPOCH,
    EXHAUSTED,
    FLAGS,
    GONE,
    GONE_BELOW,
    GROUP_FROM,
    HOW,
    NONE,
    ONCE_ENTRY,
    PARENT,
    PATTERN,
    PLAIN_FROM,
    PLAIN_TO,
    REGISTER_FROM,
    RUN_SHIFT,
    STATE_COLUMNS,
    VISITS,
    Scratch,
    Segment,
)
from ontosub.matching.compiled.index.projections import Projections, Shown
from ontosub.matching.compiled.index.ragged import spread, starts_of
from ontosub.matching.compiled.index.registers import bound_vertices
from ontosub.matching.compiled.index.walk import FRAME_COLUMNS, FULL, ROW_HEAD, walk
from ontosub.model import GraphPattern

Array = NDArray[Any]

BY_ROWS, BY_OBJECTS, CORE_DECIDES, RESIDUAL_DECIDES = range(4)
"""How a subscription gets its answers: each mapping is one; mappings are looked at as objects first; patterns decide
whether the event matches, but a residual gives the answers; the residual does both."""

ROWS_MAX = 1 << 26
"""How many numbers the answers of one event may take together. Who has most of them goes without."""

_ROWS_AT_FIRST, _ROWS_KEPT = 1 << 12, 1 << 20
_VISITS_MAX = 2**30


class Rows(NamedTuple):
    """Mappings of one pattern: which are only candidates, and what vertices and property variables are in each."""

    pattern: int
    is_open: Array
    values: Array


class Cores(NamedTuple):
    """Mappings of the cores of queries in what a walk wrote down, its `numbers`.

    Of each row: where it starts, its entry, its subscription, and whether it is only a candidate.
    """

    numbers: Array
    place: Array
    entry: Array
    subscription: Array
    is_open: Array
    others: int = 0
    """How many rows of other subscriptions there are beside them."""

    def only(self, rows: Array) -> Cores:
        """Return some of the rows."""
        place, entry, subscription, is_open = (each[rows] for each in self[1:5])
        return Cores(self.numbers, place, entry, subscription, is_open, self.others)


_NOTHING = np.empty(0, np.int32)
NO_CORES = Cores(_NOTHING, _NOTHING, _NOTHING, _NOTHING, np.empty(0, np.bool_))


class Walked(NamedTuple):
    """What a walk found: patterns, mappings (see `Part.rows`) and how many are open, patterns that were given up."""

    patterns: Array
    numbers: Array
    opened: int
    given_up: set[int]
    visits: int


class Part:
    """A segment at work.

    Patterns and subscriptions are numbered within the part. `pattern_from` tells where the patterns of a subscription
    start, `order` when it came, among all, `kind` how it gets its answers. What is `gone` is still in the segment, but
    nothing is looked for on its account. `file` is where the part is stored, if it is.
    """

    def __init__(self, segment: Segment, holding: Holding, pattern_from: Array, order: Array, kind: Array) -> None:
        self.segment = Segment(*map(_read_only, segment))
        self.holding = holding
        self.pattern_from = pattern_from
        self.order = order
        self.kind = kind
        self.file: ArrayFile | None = None
        self.gone = np.zeros(len(order), np.bool_)
        self.gone_count = 0
        self.has_objects = bool((kind != BY_ROWS).any())
        self.has_queries = bool((kind >= CORE_DECIDES).any())
        self.subscription_of = np.repeat(np.arange(len(order), dtype=np.int32), np.diff(pattern_from))
        self.matches = np.zeros(len(order), np.int64)
        self.visits_before = np.zeros(len(order), np.float64)
        self._scratch = _scratch_for(segment, len(self.subscription_of))
        self.register_to = np.append(segment.entries[1:, REGISTER_FROM], len(segment.registers))
        self.projections = Projections(len(segment.entries), self._shown)
        self._epoch = 0
        self._visits = 0

    def _shown(self, entry: int) -> Shown:
        """Return what the answers of an entry show, each variable once."""
        row = self.segment.entries[entry]
        pattern = self.pattern(int(row[PATTERN]))
        vertices, start = bound_vertices(pattern), int(row[REGISTER_FROM])
        registers = self.segment.registers[start : start + len(vertices)].tolist()
        register = {vertex.term: each for vertex, each in zip(vertices, registers, strict=True)}
        return [(register[each], each.value) for each in dict.fromkeys(pattern.projected) if each in register]

    def __len__(self) -> int:
        return len(self.order)

    def queries(self) -> Iterator[bytes]:
        """Yield the records of the standing subscriptions that are queries beyond their core."""
        for number in np.flatnonzero((self.kind >= CORE_DECIDES) & ~self.gone).tolist():
            yield self.holding.record(number)

    def walk(self, graph: Graph, *, every: bool, budget: int) -> Walked:
        """Match an event graph; with `every`, for all mappings of those patterns whose mappings are asked for."""
        scratch = self._scratch
        if len(scratch.used) < len(graph.vertices):
            scratch = scratch._replace(used=np.zeros(2 * len(graph.vertices), np.bool_))
        greedy: set[int] = set()
        steps = 0
        while True:
            self._count_epoch()
            if greedy:
                scratch.seen[list(greedy)] = self._epoch
            state, found, length, opened, given_up, visits = walk(
                self.segment, graph, scratch, self._epoch, every, budget, self.gone_count > 0 or bool(greedy)
            )
            steps += int(visits)
            if state != FULL:
                break
            scratch.used[:] = False
            if len(scratch.rows) < ROWS_MAX:
                scratch = scratch._replace(rows=np.empty(4 * len(scratch.rows), np.int32))
            else:
                greedy |= self._greedy(scratch.rows[:length])
        self._visits += steps
        if self._visits > _VISITS_MAX:
            self._settle_visits()
        patterns, rows = scratch.found[:found].copy(), scratch.rows[:length].copy()
        exhausted = self._under(set(scratch.noted[:given_up, EXHAUSTED].tolist())) if given_up else set()
        if len(scratch.rows) > _ROWS_KEPT:
            scratch = scratch._replace(rows=np.empty(_ROWS_AT_FIRST, np.int32))
        self._scratch = scratch
        return Walked(patterns, rows, int(opened), exhausted | greedy, steps)

    def _count_epoch(self) -> None:
        self._epoch += 1
        if self._epoch == GONE:
            seen = self._scratch.seen
            self._scratch.state[:, EPOCH], seen[seen != GONE] = 0, 0
            self._epoch = 1

    def _greedy(self, numbers: Array) -> set[int]:
        """Return the patterns with the most and longest mappings, those that have half of all that was written down."""
        place, entry, _ = split(numbers, self.segment.entries, self.register_to)
        lengths = np.diff(place, append=len(numbers))
        taken = np.bincount(self.segment.entries[entry, PATTERN], lengths)
        order = np.argsort(-taken, kind="stable")
        return set(order[: np.searchsorted(np.cumsum(taken[order]), len(numbers) / 2) + 1].tolist())

    def renumbered(self, segment: Segment) -> Part:
        """Return the part, of which nothing has gone, with the same segment in other numbers."""
        part = Part(segment, self.holding, self.pattern_from, self.order, self.kind)
        part.matches, part.visits_before = self.matches, self.costs()[0]
        return part

    def open_beyond(self, walked: Walked, limit: int) -> set[int]:
        """Return the patterns, whose mappings are asked for, with more open ones than the limit."""
        if walked.opened <= limit:
            return set()
        _, entry, is_open = split(walked.numbers, self.segment.entries, self.register_to)
        counts = np.bincount(self.segment.entries[entry[is_open], PATTERN], minlength=len(self.asks_once))
        return set(np.flatnonzero((counts > limit) & ~self.asks_once).tolist())

    @cached_property
    def asks_once(self) -> Array:
        """Of which patterns nobody asks for the mappings, only whether there is one."""
        once = np.zeros(len(self.subscription_of), np.bool_)
        once[self.segment.entries[:, PATTERN]] = self.segment.entries[:, FLAGS] & ONCE_ENTRY != 0
        return once

    def _settle_visits(self) -> None:
        """Add what has been counted to what was counted before: counters are small."""
        self.visits_before = self.costs()[0]
        self._scratch.state[:, VISITS:] = 0
        self._visits = 0

    def costs(self) -> tuple[Array, Array]:
        """Return the visits that each subscription has cost so far, and the bytes that it takes."""
        patterns = len(self.subscription_of)
        visits, size = shares(self.segment, self._scratch.state, self.segment.entries[:, PATTERN], patterns)
        count = len(self)
        return (
            self.visits_before + np.bincount(self.subscription_of, visits, count),
            np.bincount(self.subscription_of, size, count),
        )

    def standing(self, patterns: Array) -> Array:
        """Return the subscriptions, each once and in order, that the patterns are of."""
        found = np.sort(self.subscription_of[patterns])
        if len(self.subscription_of) > len(self):
            found = found[np.flatnonzero(np.diff(found, prepend=-1))]
        return found

    def drop(self, numbers: Array) -> None:
        """Note that subscriptions are gone."""
        self.gone[numbers] = True
        self.gone_count += len(numbers)
        first = self.pattern_from[numbers]
        patterns = spread(first, self.pattern_from[numbers + 1] - first)
        self._scratch.seen[patterns] = GONE
        by_pattern, starts, leaf = self._leaves
        entries = by_pattern[spread(starts[patterns], starts[patterns + 1] - starts[patterns])]
        _withdraw(self.segment.nodes, self.segment.details, self._scratch.noted, leaf[entries])

    @cached_property
    def _leaves(self) -> tuple[Array, Array, Array]:
        """The entries sorted by pattern, where those of each pattern start, and the leaves of all entries."""
        pattern = self.segment.entries[:, PATTERN]
        starts = starts_of(np.bincount(pattern, minlength=len(self.subscription_of)))
        return np.argsort(pattern, kind="stable"), starts, leaves(self.segment)

    def pattern(self, number: int) -> GraphPattern:
        """Return the pattern that has a number."""
        subscription = int(self.subscription_of[number])
        return self.holding[subscription].patterns[number - int(self.pattern_from[subscription])]

    def rows(self, numbers: Array, *, objects_only: bool = False) -> Iterator[Rows]:
        """Yield the mappings that a walk wrote down, those of one pattern together.

        Those of the cores of queries are left out (see `cores`) and, with `objects_only`, those of kind BY_ROWS.
        """
        place, entry, is_open = split(numbers, self.segment.entries, self.register_to)
        pattern = self.segment.entries[entry, PATTERN]
        order = np.lexsort((entry, pattern))
        if self.has_objects:
            kind = self.kind[self.subscription_of[pattern]]
            wanted = self.asks_once[pattern] | (kind == BY_OBJECTS) | ((kind == BY_ROWS) & (not objects_only))
            order = order[wanted[order]]
        place, entry, is_open, pattern = place[order], entry[order], is_open[order], pattern[order]
        starts = np.flatnonzero(np.diff(pattern, prepend=-1)).tolist()
        for first, last in pairwise([*starts, len(entry)]):
            # A pattern has several entries if there are several ways to satisfy its filters.
            ways = [first + start for start in np.flatnonzero(np.diff(entry[first:last], prepend=-1)).tolist()]
            values = [self._values(numbers, place[a:b], entry[a]) for a, b in pairwise([*ways, last])]
            yield Rows(int(pattern[first]), is_open[first:last], np.concatenate(values))

    def cores(self, numbers: Array) -> Cores:
        """Return the mappings that a walk wrote down for the cores of queries."""
        place, entry, is_open = split(numbers, self.segment.entries, self.register_to)
        pattern = self.segment.entries[entry, PATTERN]
        subscription = self.subscription_of[pattern]
        of_queries = np.flatnonzero((self.kind[subscription] >= CORE_DECIDES) & ~self.asks_once[pattern])
        others = len(place) - len(of_queries)
        place, entry, is_open = place[of_queries], entry[of_queries], is_open[of_queries]
        return Cores(numbers, place, entry, subscription[of_queries], is_open, others)

    def places(self, entry: int, vertices: int) -> list[int]:
        """Return where in a row of an entry, which has so many vertices, the columns of its pattern are."""
        registers = self.segment.registers[self.segment.entries[entry, REGISTER_FROM] : self.register_to[entry]]
        # Registers of property variables come after those of all vertices.
        return [ROW_HEAD + each + (vertices if at >= vertices else 0) for at, each in enumerate(registers.tolist())]

    def _values(self, numbers: Array, places: Array, entry: int) -> Array:
        """Return what vertices and property variables are in rows of one entry."""
        first = self.segment.entries[entry, REGISTER_FROM]
        registers = self.segment.registers[first : self.register_to[entry]].astype(np.int64)
        # Registers of property variables come after those of all vertices.
        vertices = numbers[places[0] + 2]
        registers[vertices:] += vertices
        return numbers[places[:, None] + ROW_HEAD + registers]

    def _under(self, heads: set[int]) -> set[int]:
        """Return the patterns whose entries lie at or under the runs with these heads."""
        segment = self.segment
        patterns: set[int] = set()
        waiting = [node for head in heads for node in range(head, head + (int(segment.nodes[head, HOW]) >> RUN_SHIFT))]
        while waiting:
            row = segment.nodes[waiting.pop()]
            waiting += range(row[CHILD_FROM], row[CHILD_TO])
            detail = segment.details[row[DETAIL]] if row[DETAIL] != NONE else None
            if detail is not None and detail[ENTRIES]:
                # The entries of a node are neighbours.
                start = detail[PLAIN_FROM]
                if detail[PLAIN_FROM] == detail[PLAIN_TO]:
                    start = segment.buckets[segment.groups[detail[GROUP_FROM], BUCKET_FROM], ENTRY_FROM]
                patterns.update(segment.entries[start : start + detail[ENTRIES], PATTERN].tolist())
        return patterns


def _read_only(array: Array) -> Array:
    """Return a view that cannot be written, as arrays from files cannot: kernels are compiled for the type."""
    view = array.view()
    view.flags.writeable = False
    return view


def _scratch_for(segment: Segment, patterns: int) -> Scratch:
    nodes, entries = segment.nodes, segment.entries
    depth = int(_depth(nodes))
    return Scratch(
        binding=np.zeros(depth + 1, np.int32),
        property_binding=np.zeros(depth + 1, np.int32),
        used=np.zeros(64, np.bool_),
        state=np.zeros((len(nodes), STATE_COLUMNS), np.int32),
        seen=np.zeros(patterns + 1, np.int32),
        noted=np.zeros((len(nodes), 2), np.int32),
        frame=np.zeros((depth + 2, FRAME_COLUMNS), np.int64),
        point=np.zeros(max(1, len(segment.dimensions)), np.float64),
        ranges=np.zeros((256, 5), np.int64),
        hits=np.zeros(len(entries) + 1, np.int32),
        found=np.zeros(len(entries) + 1, np.int32),
        rows=np.zeros(_ROWS_AT_FIRST, np.int32),
    )


@njit(cache=True, nogil=True)
def _depth(nodes: Array) -> int:
    """Return how many steps the longest path has."""
    depth = np.zeros(nodes.shape[0], np.int32)
    deepest = 0
    for node in range(1, nodes.shape[0]):
        depth[node] = depth[nodes[node, PARENT]] + 1
        deepest = max(deepest, depth[node])
    return deepest


@njit(cache=True, nogil=True)
def _withdraw(nodes: Array, details: Array, noted: Array, leaves: Array) -> None:
    """Count an entry as gone at each of the leaves, and a child as gone above what has nothing left then."""
    for leaf in leaves:
        node = leaf
        while node != NONE:
            noted[node, GONE_BELOW] += 1
            left = nodes[node, CHILD_TO] - nodes[node, CHILD_FROM] - noted[node, GONE_BELOW]
            if nodes[node, DETAIL] != NONE:
                left += details[nodes[node, DETAIL], ENTRIES]
            node = nodes[node, PARENT] if left == 0 else NONE


@njit(cache=True, nogil=True)
def split(numbers: Array, entries: Array, register_to: Array) -> tuple[Array, Array, Array]:
    """Return where the rows in what a walk wrote down start, their entries, and whether they are open."""
    count, start = 0, 0
    while start < numbers.shape[0]:
        entry = numbers[start]
        start += ROW_HEAD + register_to[entry] - entries[entry, REGISTER_FROM]
        count += 1
    places, found, is_open = np.empty(count, np.int64), np.empty(count, np.int32), np.empty(count, np.bool_)
    start = 0
    for row in range(count):
        entry = numbers[start]
        places[row], found[row], is_open[row] = start, entry, numbers[start + 1] != 0
        start += ROW_HEAD + register_to[entry] - entries[entry, REGISTER_FROM]
    return places, found, is_open
