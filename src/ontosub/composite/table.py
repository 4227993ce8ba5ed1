"""Detections as a table: what a pipeline delivers and the stage on Spark gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ontosub.composite.detection import Detection
from ontosub.composite.instance import Row
from ontosub.matching.batch import MATCHES

DETECTIONS = pa.schema(
    [
        MATCHES.field("subscription_id"),
        pa.field("detection_id", pa.string(), nullable=False),
        MATCHES.field("bindings"),
        MATCHES.field("time_start").with_nullable(False),
        MATCHES.field("time_end").with_nullable(False),
        pa.field("event_ids", pa.list_(pa.string()), nullable=False),
        pa.field("constituents", pa.string(), nullable=False),
    ]
)
"""One row per composite event that was detected. `constituents` is the tree of what it is made of, as JSON."""


def table_of(detections: Sequence[Detection]) -> pa.Table:
    """Return detections as a table of DETECTIONS."""
    instances = [detection.instance for detection in detections]
    columns: list[Any] = [
        [detection.subscription_id for detection in detections],
        [detection.key for detection in detections],
        [[_shown(row) for row in instance.rows] for instance in instances],
        pa.array([instance.start for instance in instances], DETECTIONS.field("time_start").type),
        pa.array([instance.end for instance in instances], DETECTIONS.field("time_end").type),
        [list(detection.event_ids) for detection in detections],
        [json.dumps(detection.tree.to_dict(), ensure_ascii=False) for detection in detections],
    ]
    return pa.table(columns, schema=DETECTIONS)


def _shown(row: Row) -> list[tuple[str, str]]:
    """Return an answer as in a table of matches; a blank node loses the event that it was told apart by."""
    return [(name, text.partition(" ")[0] if text.startswith("_:") else text) for name, text in row.items()]
