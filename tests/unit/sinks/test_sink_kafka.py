"""The Kafka sink against a real broker: what committed readers see, whatever happens to the sink and to the broker."""

import json
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka import IsolationLevel, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)

from ontosub.matching.batch import MATCHES, REJECTS
from ontosub.model.errors import LimitError, Unavailable, UsageError
from ontosub.sinks import Delivery, from_options, kafka
from ontosub.sinks.kafka import KafkaSink
from ontosub.sinks.sink import ROWS_MAX

pytest_plugins = ["servers.kafka"]
pytestmark = pytest.mark.xdist_group("kafka")

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)

WRITER = """
import sys
from pathlib import Path
from ontosub.matching.batch import MATCHES
from ontosub.sinks import Delivery
from ontosub.sinks.kafka import KafkaSink

servers, topic, pause, batch, file = sys.argv[1:]

def wait():
    print("waiting", flush=True)
    sys.stdin.read()

class Paused(Delivery):
    def tables(self):
        yield from super().tables()
        wait()

sink = KafkaSink(servers, topic)
sink.open()
sink.deliver((Paused if pause == "inside" else Delivery)("p", int(batch), MATCHES, (Path(file),)))
wait()
"""


def matches(count: int, prefix: str = "e", size: int = 1) -> list[dict]:
    return [
        {"event_id": f"{prefix}{n}", "subscription_id": f"s{n % 7}", "bindings": [[("x", "y" * size)]]}
        for n in range(count)
    ]


def delivery(folder: Path, rows: list[dict], batch: int = 0, pipeline: str = "p", schema: pa.Schema = MATCHES):
    path = folder / f"{uuid.uuid4().hex}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    return Delivery(pipeline, batch, schema, (path,))


def told(broker, topic: str) -> Counter:
    """Count what committed readers see: batches with their events."""
    return Counter(
        (int(dict(m.headers())["batch"]), json.loads(m.value())["event_id"]) for m in broker.committed(topic)
    )


def expected(**batches: int) -> Counter:
    return Counter((int(name[1:]), f"{name}-{n}") for name, count in batches.items() for n in range(count))


def ends(broker, topic: str, level=IsolationLevel.READ_UNCOMMITTED) -> int:
    admin = broker.admin
    asked = {TopicPartition(topic, number): OffsetSpec.latest() for number in range(2)}
    return sum(each.result().offset for each in admin.list_offsets(asked, isolation_level=level).values())


@pytest.fixture
def sink(broker, topic):
    made = KafkaSink(broker.address, topic)
    made.open()
    yield made
    made.close()


def test_rows_become_records(broker, topic, sink, tmp_path):
    bindings = [[("x", "<http://example.org/a>"), ("y", '"è"')], [("x", "_:b")]]
    row = {"event_id": "e1", "subscription_id": "s1", "bindings": bindings, "time_start": NOON, "time_end": None}
    sink.deliver(delivery(tmp_path, [row], batch=4, pipeline="auction/1"))
    [record] = broker.committed(topic)
    assert json.loads(record.value()) == {
        "event_id": "e1",
        "subscription_id": "s1",
        "bindings": [{"x": "<http://example.org/a>", "y": '"è"'}, {"x": "_:b"}],
        "time_start": "2026-05-01T12:00:00.000000Z",
        "time_end": None,
    }
    assert record.key() == b"s1"
    headers = {"event_id": b"e1", "subscription_id": b"s1", "pipeline": b"auction/1", "batch": b"4"}
    assert dict(record.headers()) == headers
    [marker] = broker.committed(f"{topic}.deliveries")
    assert (marker.key(), marker.value()) == (b"auction%2F1/matches", b"4")


def test_dead_letters_become_records(broker, topic, sink, tmp_path):
    rows = [
        {"event_id": "e1", "content_type": "text/turtle", "payload": b"no", "reason": "bad", "line": 1, "column": 2},
        {"event_id": None, "content_type": None, "payload": b"\xff", "reason": "worse"},
    ]
    sink.deliver(delivery(tmp_path, rows, schema=REJECTS))
    found = {record.key(): record for record in broker.committed(topic)}
    assert json.loads(found[b"e1"].value())["payload"] == "no"
    assert json.loads(found[None].value())["payload_encoding"] == "base64"
    assert dict(found[b"e1"].headers()) == {"event_id": b"e1", "pipeline": b"p", "batch": b"0"}


def test_detections_become_records(broker, topic, sink, stage):
    for _ in range(2):
        for kind in ("matches", "rejects", "detections"):
            sink.deliver(stage({}, batch=4, kind=kind))
    found = [record for record in broker.committed(topic) if "detection_id" in dict(record.headers())]
    assert len(broker.committed(topic)) == 3
    [record] = found
    assert record.key() == b"fire"
    headers = {"detection_id": b"d", "subscription_id": b"fire", "pipeline": b"p", "batch": b"4"}
    assert dict(record.headers()) == headers
    assert json.loads(record.value()) == {
        "subscription_id": "fire",
        "detection_id": "d",
        "bindings": [{"room": "<urn:küche>", "by": "_:b0"}, {"room": '"1"'}],
        "time_start": "2024-05-01T12:00:00.000000Z",
        "time_end": "2024-05-01T12:00:00.000000Z",
        "event_ids": ["e1", "é 2"],
        "constituents": {"what": "before", "constituents": [{"what": "räuch", "event_id": "e1"}]},
    }
    markers = {marker.key(): marker.value() for marker in broker.committed(f"{topic}.deliveries")}
    assert markers == {b"p/matches": b"4", b"p/rejects": b"4", b"p/detections": b"4"}


def test_more_detections_than_one_piece(broker, topic, stage):
    sink = KafkaSink(broker.address, topic, key="event_id")
    sink.open()
    names = [f"d{n}" for n in range(ROWS_MAX + 1)]
    sink.deliver(stage(*({"detection_id": name, "bindings": []} for name in names), kind="detections"))
    assert Counter(record.key().decode() for record in broker.committed(topic)) == Counter(names)


def test_rows_of_a_key_stay_in_order_and_together(broker, topic, tmp_path, monkeypatch):
    monkeypatch.setattr(kafka, "QUEUE_KILOBYTES", 64)  # much less than the batch, which is sent piece by piece
    sink = from_options("kafka", {"bootstrap_servers": broker.address, "topic": topic, "options": {"linger.ms": 0}})
    sink.open()
    sink.deliver(delivery(tmp_path, matches(25_000)))
    places: dict[bytes, list] = {}
    for record in broker.committed(topic):
        places.setdefault(record.key(), []).append((record.partition(), json.loads(record.value())["event_id"]))
    assert sorted(places) == [f"s{n}".encode() for n in range(7)]
    assert {partition for seen in places.values() for partition, _ in seen} == {0, 1}
    for key, seen in places.items():
        assert len({partition for partition, _ in seen}) == 1
        assert [event for _, event in seen] == [f"e{n}" for n in range(int(key[1:]), 25_000, 7)]


@pytest.mark.parametrize("pipeline", ["a/b", "é \n\0", ""])
def test_odd_names_stay_as_they_are(broker, topic, tmp_path, pipeline):
    names = ["", "a\0b", "é", "e\u0301", "tab\tline\n", "\ufeff", "long" * 2000]
    sink = KafkaSink(broker.address, topic, key="event_id")
    sink.open()
    rows = [{"event_id": name, "subscription_id": name, "bindings": []} for name in names]
    sink.deliver(delivery(tmp_path, rows, pipeline=pipeline))
    found = broker.committed(topic)
    assert sorted(record.key() for record in found) == sorted(name.encode() for name in names)
    for record in found:
        headers = {"event_id": record.key(), "subscription_id": record.key(), "pipeline": pipeline.encode()}
        assert dict(record.headers()) == {**headers, "batch": b"0"}
        assert json.loads(record.value())["event_id"].encode() == record.key()


def test_the_event_as_key(broker, topic, tmp_path):
    sink = KafkaSink(broker.address, topic, key="event_id")
    sink.open()
    sink.deliver(delivery(tmp_path, matches(3)))
    assert {record.key() for record in broker.committed(topic)} == {b"e0", b"e1", b"e2"}


def test_what_is_delivered_again_is_there_once(broker, topic, sink, tmp_path):
    first, second = (delivery(tmp_path, matches(50, f"b{n}-"), batch=n) for n in range(2))
    for each in (first, first, second, second, first):
        sink.deliver(each)
    sink.close()
    restarted = KafkaSink(broker.address, topic)
    restarted.open()
    for each in (first, second):
        restarted.deliver(each)
    assert told(broker, topic) == expected(b0=50, b1=50)


def test_pipelines_and_kinds_are_told_apart(broker, topic, sink, tmp_path):
    sink.deliver(delivery(tmp_path, matches(2), batch=5))
    sink.deliver(delivery(tmp_path, matches(3), batch=0, pipeline="q"))
    sink.deliver(delivery(tmp_path, [{"event_id": "e", "reason": "bad"}], batch=1, schema=REJECTS))
    assert len(broker.committed(topic)) == 6


def test_an_empty_batch_leaves_nothing(broker, topic, sink, tmp_path):
    sink.deliver(delivery(tmp_path, []))
    sink.deliver(Delivery("p", 1, MATCHES, ()))
    assert broker.committed(topic) == broker.committed(f"{topic}.deliveries") == []


def start(broker, topic: str, what: Delivery, pause: str) -> subprocess.Popen:
    """Start a process that delivers, and return when it waits: "inside" of the transaction, or "after" it."""
    command = [sys.executable, "-c", WRITER, broker.address, topic, pause, str(what.batch), str(what.files[0])]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"waiting\n"
    return process


def kill(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def until(met) -> None:
    deadline = time.monotonic() + 240
    while not met():
        assert time.monotonic() < deadline


def test_a_killed_process_leaves_nothing_half(broker, topic, tmp_path):
    batches = [delivery(tmp_path, matches(200, f"b{n}-"), batch=n) for n in range(2)]
    for batch in batches:
        before = ends(broker, topic)
        process = start(broker, topic, batch, "inside")
        until(lambda low=before: ends(broker, topic) >= low + 200)  # all rows are there, and none is committed
        kill(process)
        assert ends(broker, topic, IsolationLevel.READ_COMMITTED) < ends(broker, topic)
        kill(start(broker, topic, batch, "after"))
    assert told(broker, topic) == expected(b0=200, b1=200)
    sink = KafkaSink(broker.address, topic)
    sink.open()
    sink.deliver(batches[-1])  # Spark knows nothing of what the last process did
    assert told(broker, topic) == expected(b0=200, b1=200)


def test_a_broker_that_is_away(broker, topic, tmp_path):
    sink = KafkaSink(broker.address, topic, timeout=3)
    again(sink.open)
    again(sink.deliver, delivery(tmp_path, matches(5, "b0-"), batch=0))
    second = delivery(tmp_path, matches(5, "b1-"), batch=1)
    broker.stop()
    try:
        for _ in range(2):
            with pytest.raises(Unavailable, match="bootstrap_servers"):
                sink.deliver(second)
        with pytest.raises(Unavailable, match="bootstrap_servers"):
            KafkaSink(broker.address, topic, timeout=1).open()
    finally:
        broker.start()
    again(sink.deliver, second)
    assert told(broker, topic) == expected(b0=5, b1=5)


def test_a_broker_that_goes_in_the_middle(broker, topic, tmp_path):
    sink = KafkaSink(broker.address, topic, timeout=3)
    again(sink.open)
    whole = delivery(tmp_path, matches(50, "b0-"))

    class Cut(Delivery):
        def tables(self):
            for table in super().tables():
                yield table.slice(0, 25)
                until(lambda: ends(broker, topic) > 0)
                broker.stop()
                yield table.slice(25)

    try:
        with pytest.raises(Unavailable):
            sink.deliver(Cut("p", 0, MATCHES, whole.files))
    finally:
        broker.start()
    again(sink.deliver, whole)
    assert told(broker, topic) == expected(b0=50)


def again(call: Callable[..., None], *arguments: object) -> None:
    """Call until it succeeds, as a pipeline does: on a busy machine a broker may take longer than a short timeout."""
    for _ in range(20):
        try:
            return call(*arguments)
        except Unavailable as error:
            last = error
    raise last


def test_of_two_processes_the_older_one_ends(broker, topic, sink, tmp_path):
    sink.deliver(delivery(tmp_path, matches(5, "b0-"), batch=0))
    newer = KafkaSink(broker.address, topic)
    newer.open()
    newer.deliver(delivery(tmp_path, matches(5, "b1-"), batch=1))
    with pytest.raises(UsageError, match="another process delivers the pipeline p"):
        sink.deliver(delivery(tmp_path, matches(5, "b2-"), batch=2))
    newer.deliver(delivery(tmp_path, matches(5, "b2-"), batch=2))
    assert told(broker, topic) == expected(b0=5, b1=5, b2=5)


def test_a_transaction_that_the_brokers_give_up(broker, topic, tmp_path):
    sink = KafkaSink(broker.address, topic, timeout=1, options={"transaction.timeout.ms": 1000})
    sink.open()
    whole = delivery(tmp_path, matches(5, "b0-"))

    class Slow(Delivery):
        def tables(self):
            for table in super().tables():
                yield table
                until(lambda: ends(broker, topic) > 5)  # the rows, and the end that the brokers have put to them

    with pytest.raises(Unavailable):
        sink.deliver(Slow("p", 0, MATCHES, whole.files))
    again(sink.deliver, whole)
    assert told(broker, topic) == expected(b0=5)


@pytest.mark.parametrize("size", [120_000, 99_990, 5_000_000])
def test_a_row_that_is_too_large(broker, tmp_path, size):
    topic = broker.create(f"t-{uuid.uuid4().hex[:8]}", partitions=2, max_message_bytes="100000")
    sink = KafkaSink(broker.address, topic)
    sink.open()
    rows = [*matches(20, "b0-"), {"event_id": "big", "subscription_id": "s", "bindings": [[("x", "y" * size)]]}]
    with pytest.raises(LimitError, match="the match of event big with subscription s is larger"):
        sink.deliver(delivery(tmp_path, [*rows, *matches(20)]))
    assert broker.committed(topic) == []
    sink.deliver(delivery(tmp_path, matches(3, "b1-", size=90_000), batch=1))
    assert told(broker, topic) == expected(b1=3)


def test_a_detection_that_is_too_large(broker, stage):
    topic = broker.create(f"t-{uuid.uuid4().hex[:8]}", max_message_bytes="100000")
    sink = KafkaSink(broker.address, topic)
    sink.open()
    with pytest.raises(LimitError, match="the detection d of subscription fire is larger"):
        sink.deliver(stage({"event_ids": ["e" * 120_000]}, kind="detections"))
    assert broker.committed(topic) == []


def test_an_open_transaction_may_hide_a_marker(broker, topic, sink, tmp_path):
    first, second = (delivery(tmp_path, matches(5, f"b{n}-"), batch=n) for n in range(2))
    sink.deliver(first)
    other = Producer(broker.client(**{"transactional.id": f"other-{topic}"}))
    other.init_transactions()
    other.begin_transaction()
    other.produce(f"{topic}.deliveries", "3", "q/matches", partition=0)
    other.flush()
    sink.deliver(second)
    restarted = KafkaSink(broker.address, topic, timeout=8)
    restarted.open()
    with pytest.raises(Unavailable, match=r"control_topic.*another pipeline"):
        restarted.deliver(second)
    other.abort_transaction()
    again(restarted.deliver, second)
    assert told(broker, topic) == expected(b0=5, b1=5)


LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "alice",
    "sasl.password": "secret",
}


def test_a_user_that_may_not_write(broker, topic, tmp_path):
    admin, kind, literal = broker.admin, ResourceType.TOPIC, ResourcePatternType.LITERAL
    rules = [
        AclBinding(kind, topic, literal, "User:alice", "*", AclOperation.WRITE, AclPermissionType.DENY),
        AclBinding(kind, topic, literal, "User:*", "*", AclOperation.DESCRIBE, AclPermissionType.ALLOW),
    ]
    for made in admin.create_acls(rules).values():
        made.result()
    sink = KafkaSink(broker.login_address, topic, timeout=60, options=LOGIN)
    sink.open()
    with pytest.raises(UsageError, match=r"option topic: .*[Aa]uthorization failed"):
        sink.deliver(delivery(tmp_path, matches(3)))


def test_a_login(broker, topic, tmp_path):
    sink = KafkaSink(broker.login_address, topic, options=LOGIN)
    sink.open()
    sink.deliver(delivery(tmp_path, matches(3, "b0-")))
    assert told(broker, topic) == expected(b0=3)
    wrong = {**LOGIN, "sasl.password": "wrong"}
    with pytest.raises(UsageError, match=r"option options: .*[Aa]uthentication"):  # long before the timeout
        KafkaSink(broker.login_address, topic, timeout=3600, options=wrong).open()


def test_topics_that_will_not_do(broker, topic):
    with pytest.raises(UsageError, match=r"option topic: .* has no topic nowhere"):
        KafkaSink(broker.address, "nowhere").open()
    with pytest.raises(UsageError, match="option topic: "):
        KafkaSink(broker.address, "no such name").open()
    with pytest.raises(UsageError, match=f"option control_topic: {topic} has 2 partitions"):
        KafkaSink(broker.address, broker.create(f"{topic}-b"), control_topic=topic).open()
    forgetful = broker.create(f"{topic}-c", cleanup_policy="delete")
    with pytest.raises(UsageError, match=r"option control_topic: .* cleanup\.policy"):
        KafkaSink(broker.address, topic, control_topic=forgetful).open()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"timeout": 0}, "timeout"),
        ({"control_topic": "t"}, "control_topic"),
        ({"options": {"transactional.id": "mine"}}, r"transactional\.id"),
        ({"options": {"compresion.type": "lz4"}}, r"option options: .*compresion\.type"),
        ({"key": "bindings"}, "key"),
        ({"bootstrap_servers": ""}, "bootstrap_servers"),
        ({"bootstrap_servers": "here:port"}, "bootstrap_servers"),
        ({"topic": ""}, "topic"),
    ],
)
def test_options_that_make_no_sense(options, named):
    with pytest.raises(UsageError, match=named):
        from_options("kafka", {"bootstrap_servers": "127.0.0.1:1", "topic": "t", "timeout": 1, **options}).open()


def test_a_sink_that_is_not_open(tmp_path):
    with pytest.raises(UsageError, match="not open"):
        KafkaSink("127.0.0.1:1", "t").deliver(delivery(tmp_path, matches(1)))
