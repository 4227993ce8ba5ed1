"""The stage that composes: matches in, detections of composite events out."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.pandas.types import from_arrow_schema

from ontosub.composite.moments import ticks_of
from ontosub.inputs.option_types import duration
from ontosub.model.composite import Composite
from ontosub.model.errors import UsageError
from ontosub.spark.composing.keys import SHARDS_MAX, shard_keys
from ontosub.spark.composing.matches import check_matches, check_streaming
from ontosub.spark.composing.packing import CHUNKS, Packing
from ontosub.spark.composing.shard import Chunk, Work
from ontosub.spark.composing.standing import standing_of
from ontosub.spark.composing.stateful import Composing
from ontosub.spark.composing.telling import REPORTS, report, tell
from ontosub.spark.passing import Stage
from ontosub.spark.schemas import DETECTIONS, MATCHES

SHARDS = 2


def compose(
    composites: Iterable[Composite] | str | Path,
    *,
    lateness: str | timedelta | None = None,
    lifetime: str | timedelta | None = None,
    shards: int | None = None,
    name: str = "compose",
) -> Stage:
    """Return the stage that turns a frame of matches (MATCHES) into one of detections (DETECTIONS).

    `composites` are composite subscriptions, or the path of a file of them (`save_composites`), which is looked at in
    each micro-batch. Columns beyond MATCHES are dropped, since a detection is made of several rows.

    On a stream, with `lateness`, the watermark follows the latest match at that distance, from one micro-batch to the
    next; without, it is the watermark that the frame has (`withWatermark`), at whatever stage. A batch is decided as if
    the watermark had passed all of it. `lifetime` is how long a match may be part of composites. Composites are divided
    over so many `shards`, which a checkpoint keeps to. `name` is what the counts are observed by.

    Raises UsageError when an option makes no sense, and the stage does when it is given a frame that does not fit.
    """
    shards = SHARDS if shards is None else shards
    if not isinstance(shards, int) or not 1 <= shards <= SHARDS_MAX:
        raise UsageError(f"shards is a number from 1 to {SHARDS_MAX:,}, not {shards!r}")
    standing, keys = standing_of(composites), shard_keys(shards)
    allowed, lasting = _duration("lateness", lateness), _duration("lifetime", lifetime)
    distance = None if allowed is None else ticks_of(allowed)

    def stage(frame: DataFrame) -> DataFrame:
        check_matches(frame)
        work = Work(uuid4().hex, standing, keys, distance, lasting)
        packed = frame.select(*MATCHES.names).mapInArrow(Packing(standing, keys).run, from_arrow_schema(CHUNKS))
        reports = _streamed(frame, packed, work) if frame.isStreaming else _at_once(packed, work)
        counts = [sql.coalesce(sql.sum(count), sql.lit(0)).alias(count) for count in REPORTS.names[2:]]
        return reports.observe(name, *counts).mapInArrow(tell, DETECTIONS)

    return stage


def _streamed(frame: DataFrame, packed: DataFrame, work: Work) -> DataFrame:
    has_timers = work.lateness is None
    check_streaming(frame, needs_watermark=has_timers)
    composing = Composing(work, has_timers=has_timers)
    return packed.groupBy("shard").transformWithState(
        composing, from_arrow_schema(REPORTS), "append", "EventTime" if has_timers else "None"
    )


def _at_once(packed: DataFrame, work: Work) -> DataFrame:
    def composed(key: tuple[pa.Scalar, ...], chunks: pa.Table) -> pa.Table:
        number = key[0].as_py()
        shard = work.begun(number)
        done = shard.take([Chunk(*row[1:]) for row in zip(*(each.to_pylist() for each in chunks.columns), strict=True)])
        done.detections.extend(shard.finish())
        return pa.Table.from_pylist([report(number, shard, done)], schema=REPORTS)

    return packed.groupBy("shard").applyInArrow(composed, from_arrow_schema(REPORTS))


def _duration(option: str, given: str | timedelta | None) -> timedelta | None:
    if given is None:
        return None
    if isinstance(given, str):
        return duration(option, given)
    if not isinstance(given, timedelta) or given < timedelta(0):
        raise UsageError(f"{option} is a length of time, such as 30 s or a timedelta, not {given!r}")
    return given
