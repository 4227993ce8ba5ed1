"""Spark finds the composite events that the in-process detector finds, however matches arrive."""

import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composite_cases import Case, drawn, expected, pieces, shown
from ontosub.composite.moments import ticks_of
from ontosub.composite.table import table_of as detections_table
from ontosub.model.composite import Composite, EventPattern, Primitive, operands_of
from ontosub.spark import compose
from ontosub.spark.composing.keys import shard_keys
from ontosub.spark.composing.packing import Packing
from ontosub.spark.composing.shard import Chunk, Work
from ontosub.spark.composing.standing import standing_of
from oracle.composite_definition import Fact
from spark_streams import SECOND, seconds, table_of, write_files

pytestmark = pytest.mark.xdist_group("spark")


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([1, 3]))
def test_what_workers_run_finds_what_the_detector_finds(seed, shards):
    """Without a JVM, and so more often: in micro-batches of several tables, and from stored state now and then."""
    case, random = drawn(seed), Random(seed)
    keys = shard_keys(shards)
    work = Work("w", standing_of(case.composites), keys, case.lateness, case.lifetime)
    running, found = {key: work.begun(key) for key in keys}, []
    for piece in pieces(random, case, 5):
        middle = random.randint(0, len(piece))
        tables = [table_of(part) for part in (piece[:middle], piece[middle:]) if part]
        chunks = [row for each in Packing(work.standing, keys).run(batches(tables)) for row in each.to_pylist()]
        for key in keys:
            if random.random() < 0.4:
                running[key] = work.restored(key, running[key].stored())
            done = running[key].take([Chunk(*list(row.values())[1:]) for row in chunks if row["shard"] == key])
            assert done.late == 0
            found += done.detections
    for key in keys:
        found += running[key].finish()
    assert shown(detections_table(found).to_pylist()) == expected(case)


def batches(tables):
    return (each for table in tables for each in table.to_batches())


@pytest.mark.parametrize("shards", [1, 3])
def test_a_batch_has_what_the_detector_finds(spark, shards):
    case = drawn(shards, 20, 60)
    wanted = expected(case)
    assert len(wanted) > 100
    frame = spark.createDataFrame(table_of(case.arriving)).repartition(3)
    found = frame.transform(compose(case.composites, lifetime=case.lifetime, shards=shards))
    assert shown(row.asDict() for row in found.collect()) == wanted


def check_stream(spark, folder, seed: int, shards: int) -> None:
    """Run a stream whose matches arrive in any order within the lateness; stop it in the middle, and start it again."""
    case, random = drawn(seed, 20, 60), Random(seed)
    end = max(fact.end for fact in case.arriving) + 1_000
    last = Fact("unknown", "last", end, end, ((),))
    parts = [part for part in pieces(random, case, 4) if part]
    found = {}

    def take(frame, number):
        found[number] = [row.asDict() for row in frame.collect()]

    for stopped_at in (len(parts) // 2, len(parts)):
        write_files(folder / "in", [*parts, [last]][: stopped_at + (stopped_at == len(parts))])
        stage = compose(
            case.composites, lateness=timedelta(microseconds=case.lateness), lifetime=case.lifetime, shards=shards
        )
        detections = stream(spark, folder / "in").transform(stage)
        writer = detections.writeStream.foreachBatch(take).option("checkpointLocation", str(folder / "checkpoint"))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
    wanted = expected(case)
    assert len(wanted) > 50
    assert shown(row for rows in found.values() for row in rows) == wanted


def stream(spark, folder):
    from ontosub.spark import MATCHES

    return spark.readStream.schema(MATCHES).option("maxFilesPerTrigger", 1).parquet(str(folder))


def test_a_stream_that_is_stopped_and_started_again_has_what_the_detector_finds(spark, tmp_path):
    check_stream(spark, tmp_path, 10, 3)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(11, 16))
def test_more_streams(spark, tmp_path, seed):
    check_stream(spark, tmp_path, seed, 1 + seed % 4)


@pytest.mark.full
@pytest.mark.timeout(900)
def test_a_driver_that_is_killed_loses_and_doubles_nothing(spark, tmp_path):
    """Killed when a micro-batch is written and not committed, twice, and at last left to finish."""
    case = drawn(10, 20, 60)
    end = max(fact.end for fact in case.arriving) + 1_000
    size = len(case.arriving) // 5
    parts = [list(case.arriving[a : a + size]) for a in range(0, len(case.arriving), size)]
    write_files(tmp_path / "in", [*parts, [Fact("unknown", "last", end, end, ((),))]])
    (tmp_path / "case").write_bytes(pickle.dumps((case.composites, case.lateness)))
    command = [sys.executable, str(Path(__file__).with_name("composing_driver.py")), str(tmp_path)]
    for number in (1, 3):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        driver = subprocess.Popen([*command, str(number)], start_new_session=True, text=True, **pipes)
        try:
            assert any(line == f"{number} is written\n" for line in driver.stdout)
        finally:
            os.killpg(driver.pid, signal.SIGKILL)
            driver.communicate()
        assert not (tmp_path / "checkpoint" / "commits" / str(number)).exists()
    subprocess.run([*command, "-1"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = [row for folder in (tmp_path / "out").iterdir() for row in spark.read.parquet(str(folder)).collect()]
    assert shown(row.asDict() for row in found) == expected(replace(case, lifetime=None))


def test_the_watermark_of_the_frame(spark, tmp_path):
    """As set with Spark, in whole milliseconds: so moments and windows are stretched."""
    case, random = drawn(7, 20, 60), Random(7)
    composites = tuple(Composite(each.id, stretched(each.pattern)) for each in case.composites)
    lifetime = None if case.lifetime is None else case.lifetime * SECOND
    arriving = tuple(replace(fact, start=seconds(fact.start), end=seconds(fact.end)) for fact in case.arriving)
    case = Case(composites, arriving, case.lateness, lifetime)
    end = max(fact.end for fact in arriving) + ticks_of(timedelta(hours=1))
    last = Fact("unknown", "last", end, end, ((),))
    write_files(tmp_path / "in", [*(part for part in pieces(random, case, 4) if part), [last]])
    frame = stream(spark, tmp_path / "in").withWatermark("time_end", f"{case.lateness} seconds")
    passed = frame.mapInArrow(lambda batches: batches, frame.schema)
    found = []
    detections = passed.transform(compose(composites, lifetime=lifetime, shards=2))
    writer = detections.writeStream.foreachBatch(lambda frame, number: found.extend(frame.collect()))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    assert shown(row.asDict() for row in found) == expected(case)
    assert not any(
        operator["numRowsDroppedByWatermark"] for each in query.recentProgress for operator in each["stateOperators"]
    )


def stretched(pattern: EventPattern) -> EventPattern:
    """Return the pattern with windows of seconds instead of microseconds."""
    if isinstance(pattern, Primitive):
        return pattern
    below = tuple(map(stretched, operands_of(pattern)))
    window = None if pattern.window is None else pattern.window * SECOND
    if hasattr(pattern, "operands"):
        return replace(pattern, operands=below, window=window)
    if hasattr(pattern, "excluded"):
        return replace(pattern, operand=below[0], excluded=below[1], window=window)
    return replace(pattern, operand=below[0], window=window)
