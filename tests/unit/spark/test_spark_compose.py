"""Composing on Spark: options and columns, lateness, silence, and composites that come and go."""

import json
from collections import Counter
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest

from ontosub import Subscription
from ontosub.languages.composite import parse
from ontosub.model.composite import Composite
from ontosub.model.errors import LanguageError, UsageError
from ontosub.spark import DETECTIONS, MATCHES, compose, save_composites
from ontosub.spark.composing.composite_file import read_composites
from ontosub.spark.composing.keys import shard_keys, spark_hash
from ontosub.spark.composing.packing import Packing
from ontosub.spark.composing.shard import Chunk, Shard, Work
from ontosub.spark.composing.standing import standing_of
from oracle.composite_definition import Fact
from spark_streams import SECOND, seconds, table_of, write_files

pytestmark = pytest.mark.xdist_group("spark")

ROOM = (("room", '"kitchen"'),)
NAMES = {
    name: Subscription.parse("SELECT ?room { ?x a <urn:Alarm> ; <urn:room> ?room }", id=name)
    for name in ("smoke", "heat", "payment")
}


def composite(name: str, text: str) -> Composite:
    return parse(text, id=name, names=NAMES)


FIRE = composite("fire", "smoke before heat within 10 s")
CALM = composite("calm", "smoke and not heat within 10 s")


def fact(subscription: str, moment: int, row=ROOM) -> Fact:
    """Return a match at a second; its event is called by both."""
    return Fact(subscription, f"{subscription}-{moment}", seconds(moment), seconds(moment), (row,))


class Running:
    """One shard, fed without Spark."""

    def __init__(self, composites, lateness: int | None = 2) -> None:
        self.keys = shard_keys(1)
        self.work = Work("w", standing_of(composites), self.keys, lateness and lateness * SECOND, None)
        self.shard = self.work.begun(self.keys[0])

    def chunks(self, *facts: Fact) -> list[Chunk]:
        [made] = Packing(self.work.standing, self.keys).run(iter(table_of(facts).to_batches()))
        return [Chunk(*list(row.values())[1:]) for row in made.to_pylist()]

    def take(self, *facts: Fact) -> list[tuple[str, ...]]:
        return told(self.shard.take(self.chunks(*facts)).detections)

    def restart(self, composites=None) -> None:
        if composites is not None:
            self.work = Work("w", standing_of(composites), self.keys, self.work.lateness, None)
        self.shard = self.work.restored(self.keys[0], self.shard.stored())


def told(detections) -> list[tuple[str, ...]]:
    return [(each.subscription_id, *each.event_ids) for each in detections]


@pytest.mark.parametrize("partitions", [1, 2, 3, 4, 7, 8, 16, 200])
def test_the_keys_of_shards_go_round_the_partitions(partitions):
    keys = shard_keys(40)
    places = spark_hash(np.array(keys, dtype=np.uint32)) % partitions
    assert places.tolist() == [number % partitions for number in range(40)]
    assert shard_keys(3) == keys[:3]


def test_keys_are_hashed_as_spark_does(spark):
    found = spark.sql("SELECT hash(CAST(id AS INT)) FROM range(100)").collect()
    assert [row[0] for row in found] == spark_hash(np.arange(100, dtype=np.uint32)).tolist()


@pytest.mark.parametrize(
    ("composites", "options", "message"),
    [
        ([FIRE], {"shards": 0}, "shards is a number from 1 to 1,000, not 0"),
        ([FIRE], {"shards": "2"}, "shards is a number from 1 to 1,000, not '2'"),
        ([FIRE], {"lateness": "soon"}, 'lateness: "soon" is no duration'),
        ([FIRE], {"lateness": timedelta(seconds=-1)}, "lateness is a length of time"),
        ([FIRE], {"lifetime": 3}, "lifetime is a length of time"),
        (3, {}, "composites are an iterable of Composite"),
        (["smoke before heat"], {}, "is no composite subscription: make it one with Composite.parse"),
        ([FIRE, composite("fire", "smoke or heat")], {}, "two composite subscriptions have the id 'fire'"),
        ("nowhere.json", {}, "cannot read the composites in"),
    ],
)
def test_options_that_make_no_sense_are_refused(composites, options, message):
    with pytest.raises(UsageError) as caught:
        compose(composites, **options)
    assert message in str(caught.value)


def test_frames_that_do_not_fit_are_refused(spark, tmp_path):
    stage = compose([FIRE])
    frame = spark.createDataFrame([], MATCHES)
    for given, message in [
        (frame.drop("subscription_id"), "the frame lacks the column subscription_id: it has event_id, bindings"),
        (frame.drop("bindings"), "the frame lacks the column bindings: match without bindings=False"),
        (frame.withColumn("time_end", frame.time_end.cast("string")), "the column time_end is of type string: cast it"),
        (frame.select("*", "event_id"), "the frame has more than one column event_id"),
        (frame.withColumnRenamed("event_id", "Event_ID"), "the frame lacks the column event_id: it has Event_ID"),
        (spark.readStream.schema(MATCHES).parquet(str(tmp_path)), "nothing tells how late matches may come"),
    ]:
        with pytest.raises(UsageError) as caught:
            given.transform(stage)
        assert message in str(caught.value)
    with pytest.raises(UsageError):
        stage("a path")


def test_a_stream_needs_rocksdb(spark, tmp_path):
    stage = compose([FIRE], lateness="1 s")
    other = spark.newSession()
    other.conf.set("spark.sql.streaming.stateStore.providerClass", "another")
    with pytest.raises(UsageError, match="which takes RocksDB"):
        other.readStream.schema(MATCHES).parquet(str(tmp_path)).transform(stage)


def test_what_comes_too_late_is_counted_once_and_not_used():
    keys = shard_keys(2)
    names = [composite(f"c{number}", f"smoke times {number + 2} within 10 s") for number in range(4)]
    names += [composite(f"d{number}", f"smoke times {number + 2} within 10 s or heat") for number in range(4)]
    work = Work("w", standing_of(names), keys, 2 * SECOND, None)
    assert all(work.standing.current(keys).by_shard.values())
    shards = {key: work.begun(key) for key in keys}

    def take(*facts) -> Counter:
        counted = Counter()
        for chunks in Packing(work.standing, keys).run(iter(table_of(facts).to_batches())):
            for row in chunks.to_pylist():
                done = shards[row["shard"]].take([Chunk(*list(row.values())[1:])])
                counted.update(matches=done.matches, late=done.late, untimed=done.untimed)
        return counted

    assert take(fact("smoke", 1), fact("smoke", 10)) == {"matches": 2, "late": 0, "untimed": 0}
    assert take(fact("smoke", 7), fact("smoke", 8), fact("unknown", 1)) == {"matches": 2, "late": 1, "untimed": 0}


def test_matches_without_an_interval_are_counted_and_left_out():
    running = Running([composite("any", "smoke or heat")])
    table = table_of([fact("smoke", 1), fact("heat", 2), fact("unknown", 3)])
    ends = pa.array([None, seconds(1), None], pa.timestamp("us", tz="UTC"))
    starts = pa.array([None, seconds(2), None], pa.timestamp("us", tz="UTC"))
    table = table.set_column(3, "time_start", starts).set_column(4, "time_end", ends)
    [made] = Packing(running.work.standing, running.keys).run(iter(table.to_batches()))
    assert [(row["untimed"], row["latest"], row["matches"]) for row in made.to_pylist()] == [(2, None, None)]


def test_an_end_that_is_missing_is_the_start():
    running = Running([composite("any", "smoke or heat")])
    table = table_of([fact("smoke", 1)])
    table = table.set_column(4, "time_end", pa.nulls(1, pa.timestamp("us", tz="UTC")))
    [made] = Packing(running.work.standing, running.keys).run(iter(table.to_batches()))
    done = running.shard.take([Chunk(*list(row.values())[1:]) for row in made.to_pylist()])
    assert done.untimed == 0
    assert told(running.shard.finish()) == [("any", "smoke-1")]


def test_a_negation_fires_when_the_watermark_passes_also_after_silence():
    """Whatever moves time: here a match of nobody's, a day later."""
    running = Running([CALM])
    assert running.take(fact("smoke", 1)) == []
    assert running.take(fact("unknown", 13)) == []
    running.restart()
    assert running.take(fact("unknown", 86_400)) == [("calm", "smoke-1")]
    assert running.take(fact("smoke", 86_410), fact("heat", 86_411), fact("unknown", 86_500)) == []


def test_blank_nodes_are_told_apart_by_event_and_shown_as_they_were():
    running = Running([composite("both", "smoke and heat")])
    node = (("room", "_:b"),)
    assert running.take(fact("smoke", 1, node), fact("heat", 2, node), fact("unknown", 60)) == []


def test_composites_come_and_go_and_others_go_on(tmp_path):
    path = tmp_path / "composites.json"
    save_composites(path, [FIRE, CALM])
    running = Running(path)
    running.take(fact("smoke", 1))
    save_composites(path, [FIRE, composite("hot", "heat times 1")])
    assert running.take(fact("heat", 2), fact("unknown", 60)) == [("fire", "smoke-1", "heat-2"), ("hot", "heat-2")]
    save_composites(path, [composite("fire", "heat before smoke within 10 s")])
    running.restart()
    assert running.take(fact("smoke", 70), fact("heat", 71), fact("smoke", 72), fact("unknown", 99)) == [
        ("fire", "heat-71", "smoke-72")
    ]


def test_a_new_composite_waits_for_a_micro_batch_that_was_sent_with_it_in_view(tmp_path):
    path = tmp_path / "composites.json"
    save_composites(path, [FIRE, CALM])
    running = Running(path)
    former = running.chunks(fact("smoke", 1))
    save_composites(path, [FIRE, composite("hot", "heat times 1")])
    running.shard.take(former + running.chunks(fact("heat", 2)))
    assert set(running.shard.detector.composites) == {"fire"}
    running.take(fact("heat", 3))
    assert set(running.shard.detector.composites) == {"fire", "hot"}


def test_another_set_of_composites_at_a_restart():
    running = Running([FIRE, CALM])
    running.take(fact("smoke", 1))
    running.restart([FIRE, composite("hot", "heat times 1")])
    assert running.take(fact("heat", 2), fact("unknown", 60)) == [("fire", "smoke-1", "heat-2"), ("hot", "heat-2")]


def test_another_number_of_shards_at_a_restart_is_refused():
    running = Running([FIRE])
    work = Work("w", running.work.standing, shard_keys(2), None, None)
    with pytest.raises(UsageError, match="the checkpoint was made with shards=1"):
        work.restored(running.keys[0], running.shard.stored())


def test_a_shard_forgets_what_windows_have_passed():
    running = Running([FIRE, CALM])
    for moment in range(0, 3_000, 3):
        running.take(fact("smoke", moment))
    assert isinstance(running.shard, Shard)
    assert running.shard.detector.counters.live < 20
    assert len(running.shard.stored()) < 10_000


def test_a_file_of_composites_gives_back_what_was_saved(tmp_path):
    path = tmp_path / "composites.json"
    saved = [FIRE, CALM, composite("high", "smoke(?room as ?here) and not payment() within 1 h where ?here != 3")]
    save_composites(path, saved)
    assert [(each.id, each.pattern) for each in read_composites(path)] == [(each.id, each.pattern) for each in saved]


def test_a_file_of_composites_that_people_write(tmp_path):
    path = tmp_path / "composites.json"
    texts = {"fire": "smoke before heat within 10 s", "alarm": "fire and payment"}
    path.write_text(json.dumps({"subscriptions": {name: ["room"] for name in NAMES}, "composites": texts}))
    assert {each.id: each.pattern for each in read_composites(path)}["fire"] == FIRE.pattern
    for text in ("no JSON", "{}", "[]", '{"subscriptions": {}, "composites": [1]}'):
        path.write_text(text)
        with pytest.raises(UsageError, match="is no file of composites"):
            read_composites(path)
    path.write_text('{"subscriptions": {}, "composites": {"fire": "smoke before heat"}}')
    with pytest.raises(LanguageError):
        read_composites(path)


def test_a_query_sees_late_matches_silence_and_new_composites(spark, tmp_path):
    path, found = tmp_path / "composites.json", {}
    save_composites(path, [CALM])
    write_files(
        tmp_path / "in",
        [
            [fact("smoke", 1), fact("smoke", 20)],
            [fact("smoke", 2), fact("heat", 25)],
            [fact("heat", 86_400), fact("unknown", 86_500)],
        ],
    )

    def take(frame, number):
        found[number] = sorted((row.subscription_id, *row.event_ids) for row in frame.collect())
        if number == 1:
            save_composites(path, [CALM, composite("hot", "heat times 1")])

    frame = spark.readStream.schema(MATCHES).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    detections = frame.selectExpr("*", "1 AS extra").transform(compose(path, lateness="2 s", name="alarms"))
    assert detections.schema.names == DETECTIONS.names
    query = detections.writeStream.foreachBatch(take).trigger(availableNow=True).start()
    query.awaitTermination()
    assert found == {0: [("calm", "smoke-1")], 1: [], 2: [("hot", "heat-86400")]}
    counts = [each["observedMetrics"]["alarms"] for each in query.recentProgress]
    assert [(each["matches"], each["late"], each["found"]) for each in counts] == [(2, 0, 1), (2, 1, 0), (1, 0, 1)]
