"""What a source is: where events come from, as an endless frame or, for what is there already, as a bounded one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ontosub.model.errors import OntosubError, UsageError

Read: TypeAlias = Callable[[pa.RecordBatch], Iterator[pa.RecordBatch]]
"""How a worker gets at events (EVENTS) from rows that say where they are."""


class Rows(NamedTuple):
    """A frame of events or, with `read`, of where they are: then payloads need not go through the JVM."""

    frame: DataFrame
    read: Read | None = None


class Source(ABC):
    """Where events come from. Frames have the columns of EVENTS and no others."""

    @abstractmethod
    def check(self) -> None:
        """Check, before anything starts, all that can be checked without Spark.

        Raises UsageError with the name of the option that is wrong.
        """

    @abstractmethod
    def identity(self) -> str:
        """Return the kind and the location of the source: what a checkpoint is bound to.

        A checkpoint that was made with a source of another identity must not be continued with this one.
        """

    @abstractmethod
    def stream(self, spark: SparkSession) -> DataFrame:
        """Return the events that are there and those that will come, in micro-batches of limited size."""

    def rows(self, spark: SparkSession, *, endless: bool) -> Rows:
        """Return the rows of `stream`, if they are to be endless, or of `batch`, as is best for workers of ours."""
        return Rows(self.stream(spark) if endless else self.batch(spark))

    def explained(self, error: BaseException) -> OntosubError | None:
        """Return what the failure of a query that reads from here means, if the source is behind it and knows."""
        return None

    @abstractmethod
    def batch(self, spark: SparkSession) -> DataFrame:
        """Return the events that are there."""


def check_limit(name: str, value: int | None) -> None:
    """Raise UsageError unless a limit is a positive number, or none."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise UsageError(f"{name} is {value!r}: it should be a whole number above 0")
