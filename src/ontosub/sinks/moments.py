"""Moments that every reader can hold: those of the years 1 to 9999 in UTC.

A time with an offset may lie up to a day outside of these years. Arrow counts such a moment like any other, but
databases refuse it, or their drivers and Python fail to read it: one row would then hide all others of its page. So
sinks write the first or the last moment of the calendar in its place.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

TYPE = pa.timestamp("us", tz="UTC")
FIRST = pa.scalar(datetime.min.replace(tzinfo=UTC), TYPE).value
LAST = pa.scalar(datetime.max.replace(tzinfo=UTC), TYPE).value
"""The ends of the calendar, in microseconds since 1970."""


def within_calendar(table: pa.Table) -> pa.Table:
    """Return the table with the nearest moment of the calendar for each one that lies outside of it."""
    for position, field in enumerate(table.schema):
        if field.type == TYPE:
            held = pc.min_element_wise(table[position].cast(pa.int64()), LAST, skip_nulls=False)
            held = pc.max_element_wise(held, FIRST, skip_nulls=False)
            table = table.set_column(position, field, held.cast(TYPE))
    return table


def is_within_calendar(file: Path) -> bool:
    """Say whether no moment of a Parquet file lies outside of the calendar."""
    with pq.ParquetFile(file) as rows:
        moments = [field.name for field in rows.schema_arrow if field.type == TYPE]
        pieces = rows.iter_batches(columns=moments) if moments else ()
        return all(_is_within(column) for piece in pieces for column in piece.columns)


def _is_within(column: pa.Array) -> bool:
    ends = pc.min_max(column.cast(pa.int64())).as_py()
    return ends["min"] is None or (ends["min"] >= FIRST and ends["max"] <= LAST)
