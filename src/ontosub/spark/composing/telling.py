"""Detections on their way out: each shard packs what it has found as one value, and tasks of Spark unpack it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from ontosub.composite import Detection
from ontosub.composite.instance import Row
from ontosub.spark.composing.packing import ipc_bytes
from ontosub.spark.composing.shard import Done, Shard
from ontosub.spark.schemas import ARROW_DETECTIONS

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
    if not detections:
        return None
    instances = [detection.instance for detection in detections]
    columns: list[Any] = [
        [detection.subscription_id for detection in detections],
        [detection.key for detection in detections],
        [[_shown(row) for row in instance.rows] for instance in instances],
        pa.array([instance.start for instance in instances], ARROW_DETECTIONS.field("time_start").type),
        pa.array([instance.end for instance in instances], ARROW_DETECTIONS.field("time_end").type),
        [list(detection.event_ids) for detection in detections],
        [json.dumps(detection.tree.to_dict(), ensure_ascii=False) for detection in detections],
    ]
    return ipc_bytes(pa.table(columns, schema=ARROW_DETECTIONS))


def _shown(row: Row) -> list[tuple[str, str]]:
    """Return an answer as in a table of matches; a blank node loses the event that it was told apart by."""
    return [(name, text.partition(" ")[0] if text.startswith("_:") else text) for name, text in row.items()]


def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the detections that shards have packed."""
    for batch in batches:
        for chunk in batch.column("detections").to_pylist():
            if chunk is not None:
                yield from pa.ipc.open_stream(chunk).read_all().to_batches(max_chunksize=TOLD_MAX)
