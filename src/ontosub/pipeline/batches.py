"""A micro-batch from its rows to its sinks: pinned, worked on, composed, staged, delivered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from ontosub.composite.overrun import overrun_warning
from ontosub.composite.table import table_of
from ontosub.disk import sync
from ontosub.pipeline.composing import Composing, Operands
from ontosub.pipeline.delivering import Delivering
from ontosub.pipeline.snapshots import Snapshots
from ontosub.pipeline.staging import Outcome, Staging
from ontosub.pipeline.standing import Say, Standing
from ontosub.pipeline.work import Work
from ontosub.spark.payloads import Options
from ontosub.spark.sources import Read


@dataclass(frozen=True, slots=True)
class Done:
    """A micro-batch that all sinks have, and how long it took."""

    batch: int
    outcome: Outcome
    seconds: float


@dataclass(frozen=True, slots=True)
class Batches:
    """What `foreachBatch` calls."""

    standing: Standing
    snapshots: Snapshots
    composing: Composing
    staging: Staging
    delivering: Delivering
    options: Options | None
    bindings: bool
    read: Read | None
    on_done: Callable[[Done], None]
    say: Say
    clock: Callable[[], float] = perf_counter

    def process(self, frame: DataFrame, batch: int) -> None:
        """Bring a micro-batch to all sinks, where it may have been before, and then say that it is done."""
        start = self.clock()
        outcome = self.staging.outcome(batch) or self.work(frame, batch)
        self.delivering.deliver(batch, outcome)
        self.on_done(Done(batch, outcome, self.clock() - start))

    def work(self, frame: DataFrame, batch: int) -> Outcome:
        """Decode, match and compose, with the subscriptions that stand now, and stage what comes of it."""
        self.standing.refresh()
        folder, composites = self.staging.begin(batch), self.standing.composites
        operands = Operands.of(composites) if composites else None
        work = Work(self.snapshots.pin(), self.options, self.bindings, str(folder), self.read, operands)
        outcome = work.done(frame)
        files = [folder / name for name in outcome.operands_files]
        found, unused, overruns = self.composing.compose(batch, composites, files, outcome.latest)
        outcome = replace(outcome, detections=len(found), late=unused.late, untimed=unused.untimed, overruns=overruns)
        for name, count in overruns.items():
            self.say(overrun_warning(name, count))
        if found:
            path = folder / "detections.parquet"
            pq.write_table(table_of(found), path)
            sync(path)
            outcome = replace(outcome, detections_files=(path.name,))
        self.staging.complete(batch, outcome)
        return outcome
