"""What a worker does in its one pass: it decodes, matches, and writes matches and rejects to where they are staged.

Matches that composites are made of are written once more, for the driver to compose.

Only a line of figures goes back through Spark. Matches are far more than events where there are many subscriptions,
and carrying them through the JVM costs more than finding them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from ontosub.composite.table import latest_of
from ontosub.disk import sync
from ontosub.matching.batch import ENCODED, REJECTS
from ontosub.pipeline.composing import Operands
from ontosub.pipeline.staging import Outcome
from ontosub.spark.passing import ROWS_MAX, Made
from ontosub.spark.payloads import Options
from ontosub.spark.schemas import EVENTS
from ontosub.spark.sharding import ShardedIndex
from ontosub.spark.sharding.routing import payloads_in
from ontosub.spark.sources import Read
from ontosub.spark.task_index import TaskIndex

_REPORT = pa.schema(
    [
        ("matches_file", pa.string()),
        ("rejects_file", pa.string()),
        ("operands_file", pa.string()),
        ("latest", pa.int64()),
        ("payloads", pa.int64()),
        ("matches", pa.int64()),
        ("rejects", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker is sent: the version of the index, how payloads are read, and where results are staged."""

    index: TaskIndex
    options: Options | None
    bindings: bool
    staging: str
    read: Read | None = None
    operands: Operands | None = None

    def done(self, frame: DataFrame) -> Outcome:
        """Do the work for all rows of a frame, which has the columns EVENTS or those that `read` takes."""
        work = self
        if isinstance(self.index, ShardedIndex):
            events = frame if self.read is None else frame.mapInArrow(self._events, EVENTS)
            work, frame = replace(self, read=None), self.index.spread(events, self.options, keeps_rejects=True)
        reports = frame.mapInArrow(work.run, from_arrow_schema(_REPORT)).collect()
        return Outcome(
            tuple(row.matches_file for row in reports if row.matches_file),
            tuple(row.rejects_file for row in reports if row.rejects_file),
            sum(row.payloads for row in reports),
            sum(row.matches for row in reports),
            sum(row.rejects for row in reports),
            tuple(row.operands_file for row in reports if row.operands_file),
            max((row.latest for row in reports if row.latest is not None), default=None),
        )

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Do the work of one task: yield its report when all of it is on the disk."""
        task, payloads, ends = uuid.uuid4().hex, 0, list[int]()
        matches = _Staged(Path(self.staging, f"{task}-matches.parquet"), ENCODED)
        rejects = _Staged(Path(self.staging, f"{task}-rejects.parquet"), REJECTS)
        operands = _Staged(Path(self.staging, f"{task}-operands.parquet"), ENCODED)
        with ExitStack() as open_files:
            for staged in (matches, rejects, operands):
                open_files.callback(staged.close)
            make = self.index.matching(self.options, bindings=self.bindings, encoded=True)
            for piece in _pieces(self._events(batches)):
                made = make(piece)
                payloads += payloads_in(piece)
                found = _matches(made)
                if self.operands is not None:
                    operands.write(_of(found, self.operands.all))
                    ends += [end for end in [latest_of(found)] if end is not None]
                    found = _of(found, self.operands.inside, but=True)
                matches.write(found)
                rejects.write(_rejects(piece, made))
        names = [matches.name, rejects.name, operands.name]
        told = [*names, max(ends, default=None), payloads, matches.rows, rejects.rows]
        columns = [pa.array([value], field.type) for value, field in zip(told, _REPORT, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=_REPORT)

    def _events(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return batches if self.read is None else chain.from_iterable(map(self.read, batches))


def _pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS_MAX):
            yield pa.Table.from_batches([batch.slice(start, ROWS_MAX)])


def _matches(made: Made) -> pa.Table:
    """Return the matches with the column `bindings`, in which there is nothing if none were asked for."""
    if "bindings" in made.results.column_names:
        return made.results
    field = ENCODED.field("bindings")
    nothing = pa.ListArray.from_arrays(np.zeros(len(made.results) + 1, np.int32), pa.array([], field.type.value_type))
    return made.results.add_column(2, field, nothing)


def _of(matches: pa.Table, subscription_ids: frozenset[str], *, but: bool = False) -> pa.Table:
    """Return the matches of some subscriptions, or of all but these."""
    if but and not subscription_ids:
        return matches
    chosen = pc.is_in(matches["subscription_id"], pa.array(sorted(subscription_ids), pa.string()))
    return matches.filter(pc.invert(chosen) if but else chosen)


def _rejects(piece: pa.Table, made: Made) -> pa.Table:
    told: dict[str, Any] = {field.name: made.rejects.field(field.name) for field in REJECTS if field.name != "event_id"}
    return pa.table({"event_id": piece["event_id"].take(made.reject_sources), **told}, schema=REJECTS)


class _Staged:
    """A Parquet file that is there only if it has rows."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path, self._schema = path, schema
        self._writer: pq.ParquetWriter | None = None
        self.rows = 0

    @property
    def name(self) -> str | None:
        return self._path.name if self.rows else None

    def write(self, table: pa.Table) -> None:
        if len(table) == 0:
            return
        if self._writer is None:
            # Who reads it sees texts, not dictionaries; nobody looks for the smallest and largest of them.
            self._writer = pq.ParquetWriter(
                self._path, self._schema, compression="lz4", store_schema=False, write_statistics=False
            )
        self._writer.write_table(table)
        self.rows += len(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            sync(self._path)
