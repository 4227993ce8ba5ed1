"""Matching by the table: Arrow in, Arrow out.

Both results are tables. A payload that cannot be read is a row of `rejects`, with its reason and position, and never
an exception: on a stream, bad events are data.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

import pyarrow as pa

from ontosub.model import Event, Interval, Match
from ontosub.model.errors import InputError, OntosubError, UsageError
from ontosub.model.terms import written

_MOMENT = pa.timestamp("us", tz="UTC")

EVENTS = pa.schema(
    [
        pa.field("event_id", pa.string()),
        pa.field("content_type", pa.string()),
        pa.field("payload", pa.binary()),
        pa.field("time_start", _MOMENT),
        pa.field("time_end", _MOMENT),
    ]
)
"""What comes in: one row per payload."""

OPTIONAL = ("time_start", "time_end")
"""The columns of events that a table may leave out."""

MATCHES = pa.schema(
    [
        pa.field("event_id", pa.string(), nullable=False),
        pa.field("subscription_id", pa.string(), nullable=False),
        pa.field("bindings", pa.list_(pa.map_(pa.string(), pa.string())), nullable=False),
        pa.field("time_start", _MOMENT),
        pa.field("time_end", _MOMENT),
    ]
)
"""One row per match. A binding maps variable names to terms in N-Triples syntax."""

_TEXT = pa.dictionary(pa.int32(), pa.string())

ENCODED = pa.schema(
    [
        pa.field("event_id", _TEXT, nullable=False),
        pa.field("subscription_id", _TEXT, nullable=False),
        pa.field("bindings", pa.list_(pa.map_(_TEXT, _TEXT)), nullable=False),
        pa.field("time_start", _MOMENT),
        pa.field("time_end", _MOMENT),
    ]
)
"""MATCHES with dictionaries of Arrow for texts, which repeat: faster to make, and to write as Parquet."""

REJECTS = pa.schema(
    [
        pa.field("event_id", pa.string()),
        pa.field("content_type", pa.string()),
        pa.field("payload", pa.binary()),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("line", pa.int32()),
        pa.field("column", pa.int32()),
    ]
)
"""One row per payload that could not be read or not be decided for all subscriptions, with the payload itself."""


class BatchResult(NamedTuple):
    """What became of a table of payloads."""

    matches: pa.Table
    rejects: pa.Table


class Batch:
    """A table of payloads, with its columns checked and brought to their types."""

    def __init__(self, table: pa.Table | pa.RecordBatch) -> None:
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        if not isinstance(table, pa.Table):
            raise UsageError(f"events come as a table of Arrow, not as {type(table).__name__}")
        missing = [name for name in EVENTS.names if name not in table.column_names and name not in OPTIONAL]
        if missing:
            raise UsageError(f"the table of events lacks the columns {', '.join(missing)}")
        present = {name: _column(table, name) for name in EVENTS.names if name in table.column_names}
        self.ids: list[str | None] = present["event_id"].to_pylist()
        self.content_types: list[str | None] = present["content_type"].to_pylist()
        self.payloads: list[bytes | None] = present["payload"].to_pylist()
        nothing: list[datetime | None] = [None] * len(self.ids)
        self._starts = present["time_start"].to_pylist() if "time_start" in present else nothing
        self._ends = present["time_end"].to_pylist() if "time_end" in present else nothing

    def __len__(self) -> int:
        return len(self.ids)

    def interval(self, row: int) -> Interval | None:
        """Return the interval that a row states."""
        start = self._starts[row]
        return None if start is None else Interval(start, self._ends[row] or start)

    def is_read(self, row: int) -> bool:
        """Say whether the event of a row has been read already, so that its payload is of no more use."""
        return False

    def event(self, row: int) -> Event:
        """Read the event of a row."""
        payload = self.payloads[row] or b""
        return Event.read(payload, self.content_types[row], id=self.ids[row], time=self.interval(row))


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    column, wanted = table[name], EVENTS.field(name).type
    try:
        if pa.types.is_temporal(wanted) and pa.types.is_timestamp(column.type) and column.type.tz is None:
            column = column.cast(pa.timestamp(column.type.unit, tz="UTC"))
        # Finer moments than ours lose what we cannot keep.
        return column.cast(wanted, safe=not pa.types.is_timestamp(column.type))
    except pa.ArrowException:
        raise UsageError(f"the column {name} is of type {column.type}; it should be {wanted}") from None


class Collected:
    """The results of a batch while it is being matched."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._matches: list[Match] = []
        self._rejects: list[dict[str, Any]] = []

    def match(self, matches: Iterable[Match]) -> None:
        """Take in matches of an event."""
        self._matches.extend(matches)

    def reject(self, row: int, error: OntosubError) -> None:
        """Note that the event of a row could not be read."""
        if isinstance(error, InputError):
            self._reject(row, error.message, error.line, error.column)
        else:
            self._reject(row, str(error))

    def give_up(self, row: int, subscription_ids: Iterable[str]) -> None:
        """Note which subscriptions could not be decided for the event of a row, if any."""
        named = ", ".join(sorted(subscription_ids))
        if named:
            self._reject(row, f"over budget for the subscriptions {named}: the others have their answers")

    def _reject(self, row: int, reason: str, line: int | None = None, column: int | None = None) -> None:
        batch = self._batch
        told = {"event_id": batch.ids[row], "content_type": batch.content_types[row], "payload": batch.payloads[row]}
        self._rejects.append({**told, "reason": reason, "line": line, "column": column})

    def result(self, matches: pa.Table | None = None) -> BatchResult:
        """Return the tables; `matches`, if they were collected elsewhere."""
        if matches is None:
            matches = matches_table(self._matches)
        return BatchResult(matches, pa.Table.from_pylist(self._rejects, schema=REJECTS))


def encoded(matches: pa.Table) -> pa.Table:
    """Return a table of matches, with or without bindings, as ENCODED has it."""
    matches = matches.combine_chunks()
    columns = []
    for name, column in zip(matches.column_names, matches.columns, strict=True):
        array = column.combine_chunks()
        array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
        if name == "bindings":
            maps = array.values
            pairs = (maps.keys.dictionary_encode(), maps.items.dictionary_encode())
            array = pa.ListArray.from_arrays(array.offsets, pa.MapArray.from_arrays(maps.offsets, *pairs))
        columns.append(array.dictionary_encode() if pa.types.is_string(array.type) else array)
    return pa.table(columns, schema=pa.schema([ENCODED.field(name) for name in matches.column_names]))


def matches_table(matches: Iterable[Match]) -> pa.Table:
    """Return matches as a table."""
    return pa.Table.from_pylist([_match_row(match) for match in matches], schema=MATCHES)


def _match_row(match: Match) -> dict[str, Any]:
    return {
        "event_id": match.event_id,
        "subscription_id": match.subscription_id,
        "bindings": [[(name, written(term)) for name, term in binding.items()] for binding in match.bindings],
        "time_start": match.interval and match.interval.start,
        "time_end": match.interval and match.interval.end,
    }
