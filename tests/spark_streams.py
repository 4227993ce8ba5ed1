"""Tables of generated matches, and folders of them that Spark reads as streams."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ontosub.matching.batch import MATCHES
from oracle.composite_definition import Fact

SECOND = 1_000_000
BEGIN = 1_767_225_600 * SECOND
"""The year 2026, in microseconds."""


def seconds(moment: int) -> int:
    """Return a moment of so many seconds since BEGIN, in microseconds since 1970."""
    return BEGIN + moment * SECOND


def table_of(facts: Iterable[Fact]) -> pa.Table:
    """Return matches as a table."""
    found = list(facts)
    columns = [
        [fact.event for fact in found],
        [fact.subscription for fact in found],
        [[list(row) for row in fact.rows] for fact in found],
        pa.array([fact.start for fact in found], MATCHES.field("time_start").type),
        pa.array([fact.end for fact in found], MATCHES.field("time_end").type),
    ]
    return pa.table(columns, schema=MATCHES)


def write_files(folder: Path, pieces: Sequence[Iterable[Fact]], first: int = 0) -> None:
    """Write a file of matches for each micro-batch; their modification times are in order."""
    folder.mkdir(exist_ok=True)
    for number, facts in enumerate(pieces, first):
        path = folder / f"{number}.parquet"
        if not path.exists():
            pq.write_table(table_of(facts), path)
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
