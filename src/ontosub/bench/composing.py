"""How fast composite events are detected, from files of matches in micro-batches: on Spark, and by a pipeline."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from ontosub.bench.composite import LATENESS
from ontosub.composite import Detector
from ontosub.composite.table import latest_of
from ontosub.matching.batch import matches_table
from ontosub.model import Match
from ontosub.model.composite import Composite
from ontosub.model.errors import OntosubError
from ontosub.pipeline.composing import Composing, Timing
from ontosub.spark import MATCHES, compose

BATCHES = 5


@dataclass(frozen=True, slots=True)
class Throughput:
    """Primitive matches per second of the clock, from the second micro-batch to the last, and in the best of them."""

    overall: float
    best: float
    cores: int
    detections: int


def throughput(spark: SparkSession, folder: Path, composites: list[Composite], stream: list[Match]) -> Throughput:
    """Return how fast a stream is composed. Raises OntosubError when it has not the detections of the detector."""
    cores = spark.sparkContext.defaultParallelism
    _write(folder / "in", stream, cores)
    frame = spark.readStream.schema(MATCHES).option("maxFilesPerTrigger", cores).parquet(str(folder / "in"))
    detections = frame.transform(compose(composites, lateness=LATENESS, shards=cores))
    writer = detections.writeStream.format("parquet").option("path", str(folder / "out"))
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    found = [row[0] for row in spark.read.parquet(str(folder / "out")).select("detection_id").collect()]
    if sorted(found) != sorted(_expected(composites, stream)):
        raise OntosubError("Spark and the detector do not find the same composite events")
    timed = [(each["numInputRows"], each["durationMs"]["triggerExecution"] / 1000) for each in query.recentProgress[1:]]
    overall = sum(rows for rows, _ in timed) / sum(seconds for _, seconds in timed)
    return Throughput(overall, max(rows / seconds for rows, seconds in timed), cores, len(found))


def pipeline_rate(folder: Path, composites: list[Composite], stream: list[Match]) -> float:
    """Return how many matches a pipeline's detector goes through in a second, with all that it stores.

    Raises OntosubError when it has not the detections of the detector.
    """
    composing, standing = Composing(folder / "history", Timing(LATENESS)), {each.id: each for each in composites}
    _write(folder / "matches", stream, 1)
    files = sorted((folder / "matches").iterdir(), key=lambda path: int(path.stem))
    ends = [latest_of(pq.read_table(path)) for path in files]
    found, began = [], perf_counter()
    for number, (path, latest) in enumerate(zip(files, ends, strict=True)):
        found += composing.compose(number, standing, [path], latest).detections
    seconds = perf_counter() - began
    if sorted(each.key for each in found) != sorted(_expected(composites, stream)):
        raise OntosubError("a pipeline and the detector do not find the same composite events")
    return len(stream) / seconds


def _write(folder: Path, stream: list[Match], cores: int) -> None:
    """Write a file for each task; those of one micro-batch are of the same moment."""
    folder.mkdir(parents=True)
    size = -(-len(stream) // (BATCHES * cores))
    for number, start in enumerate(range(0, len(stream), size)):
        path = folder / f"{number}.parquet"
        pq.write_table(matches_table(stream[start : start + size]), path)
        os.utime(path, (1_700_000_000 + number // cores,) * 2)


def _expected(composites: Iterable[Composite], stream: Iterable[Match]) -> list[str]:
    detector = Detector(lateness=LATENESS)
    for composite in composites:
        detector.subscribe(composite)
    return [detection.key for match in stream for detection in detector.feed(match)]
