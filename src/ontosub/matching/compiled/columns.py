"""Answers as columns: the mappings of many events become a table without becoming objects.

Terms stay numbers of vertices until the end, when each is looked up in one array of texts; variables stay numbers of
names. Only what a kernel leaves to Python, and answers that must be compared with each other, take the way of `Match`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.batch import ENCODED, MATCHES, encoded, matches_table
from ontosub.matching.compiled.events.dictionary import Dictionary
from ontosub.matching.compiled.events.graph import TERM
from ontosub.matching.compiled.index.layout import PATTERN
from ontosub.matching.compiled.index.part import BY_ROWS, Part, Rows, split
from ontosub.matching.compiled.index.ragged import spread, starts_of
from ontosub.matching.compiled.index.walk import ROW_HEAD
from ontosub.matching.compiled.lane import Arrival
from ontosub.matching.compiled.mappings import Mappings
from ontosub.matching.compiled.queries.answering import Answers, MatchOf
from ontosub.matching.compiled.texts import Texts, subscription_ids
from ontosub.model import Match
from ontosub.model.errors import LimitError

Array = NDArray[Any]


class _Rows(NamedTuple):
    """Mappings of one part: of which event, by which entry, and where in the numbers their registers are."""

    event: Array
    entry: Array
    place: Array
    numbers: Array


class Columns:
    """The answers to a batch of events, while it is being matched; see `Algorithm.match_batch` for `encoded`."""

    def __init__(
        self, parts: Sequence[Part], dictionary: Dictionary, labels: Callable[[], list[str]], *, encoded: bool = False
    ) -> None:
        """Collect answers; `labels` are the names of variables in the answers of queries."""
        self._parts = parts
        self._encoded = encoded
        self._dictionary = dictionary
        self.arrivals: list[Arrival] = []
        """The events, in order."""
        self.size = 0
        self._numbers: list[list[Array]] = [[] for _ in parts]
        self._given_up: list[list[tuple[int, int]]] = [[] for _ in parts]
        self._labels = labels
        self._answers: list[list[Answers]] = [[] for _ in parts]
        self._texts: list[str] = []
        self._matches: list[Match] = []
        self._match_keys: list[tuple[int, int]] = []
        self.exceeding: list[tuple[int, str]] = []
        """Events, by number, and subscriptions that turned out to cost too much when the table was made."""

    def rows(self, part: int, event: int, numbers: Array, given_up: set[int]) -> None:
        """Take in what the walk of an event, the next one, through a part found, and who was given up."""
        self.size += len(numbers)
        self._numbers[part].append(numbers)
        self._given_up[part] += ((event, subscription) for subscription in given_up)

    def add(self, part: int, first: int, answers: Answers | MatchOf) -> None:
        """Take in answers that were found elsewhere, on events that are numbered from the `first` one on."""
        if isinstance(answers, Answers):
            self.size += len(answers.codes)
            codes = np.where(answers.codes < 0, answers.codes - len(self._texts), answers.codes)
            self._answers[part].append(answers._replace(events=answers.events + first, codes=codes))
            self._texts += answers.texts
        else:
            event, number, match = answers
            self._parts[part].matches[number] += 1
            self._matches.append(match)
            self._match_keys.append((first + event, int(self._parts[part].order[number])))

    def table(self) -> pa.Table:
        """Return all matches, in the order of events and subscriptions."""
        tables = [matches_table(self._matches)]
        keys = [np.array(self._match_keys, np.int64).reshape(-1, 2)]
        texts, vertex_from = self._all_texts()
        for number, part in enumerate(self._parts):
            rows = self._rows(number, part)
            if len(rows.entry):
                found = self._of_rows(part, rows, texts, vertex_from)
                tables.append(found[0])
                keys.append(found[1])
            if self._answers[number]:
                found = self._of_answers(part, self._answers[number], texts, vertex_from)
                tables.append(found[0])
                keys.append(found[1])
        if self._encoded:
            return pa.concat_tables([encoded(tables[0]), *tables[1:]])
        key = np.concatenate(keys)
        order = np.lexsort((key[:, 1], key[:, 0]))
        matches = pa.concat_tables(tables)
        if (np.diff(order) != 1).any():
            matches = matches.take(pa.array(order))
        return matches.cast(MATCHES)

    def _rows(self, number: int, part: Part) -> _Rows:
        """Return the mappings of a part that hold, of subscriptions whose answers rows are, those of a match together.

        They are sorted, or, if encoded, as the walks found them: numbers that lie in a line are read much faster.
        """
        found = self._numbers[number]
        numbers = np.concatenate([np.empty(0, np.int32), *found])
        place, entry, is_open = split(numbers, part.segment.entries, part.register_to)
        ends = np.cumsum([len(each) for each in found])
        event = np.searchsorted(ends, place, side="right")
        subscription = part.subscription_of[part.segment.entries[entry, PATTERN]]
        stays = part.kind[subscription] == BY_ROWS
        if self._given_up[number]:
            events, subscriptions = np.array(self._given_up[number], np.int64).T
            stays &= ~np.isin(event * len(part) + subscription, events * len(part) + subscriptions)
        if (stays & is_open).any():
            self._decide(part, _Rows(event, entry, place, numbers), is_open, stays)
        chosen = np.flatnonzero(stays)
        if self._encoded:
            chosen = chosen[_together(event[chosen], subscription[chosen], len(part))]
        else:
            chosen = chosen[np.argsort(event[chosen] * len(part) + subscription[chosen])]
        return _Rows(event[chosen], entry[chosen], place[chosen] + ROW_HEAD, numbers)

    def _decide(self, part: Part, rows: _Rows, is_open: Array, stays: Array) -> None:
        """Drop from the rows that stay those that were left open and do not hold."""
        pattern = part.segment.entries[rows.entry, PATTERN].astype(np.int64)
        pair = rows.event * len(part.subscription_of) + pattern
        ends = np.append(rows.place[1:], len(rows.numbers))
        for asked in np.unique(pair[stays & is_open]).tolist():
            members = np.flatnonzero((pair == asked) & stays)
            found = [next(part.rows(rows.numbers[rows.place[row] : ends[row]])) for row in members.tolist()]
            together = Rows(found[0].pattern, is_open[members], np.concatenate([each.values for each in found]))
            event = asked // len(part.subscription_of)
            try:
                stays[members] = Mappings(part, self.arrivals[event]).holding(together)
            except LimitError:
                stays[members] = False
                self.exceeding.append((event, part.holding[int(part.subscription_of[found[0].pattern])].id))

    def _of_rows(self, part: Part, rows: _Rows, texts: Texts, vertex_from: Array) -> tuple[pa.Table, Array]:
        """Return the matches of a part whose answers rows are, and by what they are sorted."""
        shown = part.projections.rows(rows.entry)
        starts, vertices, names = _filled(
            *part.projections.table, shown, rows.place, rows.numbers, vertex_from[rows.event]
        )
        named = Texts(part.projections.names, encoded=self._encoded)
        answers = pa.MapArray.from_arrays(pa.array(starts), named.at(names), texts.at(vertices))
        subscription = part.subscription_of[part.segment.entries[rows.entry, PATTERN]]
        return self._table(part, rows.event, subscription, answers)

    def _of_answers(self, part: Part, found: list[Answers], texts: Texts, vertex_from: Array) -> tuple[pa.Table, Array]:
        """Return the matches of a part whose answers queries gave, and by what they are sorted."""
        columns = zip(*(each[:5] for each in found), strict=True)
        events, numbers, counts, labels, codes = map(np.concatenate, columns)
        places = np.where(codes < 0, vertex_from[-1] + ~codes, codes + vertex_from[np.repeat(events, counts)])
        order = np.argsort(events * len(part) + numbers, kind="stable")
        cells = spread((np.cumsum(counts) - counts)[order], counts[order])
        named = Texts(pa.array(self._labels(), pa.string()), encoded=self._encoded)
        starts = starts_of(counts[order]).astype(np.int32)
        answers = pa.MapArray.from_arrays(pa.array(starts), named.at(labels[cells]), texts.at(places[cells]))
        return self._table(part, events[order], numbers[order], answers)

    def _table(self, part: Part, event: Array, subscription: Array, answers: pa.Array) -> tuple[pa.Table, Array]:
        """Return the matches that answers make, those of one match being neighbours, and by what they are sorted."""
        pair = event * len(part) + subscription
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        bindings = pa.ListArray.from_arrays(pa.array(np.append(first, len(pair)), pa.int32()), answers)
        events, subscriptions = event[first], subscription[first]
        np.add.at(part.matches, subscriptions, 1)
        begins, ends = (
            pa.array(
                [getattr(arrival.interval, name, None) for arrival in self.arrivals], MATCHES.field("time_start").type
            )
            for name in ("start", "end")
        )
        ids = Texts(pa.array([arrival.id for arrival in self.arrivals], pa.string()), encoded=self._encoded)
        which = pa.array(events)
        columns = [
            ids.at(events),
            subscription_ids(part, subscriptions, encoded=self._encoded),
            bindings,
            begins.take(which),
            ends.take(which),
        ]
        schema = ENCODED if self._encoded else MATCHES
        return pa.table(columns, schema=schema), np.stack([events, part.order[subscriptions]], axis=1)

    def _all_texts(self) -> tuple[Texts, Array]:
        """Return the N-Triples form of all vertices, event after event, then of what queries computed.

        And where the vertices of each event start, and where the last ones end.
        """
        counts = [len(arrival.encoded.graph.vertices) for arrival in self.arrivals]
        offsets, data = [np.zeros(1, np.int64)], [np.empty(0, np.uint8)]
        end = 0
        for arrival in self.arrivals:
            text, lengths = _copied(
                *arrival.encoded.texts(),
                arrival.encoded.graph.vertices,
                self._dictionary.text,
                self._dictionary.offsets,
            )
            data.append(text)
            offsets.append(end + np.cumsum(lengths))
            end += len(text)
        buffers = [None, pa.py_buffer(np.concatenate(offsets)), pa.py_buffer(np.concatenate(data))]
        texts = pa.LargeStringArray.from_buffers(sum(counts), buffers[1], buffers[2])
        if self._texts:
            texts = pa.concat_arrays([texts, pa.array(self._texts, pa.large_string())])
        return Texts(texts, encoded=self._encoded), starts_of(np.array(counts, np.int64))


def too_long(part: Part, arrival: Arrival, numbers: Array, most: int) -> set[int]:
    """Return the subscriptions of kind BY_ROWS whose answers, written out, would take more bytes than `most`.

    `numbers` are what a walk wrote down. A short event is told apart from a long one without looking at its rows.
    """
    _, starts, ends = arrival.encoded.texts()
    lengths = ends.astype(np.int64) - starts
    if len(numbers) * int(lengths.max(initial=0)) <= most:
        return set()
    place, entry, _ = split(numbers, part.segment.entries, part.register_to)
    subscription = part.subscription_of[part.segment.entries[entry, PATTERN]]
    by_rows = np.flatnonzero(part.kind[subscription] == BY_ROWS)
    place, subscription = place[by_rows], subscription[by_rows]
    shown = part.projections.rows(entry[by_rows])
    table = part.projections.table
    counts = table.lengths[shown]
    registers = table.registers[spread(table.starts[shown], counts)]
    vertices = numbers[np.repeat(place, counts) + ROW_HEAD + registers]
    # A term that is not of the event's own text starts and ends at -1: it is one that the index knows, and short.
    sizes = np.bincount(np.repeat(subscription, counts), lengths[vertices], len(part))
    return set(np.flatnonzero(sizes > most).tolist())


@njit(cache=True, nogil=True)
def _together(event: Array, subscription: Array, subscriptions: int) -> Array:
    """Return an order of rows, which are sorted by event, where those of one match are neighbours.

    Matches, and the rows of each, stay in the order in which they come.
    """
    count = event.shape[0]
    match_of, sizes = np.full(subscriptions, -1, np.int32), np.zeros(count + 1, np.int32)
    matches = np.empty(count, np.int32)
    found, first = 0, 0
    for row in range(count):
        if row > 0 and event[row] != event[row - 1]:
            first = found  # what was found of earlier events is no match of this one
        match = match_of[subscription[row]]
        if match < first:
            match = match_of[subscription[row]] = found
            found += 1
        matches[row] = match
        sizes[match + 1] += 1
    places, order = np.cumsum(sizes), np.empty(count, np.int64)
    for row in range(count):
        order[places[matches[row]]] = row
        places[matches[row]] += 1
    return order


@njit(cache=True, nogil=True)
def _filled(
    lengths: Array,
    starts: Array,
    registers: Array,
    names: Array,
    rows: Array,
    places: Array,
    numbers: Array,
    vertex_from: Array,
) -> tuple[Array, Array, Array]:
    """Return where the answers of rows start, the vertices they show, among those of all events, and the names."""
    count = rows.shape[0]
    begins = np.zeros(count + 1, np.int32)
    for row in range(count):
        begins[row + 1] = begins[row] + lengths[rows[row]]
    vertices, named = np.empty(begins[count], np.int64), np.empty(begins[count], np.int32)
    for row in range(count):
        first, at = starts[rows[row]], begins[row]
        for each in range(lengths[rows[row]]):
            vertices[at + each] = numbers[places[row] + registers[first + each]] + vertex_from[row]
            named[at + each] = names[first + each]
    return begins, vertices, named


@njit(cache=True, nogil=True)
def _copied(
    data: Array, starts: Array, ends: Array, vertices: Array, text: Array, offsets: Array
) -> tuple[Array, Array]:
    """Return the texts of all vertices in one piece, and their lengths."""
    count = vertices.shape[0]
    lengths = np.empty(count, np.int64)
    size = 0
    for vertex in range(count):
        term = vertices[vertex, TERM]
        lengths[vertex] = ends[vertex] - starts[vertex] if starts[vertex] >= 0 else offsets[term + 1] - offsets[term]
        size += lengths[vertex]
    copied = np.empty(size, np.uint8)
    at = 0
    for vertex in range(count):
        if starts[vertex] >= 0:
            copied[at : at + lengths[vertex]] = data[starts[vertex] : ends[vertex]]
        else:
            term = vertices[vertex, TERM]
            copied[at : at + lengths[vertex]] = text[offsets[term] : offsets[term + 1]]
        at += lengths[vertex]
    return copied, lengths
