"""An event log as a source: every event once, in micro-batches of limited size, across restarts."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException

from ontosub.event_log import EVENTS as LOGGED
from ontosub.event_log import EventLog, EventLogReader
from ontosub.model.errors import UsageError
from ontosub.spark import EVENTS
from ontosub.spark.schemas import ARROW_EVENTS
from ontosub.spark.sources import EventLogSource
from ontosub.spark.sources.event_log import stretches

pytestmark = pytest.mark.xdist_group("spark")


def events(start: int, stop: int, size: int = 100) -> list[dict]:
    return [
        {"event_id": f"e{number}", "content_type": "text/turtle", "payload": b"%d" % number + bytes(size)}
        for number in range(start, stop)
    ]


def names(start: int, stop: int) -> list[str]:
    return [f"e{number}" for number in range(start, stop)]


def joined(batches: list[list[str]]) -> list[str]:
    return [name for batch in batches for name in batch]


@pytest.fixture
def log(tmp_path: Path):
    with EventLog(tmp_path / "log", segment_bytes=20_000) as log:
        for start in range(0, 500, 50):
            log.append(events(start, start + 50))
        yield log


def run(spark, source: EventLogSource, checkpoint: Path, then: Callable[[int], None] = lambda number: None) -> list:
    """Run until all that is there has been read; return the ids of each micro-batch."""
    seen = []

    def take(frame, number: int) -> None:
        then(number)
        seen.append([row.event_id for row in frame.collect()])

    writer = source.stream(spark).writeStream.option("checkpointLocation", str(checkpoint)).foreachBatch(take)
    writer.trigger(availableNow=True).start().awaitTermination()
    return seen


def test_the_columns_of_a_log_are_those_of_the_stages():
    assert LOGGED == ARROW_EVENTS


def test_a_stream_in_micro_batches(spark, log, tmp_path):
    source = EventLogSource(log.directory, max_events=120)
    source.check()
    assert source.stream(spark).schema == EVENTS
    seen = run(spark, source, tmp_path / "checkpoint")
    assert [len(batch) for batch in seen] == [120, 120, 120, 120, 20]
    assert joined(seen) == names(0, 500)
    assert run(spark, source, tmp_path / "checkpoint") == []
    log.append(events(500, 510))
    assert run(spark, source, tmp_path / "checkpoint") == [names(500, 510)]


def test_a_limit_of_bytes(spark, log, tmp_path):
    log.append(events(500, 501, size=50_000))
    log.append(events(501, 503))
    seen = run(spark, EventLogSource(log.directory, max_bytes=30_000), tmp_path / "checkpoint")
    assert joined(seen) == names(0, 503)
    assert len(seen) == 4
    assert seen[-2:] == [["e500"], ["e501", "e502"]]
    for batch in seen[:-2]:
        first = int(batch[0][1:])
        assert log.bytes_between(first, first + len(batch)) <= 30_000


def test_a_batch_that_fails_is_read_again(spark, log, tmp_path):
    source = EventLogSource(log.directory, max_events=200)
    seen: list[str] = []

    def fail(number: int) -> None:
        if number == 1:
            raise RuntimeError("the lights went out")

    with pytest.raises(StreamingQueryException, match="the lights went out"):
        run(spark, source, tmp_path / "checkpoint", fail)
    log.append(events(500, 600))  # does not get into the batch that is repeated
    for batch in run(spark, source, tmp_path / "checkpoint"):
        seen += batch
    assert seen == names(200, 600)


def test_events_that_arrive_while_it_runs(spark, log, tmp_path):
    """With a trigger that goes on, what is appended later is read; what is there when `availableNow` starts ends it."""
    seen: list[str] = []

    def take(frame, number: int) -> None:
        seen.extend(row.event_id for row in frame.collect())

    query = EventLogSource(log.directory).stream(spark).writeStream.foreachBatch(take).start()
    try:
        wait_for(query, lambda: len(seen) >= 500)
        log.append(events(500, 520))
        wait_for(query, lambda: len(seen) >= 520)
    finally:
        query.stop()
    assert seen == names(0, 520)
    more = run(
        spark, EventLogSource(log.directory, max_events=300), tmp_path / "now", lambda n: log.append(events(0, 1))
    )
    assert joined(more) == names(0, 520)


def wait_for(query, reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not reached():
        assert query.exception() is None
        assert time.monotonic() < deadline
        query.awaitTermination(0.05)


def test_from_the_latest_on(spark, log, tmp_path):
    source = EventLogSource(log.directory, start="latest")
    source.check()
    assert joined(run(spark, source, tmp_path / "checkpoint")) == []
    log.append(events(500, 503))
    assert joined(run(spark, source, tmp_path / "checkpoint")) == names(500, 503)


@pytest.mark.parametrize("start", [321, "321"])
def test_from_an_offset_on(spark, log, tmp_path, start):
    source = EventLogSource(log.directory, start=start)
    source.check()
    assert [row.event_id for row in source.batch(spark).collect()] == names(321, 500)
    if start == 321:
        assert joined(run(spark, source, tmp_path / "checkpoint")) == names(321, 500)


def test_a_bounded_frame_has_the_same_rows(spark, log):
    frame = EventLogSource(log.directory, tasks=3).batch(spark)
    assert frame.schema == EVENTS
    rows = [row.asDict() for row in frame.collect()]
    kept = [row for batch in log.read(0) for row in batch.to_pylist()]
    assert [bytes(row["payload"]) for row in rows] == [row["payload"] for row in kept]
    assert [row["event_id"] for row in rows] == [row["event_id"] for row in kept]
    assert frame.rdd.getNumPartitions() == 3


def test_an_empty_log(spark, tmp_path):
    with EventLog(tmp_path / "log"):
        source = EventLogSource(tmp_path / "log")
        source.check()
        assert source.batch(spark).collect() == []
        assert joined(run(spark, source, tmp_path / "checkpoint")) == []


def test_parts_for_tasks(log):
    for tasks in (1, 2, 3, 5):
        parts = stretches(log, 10, 490, tasks)
        assert len(parts) == min(tasks, 4)  # not fewer than a hundred events in each
        assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
        assert (parts[0].start, parts[-1].stop) == (10, 490)
        sizes = [log.bytes_between(part.start, part.stop) for part in parts]
        assert max(sizes) - min(sizes) < 300
        for part in parts:
            read = EventLogReader(log.directory).read(part.start, part.stop, place=part.place)
            ids = [name for batch in read for name in batch.column("event_id").to_pylist()]
            assert ids == names(part.start, part.stop)
    assert stretches(log, 7, 7, 3) == []


def test_what_is_too_much_is_parted_by_segments(log, monkeypatch):
    monkeypatch.setattr("ontosub.spark.sources.event_log.TASK_BYTES_MAX", 1_000)
    parts = stretches(log, 10, 490, 2)
    assert len(parts) > 2
    assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
    assert [part.place.position for part in parts[1:]] == [0] * (len(parts) - 1)


def test_events_that_are_no_longer_kept_are_told(spark, log, tmp_path):
    run(spark, EventLogSource(log.directory, max_events=100), tmp_path / "checkpoint")
    query = EventLogSource(log.directory, start=10)
    log.append(events(500, 600))
    first = log.truncate_before(400)
    assert first > 10
    assert joined(run(spark, query, tmp_path / "checkpoint")) == names(500, 600)
    with pytest.raises(UsageError, match=f"start is 10: .* has the events {first} to 599"):
        query.check()
    with pytest.raises(StreamingQueryException, match="start is 10"):
        run(spark, query, tmp_path / "other")


def test_a_checkpoint_of_another_log(spark, log, tmp_path):
    run(spark, EventLogSource(log.directory), tmp_path / "checkpoint")
    for path in log.directory.iterdir():
        path.unlink()
    log.close()
    with EventLog(log.directory) as other:
        other.append(events(0, 600))
        with pytest.raises(StreamingQueryException, match="the checkpoint belongs to another event log"):
            run(spark, EventLogSource(log.directory), tmp_path / "checkpoint")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"directory": "nowhere"}, "directory: nowhere: not an event log: there is no such directory"),
        ({"max_events": 0}, "max_events is 0"),
        ({"max_events": None}, "max_events is None"),
        ({"max_bytes": -1}, "max_bytes is -1"),
        ({"max_bytes": "64m"}, "max_bytes is '64m'"),
        ({"tasks": 0}, "tasks is 0"),
        ({"start": "first"}, "start is 'first': it should be 'earliest', 'latest' or the number of an event"),
        ({"start": -1}, "start is -1"),
        ({"start": 501}, "start is 501: the event log in .* has the events 0 to 499"),
    ],
)
def test_wrong_options_are_named(log, options, told):
    with pytest.raises(UsageError, match=told):
        EventLogSource(**{"directory": log.directory, **options}).check()


def test_identity(log, monkeypatch):
    monkeypatch.chdir(log.directory.parent)
    assert EventLogSource("log").identity() == EventLogSource(log.directory).identity() == f"event log {log.directory}"
