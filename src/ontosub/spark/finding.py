"""The stage that matches: payloads in, matches out, in one pass of Arrow tables through the matcher."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame

from ontosub.matching import Matcher
from ontosub.matching.batch import MATCHES
from ontosub.model import Ontology, Subscription
from ontosub.model.errors import UsageError
from ontosub.spark.answering import matched
from ontosub.spark.decoding import Decode
from ontosub.spark.passing import ArrowFunction, Passing, Stage, staged
from ontosub.spark.payloads import Options
from ontosub.spark.sharding.sharded_index import ShardedIndex, index_of
from ontosub.spark.task_index import TaskIndex

Subscriptions = Iterable[Subscription] | Matcher | ShardedIndex | str | Path


def match(
    ontology: Ontology | None, subscriptions: Subscriptions, *, bindings: bool = True, after: Decode | None = None
) -> Stage:
    """Return the stage that turns a frame of events (EVENTS) into one of their matches (MATCHES).

    `subscriptions` are subscriptions, a matcher, which is copied as it stands, or the path of an index that
    `Matcher.save` or `shard_index` made; with the latter two, None takes the ontology that they have. Columns beyond
    EVENTS are repeated on each match of their event. Rejected payloads are left out: see `outcomes`. Without `bindings`
    the matches lack that column and are found faster. `after=decode(…)` decodes payloads in the same pass.

    Raises IndexDirectoryError when the path leads to no index, or to one of another ontology. The stage raises
    UsageError when it is given a frame whose columns do not fit.
    """
    return _stage(ontology, subscriptions, after, bindings=bindings, keeps_rejects=False)


def outcomes(
    ontology: Ontology | None, subscriptions: Subscriptions, *, bindings: bool = True, after: Decode | None = None
) -> Stage:
    """Return the stage that does what `match` does and keeps the rejects, in one frame with a column `reject`.

    It is null in a match. Where it is not, the row is a dead letter: `reject` says what REJECTS says, and the columns
    of a match are null. `accepted` and `rejected` take the frame apart.
    """
    return _stage(ontology, subscriptions, after, bindings=bindings, keeps_rejects=True)


def _stage(
    ontology: Ontology | None,
    subscriptions: Subscriptions,
    after: Decode | None,
    *,
    bindings: bool,
    keeps_rejects: bool,
) -> Stage:
    if after is not None and not isinstance(after, Decode):
        raise UsageError("after takes what decode(…) gives")
    index = index_of(ontology, subscriptions)
    options = None if after is None else after.options
    own = MATCHES if bindings else MATCHES.remove(MATCHES.get_field_index("bindings"))

    def stage(frame: DataFrame) -> DataFrame:
        def task(through: Passing) -> ArrowFunction:
            return Matching(index, through, options, bindings).run

        tasks = index.spread(frame, options, keeps_rejects=keeps_rejects)
        return index.gathered(staged(tasks, own, task, keeps_rejects=keeps_rejects))

    return stage


@dataclass(frozen=True, slots=True)
class Matching:
    """What a worker is sent: where the index is, how columns pass, and how payloads are read."""

    index: TaskIndex
    through: Passing
    options: Options | None
    bindings: bool

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match the rows of one task, all of them with the version of the index that is there when the first come."""
        return self.through.batches(batches, self.index.matching(self.options, bindings=self.bindings))


__all__ = ["Matching", "Subscriptions", "match", "matched", "outcomes"]
