"""Matches from tables, detections into tables: what pipelines and the stage on Spark work with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ontosub.composite.detection import Detection
from ontosub.composite.detector import Detector, scoped_row
from ontosub.composite.instance import Row, Rows
from ontosub.composite.moments import in_calendar
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
        pa.array([in_calendar(instance.start) for instance in instances], DETECTIONS.field("time_start").type),
        pa.array([in_calendar(instance.end) for instance in instances], DETECTIONS.field("time_end").type),
        [list(detection.event_ids) for detection in detections],
        [json.dumps(detection.tree.to_dict(), ensure_ascii=False) for detection in detections],
    ]
    return pa.table(columns, schema=DETECTIONS)


def _shown(row: Row) -> list[tuple[str, str]]:
    """Return an answer as in a table of matches; a blank node loses the event that it was told apart by."""
    return [(name, text.partition(" ")[0] if text.startswith("_:") else text) for name, text in row.items()]


class Spans(NamedTuple):
    """When the matches of a table are: from start to end, in microseconds since 1970. Some have no interval."""

    start: pa.ChunkedArray
    end: pa.ChunkedArray
    is_timed: pa.ChunkedArray


def spans_of(matches: pa.Table) -> Spans:
    """Return when the matches of a table are; one that only begins is an instant."""
    start, end = (pc.cast(matches[name], pa.int64()) for name in ("time_start", "time_end"))
    end = pc.coalesce(end, start)
    return Spans(start, end, pc.fill_null(pc.less_equal(start, end), False))


def latest_of(matches: pa.Table) -> int | None:
    """Return when the last match of a table ends; None if none has an interval."""
    spans = spans_of(matches)
    latest: int | None = pc.max(pc.filter(spans.end, spans.is_timed)).as_py()
    return latest


def rows_of(bindings: pa.ListArray, event_ids: Sequence[str]) -> Iterator[Rows]:
    """Yield the answers of each match, made from the flat arrays below: that is several times faster than rows are."""
    maps = bindings.values
    names, texts = maps.keys.to_pylist(), maps.items.to_pylist()
    ends = maps.offsets.to_pylist()
    rows = [dict(zip(names[a:b], texts[a:b], strict=True)) for a, b in pairwise(ends)]
    scopes = bool(pc.any(pc.starts_with(maps.items, "_:")).as_py())
    offsets = bindings.offsets.to_pylist()
    for event_id, (a, b) in zip(event_ids, pairwise(offsets), strict=True):
        found = tuple(rows[a:b]) or ({},)
        yield tuple([scoped_row(row, event_id) for row in found]) if scopes else found


class Fed(NamedTuple):
    """How many matches of a table a detector has not used: they came too late, or had no interval."""

    late: int
    untimed: int


def feed(detector: Detector, matches: pa.Table) -> Fed:
    """Give a detector the matches of a table of MATCHES; time stays where it is."""
    start, end, is_timed = spans_of(matches)
    told = matches.append_column("start", start).append_column("end", end).filter(is_timed).combine_chunks()
    if len(told) == 0:
        return Fed(0, len(matches))
    subscription_ids, event_ids = told["subscription_id"].to_pylist(), told["event_id"].to_pylist()
    rows = rows_of(told["bindings"].chunk(0), event_ids)
    put = map(detector.put, subscription_ids, event_ids, told["start"].to_pylist(), told["end"].to_pylist(), rows)
    return Fed(sum(not is_in_time for is_in_time in put), len(matches) - len(told))
