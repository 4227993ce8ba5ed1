"""What would have matched: the same pass over a bounded frame, and what each subscription would have had of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from ontosub.pipeline.checkpoint import State
from ontosub.pipeline.plan import Plan
from ontosub.pipeline.staging import Outcome
from ontosub.pipeline.standing import Say
from ontosub.pipeline.work import Work


@dataclass(frozen=True, slots=True)
class Fired:
    """How often a subscription would have fired, and some of the events, with their answers."""

    subscription_id: str
    events: int
    samples: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Backtest:
    """What a backtest has found: subscriptions by how often they would have fired, those that would not have, too."""

    outcome: Outcome
    fired: list[Fired]


def backtest(plan: Plan, spark: SparkSession, folder: Path, *, samples: int, say: Say) -> Backtest:
    """Match all that the source holds against the subscriptions that stand; `folder` is for what is made meanwhile.

    Nothing is delivered, and the pipeline's own state is not touched.
    """
    plan.source.check()
    staging = folder / "staging"
    staging.mkdir(parents=True)
    index = plan.standing(State(folder, plan.name, plan.source.identity()), say).index()
    rows = plan.source.rows(spark, endless=False)
    outcome = Work(index, plan.options, plan.bindings, str(staging), rows.read).done(rows.frame)
    standing = index.subscription_ids()
    tally = _Tally(Counter(dict.fromkeys(standing, 0)), {}, samples)
    for name in outcome.matches_files:
        with pq.ParquetFile(staging / name) as file:
            for piece in file.iter_batches():
                tally.add(piece)
    return Backtest(
        outcome, [Fired(each, count, tally.shown.get(each, [])) for each, count in tally.counted.most_common()]
    )


@dataclass(frozen=True, slots=True)
class _Tally:
    """How often subscriptions have fired so far, and the first matches of each."""

    counted: Counter[str]
    shown: dict[str, list[dict[str, Any]]]
    wanted: int

    def add(self, piece: pa.RecordBatch) -> None:
        """Take in some matches."""
        ids = piece["subscription_id"]
        for each in ids.value_counts().to_pylist():
            self.counted[each["values"]] += each["counts"]
        wanting = [name for name in ids.unique().to_pylist() if len(self.shown.get(name, ())) < self.wanted]
        for row in piece.filter(pc.is_in(ids, pa.array(wanting, pa.string()))).to_pylist() if wanting else ():
            found = self.shown.setdefault(row["subscription_id"], [])
            if len(found) < self.wanted:
                found.append(_sample(row))


def _sample(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "event": row["event_id"],
        "time": None if row["time_start"] is None else row["time_start"].isoformat(),
        "bindings": [dict(binding) for binding in row["bindings"]],
    }
