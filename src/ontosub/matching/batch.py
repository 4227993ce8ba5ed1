"""Matching by the table: Arrow in, Arrow out.

Both results are tables. A payload that cannot be read is a row of `rejects`, with its reason and position, and never
an exception: on a stream, bad events are data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import pyarrow as pa

from ontosub.model import Event, Interval, Match
from ontosub.model.errors import FormatError, InputError, OntosubError, UsageError
from ontosub.model.terms import written

P = ParamSpec("P")
R = TypeVar("R")

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


def fault_of(error: Exception) -> OntosubError:
    """Return the error as one of ours: whatever else reading a payload raises is a fault that names its type.

    A stream would otherwise stop at that payload, and stop there again each time it is started. Running out of memory
    is not the payload's fault alone: that is raised.
    """
    if isinstance(error, OntosubError):
        return error
    if isinstance(error, MemoryError):
        raise error
    said = " ".join(str(error).split())
    return FormatError(f"reading fails with {type(error).__name__}{': ' if said else ''}{said}")


def raising_faults(read: Callable[P, R]) -> Callable[P, R]:
    """Make a function that reads a payload raise no other exceptions than `fault_of` returns."""

    @wraps(read)
    def reading(*args: P.args, **options: P.kwargs) -> R:
        try:
            return read(*args, **options)
        except OntosubError:
            raise
        except Exception as error:
            raise fault_of(error) from error

    return reading


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
        self.ids = _texts(present["event_id"])
        self.content_types = _texts(present["content_type"])
        self.payloads: list[bytes | None] = present["payload"].to_pylist()
        nothing: list[int | None] = [None] * len(self.ids)
        self._starts = _microseconds(present["time_start"]) if "time_start" in present else nothing
        self._ends = _microseconds(present["time_end"]) if "time_end" in present else nothing

    def __len__(self) -> int:
        return len(self.ids)

    def interval(self, row: int) -> Interval | None:
        """Return the interval that a row states. Raises UsageError when it states one that cannot be."""
        start, end = self._starts[row], self._ends[row]
        return None if start is None else Interval(_moment(start), _moment(start if end is None else end))

    def is_read(self, row: int) -> bool:
        """Say whether the event of a row has been read already, so that its payload is of no more use."""
        return False

    @raising_faults
    def event(self, row: int) -> Event:
        """Read the event of a row. Raises OntosubError when it cannot be read."""
        payload = self.payloads[row] or b""
        return Event.read(payload, self.content_types[row], id=self.ids[row], time=self.interval(row))


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column of its type, or of one that is left to `_texts` or `_microseconds`: a cast fails as a whole."""
    column, wanted = table[name], EVENTS.field(name).type
    is_data = pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)
    if (wanted == pa.string() and is_data) or (wanted == _MOMENT and pa.types.is_timestamp(column.type)):
        return column
    try:
        return column.cast(wanted)
    except pa.ArrowException:
        raise UsageError(f"the column {name} is of type {column.type}; it should be {wanted}") from None


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    """Return the texts of a column. What is not UTF-8 in them, which Spark does not mind, becomes U+FFFD."""
    try:
        texts: list[str | None] = column.cast(pa.string()).to_pylist()
    except (pa.ArrowException, UnicodeDecodeError):
        found = column.cast(pa.binary()).to_pylist()
        texts = [None if data is None else data.decode(errors="replace") for data in found]
    return texts


_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _microseconds(column: pa.ChunkedArray) -> list[int | None]:
    """Return moments as microseconds since 1970, however far from it. Finer moments lose what we cannot keep."""
    per_second = _PER_SECOND[column.type.unit]
    counts = column.cast(pa.int64()).to_pylist()
    return [None if count is None else count * 1_000_000 // per_second for count in counts]


def _moment(microseconds: int) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        raise UsageError(f"the time {microseconds:,} µs from 1970 is outside of the years 1 to 9999 in UTC") from None


class Reason(NamedTuple):
    """Why an event is rejected, and where in its payload, as REJECTS has it."""

    reason: str
    line: int | None = None
    column: int | None = None


_REASON_CHARS_MAX = 10_000


def reason_of(error: OntosubError) -> Reason:
    """Return why an event is rejected, as a text that Arrow can hold: of some length, and without lone surrogates."""
    message = error.message if isinstance(error, InputError) else str(error)
    message = message if len(message) <= _REASON_CHARS_MAX else f"{message[: _REASON_CHARS_MAX - 1]}…"
    message = message.encode(errors="backslashreplace").decode()
    return Reason(message, error.line, error.column) if isinstance(error, InputError) else Reason(message)


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
        self._reject(row, reason_of(error))

    def give_up(self, row: int, subscription_ids: Iterable[str]) -> None:
        """Note which subscriptions could not be decided for the event of a row, if any."""
        named = ", ".join(sorted(subscription_ids))
        if named:
            self._reject(row, Reason(f"over budget for the subscriptions {named}: the others have their answers"))

    def _reject(self, row: int, reason: Reason) -> None:
        batch = self._batch
        told = {"event_id": batch.ids[row], "content_type": batch.content_types[row], "payload": batch.payloads[row]}
        self._rejects.append({**told, **reason._asdict()})

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
