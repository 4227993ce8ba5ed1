"""What would have matched: the same pass over a bounded frame, and what each subscription would have had of it.

For composites, the frame is a finished history: what nobody can change any more is decided at its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from ontosub.composite import Detection, Detector
from ontosub.composite.moments import FOREVER
from ontosub.composite.overrun import overrun_warning
from ontosub.composite.table import Fed, feed, latest_of, spans_of, table_of
from ontosub.model.composite import Composite
from ontosub.pipeline.checkpoint import State
from ontosub.pipeline.composing import Composed, Operands, Timing, matches_in
from ontosub.pipeline.plan import Plan
from ontosub.pipeline.staging import Outcome
from ontosub.pipeline.standing import Say
from ontosub.pipeline.work import Work

_ROWS_MAX = 100_000
"""How many matches are composed at once."""


@dataclass(frozen=True, slots=True)
class Fired:
    """How often a subscription would have fired, and some of the events, with their answers."""

    subscription_id: str
    events: int
    samples: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Backtest:
    """What a backtest has found: subscriptions by how often they would have fired, those that would not have, too.

    Of the `composites` among them, the events that are counted are composite ones.
    """

    outcome: Outcome
    fired: list[Fired]
    composites: frozenset[str] = frozenset()


def backtest(plan: Plan, spark: SparkSession, folder: Path, *, samples: int, say: Say) -> Backtest:
    """Match all that the source holds against the subscriptions that stand; `folder` is for what is made meanwhile.

    Nothing is delivered, and the pipeline's own state is not touched.
    """
    plan.source.check()
    staging = folder / "staging"
    staging.mkdir(parents=True)
    standing = plan.standing(State(folder, plan.name, plan.source.identity()), say)
    index, composites, operands = standing.index(), standing.composites, Operands.of(standing.composites)
    rows = plan.source.rows(spark, endless=False)
    work = Work(index, plan.options, plan.bindings, str(staging), rows.read, operands if composites else None)
    outcome = work.done(rows.frame)
    told = [*(name for name in index.subscription_ids() if name not in operands.inside), *composites]
    tally = _Tally(Counter(dict.fromkeys(told, 0)), {}, samples)
    for name in outcome.matches_files:
        with pq.ParquetFile(staging / name) as file:
            for piece in file.iter_batches():
                tally.add(piece, _sample)
    if composites:
        files = [staging / name for name in outcome.operands_files]
        found, unused, overruns = _detected(composites, plan.timing, files)
        outcome = replace(outcome, detections=len(found), untimed=unused.untimed, overruns=overruns)
        for name, count in overruns.items():
            say(overrun_warning(name, count))
        for piece in table_of(found).to_batches():
            tally.add(piece, _composite_sample)
    fired = [Fired(each, count, tally.shown.get(each, [])) for each, count in tally.counted.most_common()]
    return Backtest(outcome, fired, frozenset(composites))


def _detected(composites: Mapping[str, Composite], timing: Timing, files: Iterable[Path]) -> Composed:
    detector = Detector(lifetime=timing.lifetime)
    for composite in composites.values():
        detector.subscribe(composite)
    matches, found, untimed = matches_in(files), list[Detection](), 0
    in_order = matches.take(pc.sort_indices(spans_of(matches).end))
    for start in range(0, len(in_order), _ROWS_MAX):  # so that the detector may forget
        piece = in_order.slice(start, _ROWS_MAX)
        untimed += feed(detector, piece).untimed
        latest = latest_of(piece)
        found += detector.advance_to(latest - 1) if latest is not None else []
    found += detector.advance_to(FOREVER - 1)
    return Composed(found, Fed(0, untimed), detector.overruns)


@dataclass(frozen=True, slots=True)
class _Tally:
    """How often subscriptions have fired so far, and the first matches of each."""

    counted: Counter[str]
    shown: dict[str, list[dict[str, Any]]]
    wanted: int

    def add(self, piece: pa.RecordBatch, sample: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Take in some matches or detections, of which `sample` shows one."""
        ids = piece["subscription_id"]
        for each in ids.value_counts().to_pylist():
            self.counted[each["values"]] += each["counts"]
        wanting = [name for name in ids.unique().to_pylist() if len(self.shown.get(name, ())) < self.wanted]
        for row in piece.filter(pc.is_in(ids, pa.array(wanting, pa.string()))).to_pylist() if wanting else ():
            found = self.shown.setdefault(row["subscription_id"], [])
            if len(found) < self.wanted:
                found.append(sample(row))


def _composite_sample(row: dict[str, Any]) -> dict[str, Any]:
    return {**_sample({**row, "event_id": row["detection_id"]}), "events": row["event_ids"]}


def _sample(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "event": row["event_id"],
        "time": None if row["time_start"] is None else row["time_start"].isoformat(),
        "bindings": [dict(binding) for binding in row["bindings"]],
    }
