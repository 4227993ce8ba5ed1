"""Detections on their way out: each shard packs what it has found as one value, and tasks of Spark unpack it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from ontosub.composite import Detection
from ontosub.composite.table import table_of
from ontosub.spark.composing.packing import ipc_bytes
from ontosub.spark.composing.shard import Done, Shard

REPORTS = pa.schema(
    [pa.field("shard", pa.int32()), pa.field("detections", pa.binary())]
    + [pa.field(name, pa.int64()) for name in ("found", "matches", "late", "untimed", "pending", "live", "overruns")]
)
"""What comes of a shard in a micro-batch: its detections, packed, and counts."""

TOLD_MAX = 10_000
"""How many detections go back to Spark at once."""


def report(key: int, shard: Shard, done: Done) -> dict[str, Any]:
    """Return a row of REPORTS."""
    counters = shard.detector.counters
    told = {"shard": key, "detections": packed(done.detections), "found": len(done.detections)}
    counts = {"matches": done.matches, "late": done.late, "untimed": done.untimed}
    return told | counts | {"pending": counters.pending, "live": counters.live, "overruns": counters.overruns}


def packed(detections: Sequence[Detection]) -> bytes | None:
    """Return detections as one value; None if there are none."""
    return ipc_bytes(table_of(detections)) if detections else None


def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the detections that shards have packed."""
    for batch in batches:
        for chunk in batch.column("detections").to_pylist():
            if chunk is not None:
                yield from pa.ipc.open_stream(chunk).read_all().to_batches(max_chunksize=TOLD_MAX)
