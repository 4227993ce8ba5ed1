"""What a sink is: where the rows of micro-batches are delivered, each batch once, however often it is tried."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ontosub.sinks.moments import within_calendar

ROWS_MAX, BYTES_MAX = 1_000, 32 * 1024 * 1024
"""How many rows, and about how many bytes of them as they are stored, are held in memory at once.

Texts that repeat are stored once: the number of rows bounds what becomes of them in memory.
"""


@dataclass(frozen=True, slots=True)
class Delivery:
    """The rows of one micro-batch of a pipeline, in Parquet files that are there until the delivery has succeeded.

    They are matches or rejects (`ontosub.matching.batch`) or detections (`ontosub.composite.table`), as `schema` tells.
    A micro-batch that is delivered again, after a crash, may come in other files and in another order, but is the same
    batch.
    """

    pipeline: str
    batch: int
    schema: pa.Schema
    files: tuple[Path, ...]

    def tables(self) -> Iterator[pa.Table]:
        """Yield the rows, piece by piece, with moments that every reader can hold."""
        for path in self.files:
            with pq.ParquetFile(path) as file:
                for piece in file.iter_batches(_rows_at_once(file.metadata)):
                    yield within_calendar(pa.Table.from_batches([piece]).cast(self.schema))


def _rows_at_once(file: pq.FileMetaData) -> int:
    stored = sum(file.row_group(group).total_byte_size for group in range(file.num_row_groups))
    return max(1, min(ROWS_MAX, BYTES_MAX * int(file.num_rows) // max(1, int(stored))))


class Sink(ABC):
    """Where rows go. Lives on the driver."""

    @abstractmethod
    def open(self) -> None:
        """Check, before anything runs, all that can be checked, and make what has to be there.

        Raises UsageError with the name of the option that is wrong, or Unavailable.
        """

    @abstractmethod
    def deliver(self, delivery: Delivery) -> None:
        """Deliver a batch that may have been delivered before, in whole or in part: afterwards it is there once.

        Raises Unavailable when it may succeed later; then the same batch is delivered again.
        """

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Let go of what `open` has taken."""
