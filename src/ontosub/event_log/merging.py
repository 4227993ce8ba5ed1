"""From frames to batches of a good size: small ones are merged, large ones cut, and those between left as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import pyarrow as pa

ROWS_MAX = 10_000
BYTES_MAX = 16 * 1024 * 1024

Sized: TypeAlias = tuple[pa.RecordBatch, int]
"""Rows, and about how many bytes they take."""


def merged(batches: Iterable[Sized]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in the same order, in batches of at most ROWS_MAX rows and, unless one row has more,
    about BYTES_MAX bytes. Only batches that are merged are copied.
    """
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch, weight in _cut(batches):
        if waiting and (rows + batch.num_rows > ROWS_MAX or size + weight > BYTES_MAX):
            yield _one(waiting)
            waiting, rows, size = [], 0, 0
        waiting.append(batch)
        rows += batch.num_rows
        size += weight
    if waiting:
        yield _one(waiting)


def _cut(batches: Iterable[Sized]) -> Iterator[Sized]:
    for batch, size in batches:
        if batch.num_rows <= ROWS_MAX and size <= BYTES_MAX:
            yield batch, size
            continue
        step = max(1, min(ROWS_MAX, batch.num_rows * BYTES_MAX // size))
        for start in range(0, batch.num_rows, step):
            piece = batch.slice(start, step)
            yield piece, size * piece.num_rows // batch.num_rows


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
