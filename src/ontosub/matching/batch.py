"""Matching by the table: Arrow in, Arrow out.

Both results are tables. A payload that cannot be read is a row of `rejects`, with its reason and position, and never
an exception: on a stream, bad events are data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import pyarrow as pa

from ontosub.model import Event, Interval, Match
from ontosub.model.errors import InputError, OntosubError, UsageError

_MOMENT = pa.timestamp("us", tz="UTC")

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
"""One row per payload that could not be read, with the payload itself."""


class BatchResult(NamedTuple):
    """What became of a table of payloads."""

    matches: pa.Table
    rejects: pa.Table


def match_batch(match: Callable[[Event], Iterable[Match]], table: pa.Table) -> BatchResult:
    """Apply `match` to the event in each row of the table."""
    missing = {"event_id", "content_type", "payload"} - set(table.column_names)
    if missing:
        raise UsageError(f"the table of events lacks the columns {', '.join(sorted(missing))}")
    matches: list[dict[str, Any]] = []
    rejects: list[dict[str, Any]] = []
    for row in _rows(table):
        try:
            matches.extend(_match_row(found) for found in match(_event(row)))
        except OntosubError as error:
            rejects.append(_reject_row(row, error))
    return BatchResult(pa.Table.from_pylist(matches, schema=MATCHES), pa.Table.from_pylist(rejects, schema=REJECTS))


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches():
        yield from batch.to_pylist()


def _event(row: dict[str, Any]) -> Event:
    start: datetime | None = row.get("time_start")
    time = None if start is None else Interval(start, row.get("time_end") or start)
    return Event.read(row["payload"] or b"", row["content_type"], id=row["event_id"], time=time)


def _match_row(match: Match) -> dict[str, Any]:
    return {
        "event_id": match.event_id,
        "subscription_id": match.subscription_id,
        "bindings": [[(name, str(term)) for name, term in binding.items()] for binding in match.bindings],
        "time_start": match.interval and match.interval.start,
        "time_end": match.interval and match.interval.end,
    }


def _reject_row(row: dict[str, Any], error: OntosubError) -> dict[str, Any]:
    positioned = error if isinstance(error, InputError) else None
    return {
        **{name: row[name] for name in ("event_id", "content_type", "payload")},
        "reason": positioned.message if positioned else str(error),
        "line": positioned and positioned.line,
        "column": positioned and positioned.column,
    }
