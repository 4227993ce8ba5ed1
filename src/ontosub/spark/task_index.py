"""An index as the tasks of a job use it, whether each of them maps all of it or only a shard."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pyarrow as pa
from pyspark.sql import DataFrame

from ontosub.spark.passing import Made
from ontosub.spark.payloads import Options


class TaskIndex(ABC):
    """Where an index is, and the fingerprint of the ontology that it was made with. Workers are sent it as it is."""

    directory: str
    fingerprint: str

    def spread(self, frame: DataFrame, options: Options | None, *, keeps_rejects: bool) -> DataFrame:
        """Return a frame of payloads as tasks are to have it; see `gathered` and `matching`."""
        return frame

    def gathered(self, frame: DataFrame) -> DataFrame:
        """Return the results of a frame that was spread, without what was added to it."""
        return frame

    @abstractmethod
    def matching(self, options: Options | None, *, bindings: bool, encoded: bool = False) -> Callable[[pa.Table], Made]:
        """Return what one task, on a worker, does with tables of a frame that was spread: all with one version.

        `bindings` and `encoded` say what the matches are to be like, as in `Matcher.match_batch`.
        """

    @abstractmethod
    def version(self) -> int:
        """Return a number that changes when the index does."""

    @abstractmethod
    def copied(self, into: Path) -> int:
        """Make a new directory that keeps the version that is there now, and return its number."""

    @abstractmethod
    def at(self, directory: Path) -> Self:
        """Return the same index, as it is in another directory."""

    @abstractmethod
    def subscription_ids(self) -> list[str]:
        """Return the ids of the subscriptions that it holds now."""
