"""Matches on their way to shards: a chunk is a table of matches, as one value.

Every shard gets a chunk of every table of matches, if only to learn how far time has come and which composites stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontosub.composite.instance import Rows
from ontosub.composite.table import latest_of, rows_of, spans_of
from ontosub.spark.composing.standing import Standing

CHUNKS = pa.schema(
    [
        pa.field("shard", pa.int32()),
        pa.field("version", pa.string()),
        pa.field("latest", pa.int64()),
        pa.field("untimed", pa.int64()),
        pa.field("matches", pa.binary()),
    ]
)
"""`version` is that of the composites by which matches were sent, `latest` the last moment at which any of them ends.

`untimed` of the matches had no interval, and are left out.
"""


class Put(NamedTuple):
    """A match as a detector takes it. `is_own`: this shard is the one of those that get it in which it is counted."""

    subscription_id: str
    event_id: str
    start: int
    end: int
    rows: Rows
    is_own: bool


@dataclass(frozen=True, slots=True)
class Packing:
    """What a task does with matches."""

    standing: Standing
    keys: tuple[int, ...]

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the chunks of tables of matches, all by the version of the composites that stands when it begins."""
        composites = None
        for batch in batches:
            if composites is None:
                composites = self.standing.current(self.keys)
            yield self._chunks(pa.Table.from_batches([batch]), composites.version, composites.routes)

    def _chunks(self, matches: pa.Table, version: str, routes: dict[str, tuple[int, ...]]) -> pa.RecordBatch:
        start, end, timed = spans_of(matches)
        subscriptions = pc.dictionary_encode(matches["subscription_id"].combine_chunks())
        kinds = subscriptions.indices.to_numpy()
        ways = [routes.get(each, ()) for each in subscriptions.dictionary.to_pylist()]
        concerned = np.array([bool(way) for way in ways], dtype=bool)[kinds]
        in_time = timed.to_numpy()
        untimed = int(np.count_nonzero(concerned & ~in_time))
        told = matches.select(["event_id", "subscription_id", "bindings"])
        told = told.set_column(0, "event_id", pc.fill_null(told["event_id"], ""))
        told = told.append_column("start", start).append_column("end", end)
        packed = []
        for key in self.keys:
            sent = np.array([key in way for way in ways], dtype=bool)[kinds] & in_time
            own = np.array([way[:1] == (key,) for way in ways], dtype=bool)[kinds]
            part = told.append_column("own", pa.array(own)).filter(pa.array(sent))
            packed.append(ipc_bytes(part) if part.num_rows else None)
        count = len(self.keys)
        latest, counted = [latest_of(matches)] * count, [untimed] + [0] * (count - 1)
        return pa.record_batch([list(self.keys), [version] * count, latest, counted, packed], schema=CHUNKS)


def unpacked(chunk: bytes) -> Iterator[Put]:
    """Yield the matches of a chunk."""
    table = pa.ipc.open_stream(chunk).read_all().combine_chunks()
    names = ("subscription_id", "event_id", "start", "end")
    columns = [table[name].to_pylist() for name in names]
    answers = rows_of(_array(table["bindings"]), columns[1])
    return map(Put, *columns, answers, table["own"].to_pylist())


def ipc_bytes(table: pa.Table) -> bytes:
    """Return a table as Arrow's stream of bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def _array(column: pa.ChunkedArray) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
