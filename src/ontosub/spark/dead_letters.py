"""Taking apart a frame that holds results and dead letters."""

from __future__ import annotations

from pyspark.sql import DataFrame

from ontosub.model.errors import UsageError
from ontosub.spark.schemas import EVENTS, MATCHES, REJECT


def accepted(frame: DataFrame) -> DataFrame:
    """Return the results of `outcomes` or `decode`: the rows that are not rejected, without the column `reject`."""
    _check(frame)
    return frame.where(frame[REJECT.name].isNull()).drop(REJECT.name)


def rejected(frame: DataFrame) -> DataFrame:
    """Return the dead letters of `outcomes` or `decode` as REJECTS, with the user's own columns behind."""
    _check(frame)
    ours = {*EVENTS.names, *MATCHES.names, REJECT.name}
    told = [frame[REJECT.name][field.name].alias(field.name) for field in REJECT.dataType]  # type: ignore[attr-defined]
    extra = [frame["`" + name.replace("`", "``") + "`"] for name in frame.columns if name not in ours]
    return frame.where(frame[REJECT.name].isNotNull()).select("event_id", *told, *extra)


def _check(frame: DataFrame) -> None:
    if REJECT.name not in frame.columns or frame.schema[REJECT.name].dataType != REJECT.dataType:
        raise UsageError("the frame lacks the column reject: this takes what outcomes(...) or decode(...) has made")
