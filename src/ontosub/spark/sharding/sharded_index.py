"""A sharded index as a job uses it: events are sent to tasks, each of which maps one shard and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from ontosub.matching import Matcher
from ontosub.matching.batch import MATCHES, Batch
from ontosub.matching.batch import encoded as as_encoded
from ontosub.matching.compiled.files.directory import open_index, read_manifest
from ontosub.matching.compiled.files.fingerprint import fingerprint
from ontosub.matching.compiled.files.snapshot import take_snapshot
from ontosub.model import Ontology, Subscription
from ontosub.model.errors import UsageError
from ontosub.spark.answering import answered
from ontosub.spark.passing import Made, staged
from ontosub.spark.payloads import Options, Payloads
from ontosub.spark.schemas import ARROW_REJECT, REJECT
from ontosub.spark.sharding.router import changed
from ontosub.spark.sharding.routing import ADDED, NUMBERS, ROUTED, SHARD, Chosen, Routing
from ontosub.spark.sharding.table import is_sharded, read_table, shard_path, write_table
from ontosub.spark.task_index import TaskIndex
from ontosub.spark.worker_index import WorkerIndex, close


@dataclass(frozen=True, slots=True)
class ShardedIndex(TaskIndex):
    """Where shards are, the fingerprint of their ontology, and the version of each: a query works with these only."""

    directory: str
    fingerprint: str
    generations: tuple[int, ...]

    @classmethod
    def open(cls, directory: str | Path, ontology: Ontology | None = None) -> Self:
        """Return the sharded index in a directory, after checking all of its checksums.

        Raises IndexDirectoryError when there is none, when it is corrupt or half saved, or of another ontology.
        """
        directory = Path(directory).resolve()
        table = read_table(directory, fingerprint=None if ontology is None else fingerprint(ontology))
        for shard, generation in enumerate(table.generations):
            opened = open_index(shard_path(directory, shard), fingerprint=table.fingerprint)
            if opened.manifest.generation != generation:
                raise changed(str(directory))
        return cls(str(directory), table.fingerprint, table.generations)

    def spread(self, frame: DataFrame, options: Options | None, *, keeps_rejects: bool) -> DataFrame:
        """Return the events of a frame, each once for every shard that it concerns, so that a task has one shard."""
        taken = [name for name in frame.columns if name.lower() in ADDED]
        if taken:
            raise UsageError(f"the column {taken[0]} is in the way of one that Ontosub adds: rename it")
        ways = staged(
            frame,
            ROUTED,
            lambda through: Routing(self.directory, self.generations, options, through).run,
            keeps_rejects=keeps_rejects,
        )
        tasks = -(-_parallelism(frame) // len(self.generations))
        # By the id, since a payload that is written once more may have other labels for its blank nodes.
        task = sql.col(SHARD) * tasks + sql.pmod(sql.hash("event_id"), sql.lit(tasks))
        return ways.repartitionById(tasks * len(self.generations), task)

    def gathered(self, frame: DataFrame) -> DataFrame:
        return frame.drop(*ADDED)

    def matching(self, options: Options | None, *, bindings: bool, encoded: bool = False) -> Callable[[pa.Table], Made]:
        """Return what a task does: match rows with the shard that they name, and pass on what was rejected before."""

        def make(table: pa.Table) -> Made:
            shards = np.array(table[SHARD].fill_null(-1))
            parts = [_rejected_before(table, bindings=bindings)]
            for shard in np.unique(shards[shards >= 0]).tolist():
                rows = np.flatnonzero(shards == shard)
                parts.append(_matched(self.opened(shard), table, rows, options, bindings=bindings))
            made = _joined(parts)
            return made._replace(results=as_encoded(made.results)) if encoded else made

        return make

    def opened(self, shard: int) -> Matcher:
        """Return a matcher with a shard. This process lets go of all others: it is not to need memory for them.

        Raises IndexDirectoryError when it is of another version by now.
        """
        directory = Path(self.directory)
        own = shard_path(directory, shard)
        close(str(shard_path(directory, other)) for other in range(len(self.generations)) if other != shard)
        matcher = WorkerIndex(str(own), self.fingerprint).current()
        if read_manifest(own).generation != self.generations[shard]:
            raise changed(self.directory)
        return matcher

    def version(self) -> int:
        return read_table(Path(self.directory), fingerprint=self.fingerprint).generation

    def copied(self, into: Path) -> int:
        directory = Path(self.directory)
        table = read_table(directory, fingerprint=self.fingerprint)
        into.mkdir(parents=True)
        for shard, generation in enumerate(table.generations):
            taken = take_snapshot(shard_path(directory, shard), shard_path(into, shard), fingerprint=self.fingerprint)
            if taken.generation != generation:
                raise changed(self.directory)
        write_table(into, table)
        return table.generation

    def at(self, directory: Path) -> Self:
        table = read_table(directory, fingerprint=self.fingerprint)
        return type(self)(str(directory), self.fingerprint, table.generations)

    def subscription_ids(self) -> list[str]:
        paths = [shard_path(Path(self.directory), shard) for shard in range(len(self.generations))]
        opened = (Matcher.open(path, algorithm="provisional", verify=False) for path in paths)
        return [name for matcher in opened for name in matcher.subscriptions]


def _parallelism(frame: DataFrame) -> int:
    """Return how many tasks can run at once."""
    try:
        return max(1, frame.sparkSession.sparkContext.defaultParallelism)
    except PySparkException:  # a client of Spark Connect cannot know
        return 1


def _matched(matcher: Matcher, table: pa.Table, rows: Any, options: Options | None, *, bindings: bool) -> Made:
    """Match some rows of a table that was routed."""
    chosen = pa.array(rows, pa.int64())
    piece = table.select(ROUTED.names).take(chosen)
    batch = Batch(piece)
    events = Chosen(Payloads(batch, options), piece[NUMBERS].to_pylist())
    made = answered(matcher, batch, events, bindings=bindings)
    return made._replace(sources=chosen.take(made.sources), reject_sources=chosen.take(made.reject_sources))


def _rejected_before(table: pa.Table, *, bindings: bool) -> Made:
    """Return what is in a table of earlier rejects, and no matches."""
    matches = MATCHES.empty_table() if bindings else MATCHES.empty_table().drop_columns("bindings")
    nothing = pa.array([], pa.int64())
    if REJECT.name not in table.column_names:
        return Made(matches, nothing, pa.array([], ARROW_REJECT), nothing)
    rejects = table[REJECT.name].combine_chunks()
    rows = np.flatnonzero(np.array(rejects.is_valid()))
    return Made(matches, nothing, rejects.take(pa.array(rows)).cast(ARROW_REJECT), pa.array(rows, pa.int64()))


def _joined(parts: list[Made]) -> Made:
    tables, sources, rejects, reject_sources = zip(*parts, strict=True)
    return Made(
        pa.concat_tables(tables, promote_options="default"),
        pa.concat_arrays(sources),
        pa.concat_arrays(rejects),
        pa.concat_arrays(reject_sources),
    )


def index_of(
    ontology: Ontology | None, subscriptions: Iterable[Subscription] | Matcher | ShardedIndex | str | Path
) -> TaskIndex:
    """Return the index of subscriptions, sharded or not: as `WorkerIndex.of` does, if it is not the path of shards."""
    if isinstance(subscriptions, ShardedIndex):
        return ShardedIndex.open(subscriptions.directory, ontology)
    if isinstance(subscriptions, str | Path) and is_sharded(Path(subscriptions)):
        return ShardedIndex.open(subscriptions, ontology)
    return WorkerIndex.of(ontology, subscriptions)
