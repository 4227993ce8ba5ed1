"""How fast a pipeline is, next to the matcher that it runs: throughput to Parquet files, latency to a SQL log."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.sql import SparkSession

from ontosub.bench.workloads import WORKLOADS
from ontosub.event_log import EventLog
from ontosub.matching import Matcher
from ontosub.model.errors import OntosubError
from ontosub.pipeline.batches import Done
from ontosub.pipeline.config import Config
from ontosub.pipeline.running import Running

DISTINCT = 500
"""How many events are drawn; the stream repeats them under other ids."""

WARMING = 2
"""How many micro-batches pass before all workers have started: each task has two, which take turns."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """Events per second: of `match_batch` on one core, and of the pipeline, once its workers are warm."""

    single: float
    pipeline: float
    cores: int
    matches_per_event: float

    @property
    def ratio(self) -> float:
        """What the pipeline reaches of what its cores could do if there was nothing but matching."""
        return self.pipeline / (self.single * self.cores)


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from an event's publication to its notification, seen by a reader of the SQL log."""

    median: float
    p99: float
    events: int


class Setting:
    """An index of a workload, and logs to which its events can be appended; all of it in a folder."""

    def __init__(self, folder: Path, name: str, subscriptions: int, seed: int) -> None:
        workload = WORKLOADS[name].generate(subscriptions, DISTINCT, seed)
        self.folder = folder
        folder.mkdir(parents=True)
        self.matcher = Matcher(workload.ontology, "compiled")
        for subscription in workload.subscriptions:
            self.matcher.subscribe(subscription)
        self.matcher.save(folder / "index")
        self._payloads = [each.payload for each in workload.events]

    def events(self, start: int, stop: int) -> pa.Table:
        """Return events of the stream by their numbers."""
        numbers = range(start, stop)
        return pa.table(
            {
                "event_id": [f"e{number}" for number in numbers],
                "content_type": ["application/n-triples"] * len(numbers),
                "payload": pa.array([self._payloads[number % DISTINCT] for number in numbers], pa.binary()),
            }
        )

    def config(self, name: str, sink: dict[str, str], *, bindings: bool) -> Config:
        """Return a pipeline from the log of that name to a sink."""
        return Config(
            name,
            {"kind": "log", "directory": str(self.folder / name)},
            str(self.folder / f"{name}.state"),
            index=str(self.folder / "index"),
            sinks=[sink],
            bindings=bindings,
        )


def throughput(setting: Setting, spark: SparkSession, events: int, *, bindings: bool) -> Throughput:
    """Return how fast the pipeline is from a log to Parquet files. Raises OntosubError when a match is missing."""
    name = "answers" if bindings else "ids"
    with EventLog(setting.folder / name) as log:
        for start in range(0, events, DISTINCT):
            log.append(setting.events(start, min(events, start + DISTINCT)))
    table = setting.events(0, DISTINCT)
    expected = setting.matcher.match_batch(table, bindings=bindings).matches
    single = _rate(lambda: setting.matcher.match_batch(table, bindings=bindings), len(table))
    done: list[tuple[float, Done]] = []
    sink = {"kind": "parquet", "path": str(setting.folder / f"{name}.out")}
    config = setting.config(name, sink, bindings=bindings)
    Running(
        config.plan(), spark, say=lambda told: None, on_done=lambda each: done.append((time.perf_counter(), each))
    ).run(once=True)
    if len(done) <= WARMING:
        raise OntosubError(
            f"{events:,} events are {len(done)} micro-batches: take more, the first {WARMING} only warm up"
        )
    (first, _), (last, _) = done[WARMING - 1], done[-1]
    timed = sum(each.outcome.payloads for _, each in done[WARMING:])
    _check(setting.folder / f"{name}.out" / "matches", expected, events)
    return Throughput(single, timed / (last - first), spark.sparkContext.defaultParallelism, len(expected) / DISTINCT)


def _rate(call: Callable[[], object], events: int, times: int = 5) -> float:
    """Return how many events a call does in a second of one core's time, at its best."""
    best = min(_timed(call) for _ in range(times))
    return events / best


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _check(folder: Path, expected: pa.Table, events: int) -> None:
    """Check that every event of the stream has the matches of the event that it repeats."""
    found = ds.dataset(folder, format="parquet", partitioning="hive").to_table(columns=["event_id", "subscription_id"])
    wanted: dict[int, set[str]] = {}
    for row in expected.select(["event_id", "subscription_id"]).to_pylist():
        wanted.setdefault(int(row["event_id"][1:]), set()).add(row["subscription_id"])
    counts = [len(wanted.get(number % DISTINCT, ())) for number in range(events)]
    told = found["event_id"].value_counts().to_pylist()
    per_event = {int(each["values"][1:]): each["counts"] for each in told}
    if any(per_event.get(number, 0) != count for number, count in enumerate(counts)):
        raise OntosubError("the pipeline has not the matches of match_batch")


def latency(setting: Setting, spark: SparkSession, *, rate: int, seconds: int) -> Latency:
    """Publish so many events in each second, and return how long their notifications take to be seen."""
    database, count = setting.folder / "log.db", rate * seconds
    published: dict[str, float] = {}
    with EventLog(setting.folder / "steady") as log:
        config = setting.config("steady", {"kind": "sql", "url": f"sqlite:///{database}"}, bindings=True)
        delivered = threading.Semaphore(0)
        running = Running(config.plan(), spark, say=lambda told: None, on_done=lambda done: delivered.release())
        thread = threading.Thread(target=running.run)
        thread.start()
        try:
            for _ in range(WARMING):
                log.append(setting.events(0, 1))
                delivered.acquire()
            with closing(_Seen(database)) as seen:
                _publish(log, setting, published, range(1, count + 1), rate, seen)
                expected = _matching(setting, count)
                while not seen.times.keys() >= expected:
                    seen.look()
        finally:
            running.stop()
            thread.join()
    took = np.array([seen.times[name] - published[name] for name in expected if name in published])
    return Latency(float(np.median(took)), float(np.quantile(took, 0.99)), len(took))


def _matching(setting: Setting, count: int) -> set[str]:
    """Return the events that have a notification."""
    matches = setting.matcher.match_batch(setting.events(1, count + 1), bindings=False).matches
    return set(matches["event_id"].to_pylist())


def _publish(
    log: EventLog, setting: Setting, published: dict[str, float], numbers: range, rate: int, seen: _Seen
) -> None:
    """Publish events at a steady rate, and look at the log in between."""
    start = time.perf_counter()
    for number in numbers:
        while time.perf_counter() - start < (number - numbers[0]) / rate:
            seen.look()
        published[f"e{number}"] = time.perf_counter()
        log.append(setting.events(number, number + 1))


class _Seen:
    """When a reader of the SQL log first saw a notification of each event."""

    def __init__(self, database: Path) -> None:
        self._connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)
        self._last = 0
        self.times: dict[str, float] = {}

    def look(self) -> None:
        rows = self._connection.execute(
            "SELECT number, event_id FROM notifications WHERE number > ? ORDER BY number", (self._last,)
        ).fetchall()
        now = time.perf_counter()
        for number, name in rows:
            self._last = number
            self.times.setdefault(name, now)
        time.sleep(0.002)

    def close(self) -> None:
        self._connection.close()
