"""The rows of the log: the columns that every event has, and how rows in other shapes are brought to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ontosub.matching.batch import EVENTS, OPTIONAL
from ontosub.model.errors import LimitError, UsageError

APPEND_BYTES_MAX = 256 * 1024 * 1024
"""How much may be appended at once: it is written whole or not at all, and so held in memory."""

Rows: TypeAlias = pa.Table | pa.RecordBatch | Sequence[Mapping[str, Any]]

_MEASURED = ("event_id", "content_type", "payload")


def as_batch(rows: Rows) -> pa.RecordBatch:
    """Return rows as one batch of EVENTS.

    Raises UsageError, with the name of the column, when one is missing, unknown or of another type, and LimitError
    when the rows are too many for one append.
    """
    table = _table(rows)
    _check_names(table.column_names)
    if table.nbytes > APPEND_BYTES_MAX:
        limit = APPEND_BYTES_MAX >> 20
        raise LimitError(f"an append of {table.nbytes >> 20:,} MiB is over the limit of {limit} MiB: append in parts")
    columns = [_column(table, field) for field in EVENTS]
    batch = pa.record_batch(columns, schema=EVENTS)
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        raise UsageError(f"the events are not valid: {error}") from None
    return batch


def _table(rows: Rows) -> pa.Table:
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    if isinstance(rows, str | bytes) or not all(isinstance(row, Mapping) for row in rows):
        raise UsageError("events come as a table of Arrow, or as a list of dicts with its columns")
    for names in {tuple(row) for row in rows}:
        _check_names(names)
    try:
        return pa.Table.from_pylist(list(rows), schema=EVENTS)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"a row is no event: {error}") from None


def _check_names(names: Sequence[str]) -> None:
    missing = [name for name in EVENTS.names if name not in names and name not in OPTIONAL]
    if missing:
        raise UsageError(f"the events lack the column {missing[0]}")
    unknown = [name for name in names if name not in EVENTS.names]
    if unknown:
        raise UsageError(f"the event log has no column {unknown[0]}: it keeps {', '.join(EVENTS.names)}")
    if len(set(names)) < len(names):
        raise UsageError("the events have a column twice")


def _column(table: pa.Table, field: pa.Field) -> pa.Array:
    if field.name not in table.column_names:
        return pa.nulls(len(table), field.type)
    column = table[field.name]
    if column.type == field.type:
        return column.combine_chunks()
    try:
        if pa.types.is_timestamp(column.type) and column.type.tz is None:
            column = column.cast(pa.timestamp(column.type.unit, tz="UTC"))
        # Finer moments than ours lose what we cannot keep.
        column = column.cast(field.type, safe=not pa.types.is_timestamp(column.type))
    except pa.ArrowException:
        raise UsageError(f"the column {field.name} is of type {column.type}; it should be {field.type}") from None
    return column.combine_chunks()


def measured(batch: pa.RecordBatch, rows: int) -> int:
    """Return how many bytes of data the first rows of a batch have: ids, content types and payloads."""
    return sum(_bytes(batch.column(name), rows) for name in _MEASURED)


def _bytes(column: pa.Array, rows: int) -> int:
    if rows == 0:
        return 0
    ends = np.frombuffer(column.buffers()[1], np.int32)
    return int(ends[column.offset + rows] - ends[column.offset])
