"""The schemas of frames, made from those of Arrow, so that a table means the same with and without Spark."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from ontosub.composite import table
from ontosub.matching import batch

ARROW_EVENTS, OPTIONAL = batch.EVENTS, batch.OPTIONAL
"""What comes in, and the columns of it that a frame may leave out."""

ARROW_REJECT = pa.struct([field.with_nullable(True) for field in batch.REJECTS if field.name != "event_id"])

EVENTS: StructType = from_arrow_schema(ARROW_EVENTS)
"""What comes in: one row per payload. `time_start` and `time_end` may be missing."""

MATCHES: StructType = from_arrow_schema(batch.MATCHES)
"""One row per match. A binding maps variable names to terms in N-Triples syntax."""

REJECTS: StructType = from_arrow_schema(batch.REJECTS)
"""One row per payload, or record of one, that could not be read or not be decided for all subscriptions."""

DETECTIONS: StructType = from_arrow_schema(table.DETECTIONS)
"""One row per composite event that was detected. `constituents` is the tree of what it is made of, as JSON."""

REJECT = StructField("reject", from_arrow_schema(pa.schema(list(ARROW_REJECT))), nullable=True)
"""The column of frames that hold results and dead letters: null in a result, else what REJECTS says."""
