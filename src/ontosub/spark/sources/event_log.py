"""Events from an event log (`ontosub.event_log`), as a data source of Spark's that is written in Python.

Spark's offset is the log's own: the number of the next event, with the identity of the log, so that a checkpoint is
never continued with the events of another one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from ontosub.event_log import EventLogError, EventLogReader, Place
from ontosub.model.errors import UsageError
from ontosub.spark.schemas import EVENTS
from ontosub.spark.sources.source import Rows, Source, check_limit

FORMAT = "ontosub_events"
EARLIEST, LATEST = "earliest", "latest"

EVENTS_MAX = 20_000
BYTES_MAX = 128 * 1024 * 1024

TASK_EVENTS_MIN = 100
"""How many events are worth a task of their own."""

TASK_BYTES_MAX = 64 * 1024 * 1024
"""How much one task reads, more or less, in a batch without limits."""

Offset = dict[str, Any]

_STRETCH = pa.schema([(name, pa.int64()) for name in ("start", "stop", *Place._fields)])


@dataclass(frozen=True, slots=True)
class EventLogSource(Source):
    """The events of a log, from the `earliest` that is kept, from after the `latest`, or from an offset.

    A checkpoint, once there is one, goes before `start`. A micro-batch has at most `max_events` events with at most
    `max_bytes` bytes of ids, content types and payloads, but at least one event. It is read by `tasks` tasks, by
    default as many as the session has cores.
    """

    directory: str | Path
    max_events: int = EVENTS_MAX
    max_bytes: int | None = BYTES_MAX
    start: str | int = EARLIEST
    tasks: int | None = None

    def check(self) -> None:
        if self.max_events is None:
            raise UsageError("max_events is None: it should be a whole number above 0")
        for name in ("max_events", "max_bytes", "tasks"):
            check_limit(name, getattr(self, name))
        try:
            log = EventLogReader(self.directory)
            _first(log, self.start)
        except EventLogError as error:
            raise UsageError(f"directory: {error}") from None

    def identity(self) -> str:
        return f"event log {Path(self.directory).resolve()}"

    def stream(self, spark: SparkSession) -> DataFrame:
        spark.dataSource.register(EventLogDataSource)
        return spark.readStream.format(FORMAT).options(**self._options(spark)).load()

    def batch(self, spark: SparkSession) -> DataFrame:
        spark.dataSource.register(EventLogDataSource)
        return spark.read.format(FORMAT).options(**self._options(spark)).load()

    def rows(self, spark: SparkSession, *, endless: bool) -> Rows:
        spark.dataSource.register(EventLogDataSource)
        reader = spark.readStream if endless else spark.read
        frame = reader.format(FORMAT).options(**self._options(spark), references="true").load()
        return Rows(frame, partial(_events_at, str(Path(self.directory).resolve())))

    def _options(self, spark: SparkSession) -> dict[str, str]:
        options = {**asdict(self), "directory": Path(self.directory).resolve(), "tasks": self.tasks or _cores(spark)}
        return {name: str(value) for name, value in options.items() if value is not None}


def _cores(spark: SparkSession) -> int:
    try:
        return spark.sparkContext.defaultParallelism
    except AttributeError:  # a session of Spark Connect cannot tell
        return 2


def _first(log: EventLogReader, start: str | int) -> int:
    """Return the offset that `start` means. Raises UsageError when the log has no such event."""
    if start == EARLIEST:
        return log.start()
    if start == LATEST:
        return log.end()
    if not str(start).isdecimal():
        raise UsageError(f"start is {start!r}: it should be {EARLIEST!r}, {LATEST!r} or the number of an event")
    first, end = log.start(), log.end()
    if not first <= int(start) <= end:
        raise UsageError(f"start is {start}: the event log in {log.directory} has the events {first} to {end - 1}")
    return int(start)


@dataclass(frozen=True)
class Stretch(InputPartition):
    """What one task reads: events from `start` to before `stop`, the first of which is at `place`."""

    start: int
    stop: int
    place: Place


def stretches(log: EventLogReader, start: int, stop: int, tasks: int) -> list[Stretch]:
    """Return the events from `start` to before `stop` in parts, one for each task, of about the same number of bytes.

    What would be too much for so many tasks is parted by segments, which takes no search.
    """
    if start == stop:
        return []
    before, after = log.bytes_before(start), log.bytes_before(stop)
    if after - before > tasks * TASK_BYTES_MAX:
        cuts = log.segments(start, stop)
    else:
        count = max(1, min(tasks, (stop - start) // TASK_EVENTS_MIN))
        marks = [before + (after - before) * number // count for number in range(1, count)]
        cuts = [bisect_left(range(stop), mark, lo=start, key=log.bytes_before) for mark in marks]
    bounds = sorted({start, *cuts, stop})
    return [Stretch(low, high, log.place(low)) for low, high in pairwise(bounds)]


class EventLogDataSource(DataSource):
    """The data source `ontosub_events`. Its options are the fields of EventLogSource, which makes it.

    With one more, `references`, each task gives one row that says what it would have read.
    """

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return from_arrow_schema(_STRETCH) if "references" in self.options else EVENTS

    def reader(self, schema: StructType) -> DataSourceReader:
        return EventLogBatch(self.options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        return EventLogStream(self.options)


class EventLogBatch(DataSourceReader):
    """Reads what is in the log when the query is planned."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._directory, self._start, self._tasks = options["directory"], options["start"], int(options["tasks"])
        self._references = "references" in options

    def partitions(self) -> list[InputPartition]:
        log = EventLogReader(self._directory)
        return [*stretches(log, _first(log, self._start), log.end(), self._tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _read(self._directory, partition, self._references)


class EventLogStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the log as it grows. Spark has one of it on the driver, for offsets, and others on the workers, to read."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._directory, self._start, self._tasks = options["directory"], options["start"], int(options["tasks"])
        self._references = "references" in options
        self._max_events = int(options["max_events"])
        self._max_bytes = int(options["max_bytes"]) if "max_bytes" in options else None
        self._log = EventLogReader(self._directory)
        self._target: int | None = None

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        return self._offset(_first(self._log, self._start))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        return ReadMaxRows(self._max_events)

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802 - Spark's name
        first = self._number(start)
        if isinstance(limit, ReadAllAvailable):
            reached = self._log.end()
        else:
            rows = limit.max_rows if isinstance(limit, ReadMaxRows) else self._max_events
            reached = self._log.reach(first, max_events=rows, max_bytes=self._max_bytes)
        if self._target is not None:
            reached = max(first, min(reached, self._target))
        return self._offset(reached)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        self._target = self._log.end()

    def reportLatestOffset(self) -> Offset:  # noqa: N802 - Spark's name
        return self._offset(self._log.end())

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        return [*stretches(self._log, self._number(start), self._number(end), self._tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _read(self._directory, partition, self._references)

    def _offset(self, number: int) -> Offset:
        return {"log": self._log.id(), "event": number}

    def _number(self, offset: Offset) -> int:
        """Return the event that an offset means. Raises UsageError when it is not one of this log."""
        if offset["log"] != self._log.id():
            raise UsageError(f"the checkpoint belongs to another event log than the one in {self._directory} now")
        if offset["event"] > self._log.end():
            raise UsageError(f"the checkpoint is at event {offset['event']}: the log ends at {self._log.end()}")
        return int(offset["event"])


def _read(directory: str, partition: InputPartition, references: bool) -> Iterator[pa.RecordBatch]:
    if not isinstance(partition, Stretch):  # Spark makes another kind up when there are none
        return
    if references:
        told = (partition.start, partition.stop, *partition.place)
        yield pa.RecordBatch.from_arrays([pa.array([number], pa.int64()) for number in told], schema=_STRETCH)
    else:
        yield from EventLogReader(directory).read(partition.start, partition.stop, place=partition.place)


def _events_at(directory: str, stretches: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the events of stretches that `_read` has told."""
    log = EventLogReader(directory)
    for row in stretches.to_pylist():
        start, stop, *place = row.values()
        yield from log.read(start, stop, place=Place(*place))
