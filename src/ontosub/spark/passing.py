"""What both stages have in common: how the columns of a frame pass through them.

A stage makes *results* (events, matches) of the rows that it is given, each from one row. The user's own columns are
repeated on every result and every dead letter of their row. A row that an earlier stage has rejected stays rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from ontosub.spark.columns import Columns
from ontosub.spark.schemas import ARROW_REJECT, REJECT

Stage: TypeAlias = Callable[[DataFrame], DataFrame]
"""What `DataFrame.transform` takes."""

ArrowFunction: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What a worker runs: the batches of one task in, batches out."""

ROWS_MAX = 1_000
"""How many payloads are worked on at once: their results are held in memory together."""

RESULTS_MAX = 10_000
"""How many rows go back to Spark at once."""


class Made(NamedTuple):
    """What a stage makes of a table of payloads: two tables, and for each of their rows the row that it is from."""

    results: pa.Table
    sources: pa.Array
    rejects: pa.StructArray
    reject_sources: pa.Array


@dataclass(frozen=True, slots=True)
class Passing:
    """The columns of one frame, called `names`, on their way through a stage whose results have the columns `own`."""

    names: tuple[str, ...]
    own: pa.Schema
    extra: tuple[str, ...]
    has_rejects: bool
    keeps_rejects: bool

    def batches(self, batches: Iterator[pa.RecordBatch], make: Callable[[pa.Table], Made]) -> Iterator[pa.RecordBatch]:
        """Yield the rows that go out for those that come in, piece by piece."""
        for batch in batches:
            for start in range(0, batch.num_rows, ROWS_MAX):
                piece = pa.Table.from_batches([batch.slice(start, ROWS_MAX)]).rename_columns(self.names)
                yield from self._outcome(piece, make).to_batches(max_chunksize=RESULTS_MAX)

    def _outcome(self, piece: pa.Table, make: Callable[[pa.Table], Made]) -> pa.Table:
        earlier = piece.slice(0, 0)
        if self.has_rejects:
            is_open = pc.is_null(piece[REJECT.name])
            piece, earlier = piece.filter(is_open), piece.filter(pc.invert(is_open))
        made = make(piece)
        tables = [self._accepted(piece, made)]
        if self.keeps_rejects:
            tables.append(self._rejected(piece, made))
        if self.keeps_rejects and self.has_rejects:
            tables.append(self._as_they_were(earlier))
        return pa.concat_tables(tables)

    def _accepted(self, piece: pa.Table, made: Made) -> pa.Table:
        told = dict(zip(made.results.column_names, made.results.columns, strict=True))
        return self._table(told, len(made.sources), piece.select(self.extra).take(made.sources))

    def _rejected(self, piece: pa.Table, made: Made) -> pa.Table:
        told = {"event_id": piece["event_id"].take(made.reject_sources), REJECT.name: made.rejects}
        return self._table(told, len(made.rejects), piece.select(self.extra).take(made.reject_sources))

    def _as_they_were(self, piece: pa.Table) -> pa.Table:
        told = {"event_id": piece["event_id"], REJECT.name: piece[REJECT.name]}
        return self._table(told, len(piece), piece.select(self.extra))

    def _table(self, told: dict[str, Any], length: int, extra: pa.Table) -> pa.Table:
        """Return a table with all columns that go out; those that nobody tells are null."""
        fields = [field.with_nullable(True) for field in self.own]
        if self.keeps_rejects:
            fields.append(pa.field(REJECT.name, ARROW_REJECT))
        columns = [
            told[field.name].cast(field.type) if field.name in told else pa.nulls(length, field.type)
            for field in fields
        ]
        return pa.table([*columns, *extra.columns], schema=pa.schema([*fields, *extra.schema]))


def staged(
    frame: DataFrame, own: pa.Schema, task: Callable[[Passing], ArrowFunction], *, keeps_rejects: bool
) -> DataFrame:
    """Return what comes out of a stage whose results have the columns `own`: what `task` makes of the frame's rows.

    Raises UsageError when a column of the frame is missing, of another type than EVENTS says, or in the way.
    """
    columns = Columns.of(frame)
    columns.check(keeps_rejects=keeps_rejects)
    extra = columns.extra
    through = Passing(
        tuple(frame.columns), own, tuple(field.name for field in extra), columns.has_rejects, keeps_rejects
    )
    results = list(from_arrow_schema(own))
    if keeps_rejects:
        results = [StructField(field.name, field.dataType, nullable=True) for field in [*results, REJECT]]
    # Spark takes names with dots for paths into structures; numbers it leaves alone.
    numbered = frame.toDF(*[str(number) for number in range(len(frame.columns))])
    return numbered.mapInArrow(task(through), StructType([*results, *extra]))
