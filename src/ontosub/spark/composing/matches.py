"""The frame of matches that is composed, checked before anything runs."""

from __future__ import annotations

from pyspark.sql import DataFrame

from ontosub.model.errors import UsageError
from ontosub.spark.embedded import ROCKSDB
from ontosub.spark.schemas import MATCHES

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"


def check_matches(frame: DataFrame) -> None:
    """Raise UsageError, with the name of the column, unless a frame has the columns of MATCHES."""
    if not isinstance(frame, DataFrame):
        raise UsageError(f"a stage takes a DataFrame of Spark, not {type(frame).__name__}: use df.transform(stage)")
    for wanted in MATCHES:
        found = [field for field in frame.schema if field.name.lower() == wanted.name]  # as Spark compares
        if wanted.name not in frame.columns:
            has = ", ".join(frame.columns) or "none"
            hint = ": match without bindings=False" if wanted.name == "bindings" else f": it has {has}"
            raise UsageError(f"the frame lacks the column {wanted.name}{hint}")
        if len(found) > 1:
            raise UsageError(f"the frame has more than one column {wanted.name}")
        has, asked = found[0].dataType.simpleString(), wanted.dataType.simpleString()
        if has != asked:
            raise UsageError(f"the column {wanted.name} is of type {has}: cast it to {asked}")


def check_streaming(frame: DataFrame, *, needs_watermark: bool) -> None:
    """Raise UsageError unless state can be kept for a streaming frame, and time is told somehow."""
    if frame.sparkSession.conf.get(_PROVIDER, "") != ROCKSDB:
        raise UsageError(f"composing keeps state, which takes RocksDB: set {_PROVIDER} to {ROCKSDB}")
    plan = getattr(frame, "_jdf", None)  # Spark Connect has none, and tells it when the query starts
    if needs_watermark and plan is not None and "EventTimeWatermark" not in plan.queryExecution().analyzed().toString():
        raise UsageError("nothing tells how late matches may come: give lateness=…, or the frame a watermark")
