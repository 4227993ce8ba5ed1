"""The Kafka source against a real broker: every committed record once, with its id, content type and time."""

import json
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer, TopicPartition
from pyspark.errors import StreamingQueryException

from ontosub import Event, Matcher
from ontosub.matching.batch import MATCHES
from ontosub.model.errors import Unavailable, UsageError
from ontosub.sinks import Delivery
from ontosub.sinks.kafka import KafkaSink
from ontosub.spark import EVENTS, match
from ontosub.spark.sources.kafka import KafkaSource
from ontosub.spark.sources.kafka_faults import explained
from servers.kafka_jars import NotFetched, connector_jars

pytest_plugins = ["servers.kafka"]
pytestmark = pytest.mark.xdist_group("spark")

AUCTION = "http://example.org/auction#"
JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="{}";'
LOGIN = {"kafka.security.protocol": "SASL_PLAINTEXT", "kafka.sasl.mechanism": "PLAIN"}


@pytest.fixture(scope="module", autouse=True)
def _connector():
    try:
        connector_jars()
    except NotFetched as error:
        pytest.skip(f"no Kafka connector: {error}")


def numbered(first: int, count: int) -> list[dict]:
    return [{"value": f"v{n}".encode(), "partition": n % 2} for n in range(first, first + count)]


def run(frame, checkpoint: Path, take) -> None:
    """Run a query until all that is there now has been read."""
    writer = frame.writeStream.foreachBatch(take).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()


def read(spark, source: KafkaSource, checkpoint: Path) -> dict[int, list[str]]:
    """Return the payloads of each micro-batch."""
    seen = {}

    def take(frame, number):
        seen[number] = [bytes(row.payload).decode() for row in frame.collect()]

    run(source.stream(spark), checkpoint, take)
    return seen


def payloads(batches: dict[int, list[str]]) -> list[str]:
    return sorted((value for batch in batches.values() for value in batch), key=lambda text: int(text[1:]))


def test_each_record_comes_once_in_batches_of_limited_size(spark, broker, topic, tmp_path):
    source = KafkaSource(broker.address, [topic], max_events=30)
    source.check()
    broker.produce(topic, *numbered(0, 100))
    seen = read(spark, source, tmp_path / "checkpoint")
    assert payloads(seen) == [f"v{n}" for n in range(100)]
    assert len(seen) >= 4
    assert all(0 < len(batch) <= 30 for batch in seen.values())
    broker.produce(topic, *numbered(100, 10))
    later = read(spark, source, tmp_path / "checkpoint")
    assert payloads(later) == [f"v{n}" for n in range(100, 110)]
    assert min(later) == max(seen) + 1


def test_a_batch_that_failed_comes_again_as_it_was(spark, broker, topic, tmp_path):
    source = KafkaSource(broker.address, [topic], max_events=10)
    broker.produce(topic, *numbered(0, 20))
    failed = {}

    def fail(frame, number):
        failed[number] = sorted(bytes(row.payload).decode() for row in frame.collect())
        raise RuntimeError("as a crash would")

    with pytest.raises(StreamingQueryException, match="as a crash would"):
        run(source.stream(spark), tmp_path / "checkpoint", fail)
    broker.produce(topic, *numbered(20, 5))
    seen = read(spark, source, tmp_path / "checkpoint")
    assert sorted(seen[0]) == failed[0]
    assert payloads(seen) == [f"v{n}" for n in range(25)]


def test_ids_content_types_and_times(spark, broker, topic):
    cloud = {"ce_id": "c1", "content-type": "text/turtle", "ce_time": "2026-05-01T14:00:00.25+02:00"}
    other = {"CE_ID": "c2", "ce_datacontenttype": "application/json", "ce_time": "2026-05-01T14:00:00"}
    twice = [("content_type", b"text/csv"), ("content_type", b"text/xml"), ("ce_id", b"\xff"), ("ce_time", b"noon")]
    records = [
        {"value": b"a", "key": b"k1", "headers": cloud},
        {"value": b"b", "key": b"k2", "headers": other},
        {"value": b"c", "key": b"\xff", "headers": twice},
        {"value": b"d"},
        {"value": None, "key": b""},
    ]
    broker.produce(topic, *[{**record, "partition": 1} for record in records])
    frame = KafkaSource(broker.address, [topic], content_type="nt").batch(spark)
    assert frame.schema.names == EVENTS.names
    assert [field.dataType for field in frame.schema] == [field.dataType for field in EVENTS]
    rows = frame.collect()
    assert [(row.event_id, row.content_type) for row in rows] == [
        ("c1", "text/turtle"),
        ("c2", "application/json"),
        (f"{topic}-1-2", "text/xml"),
        (f"{topic}-1-3", "nt"),
        (f"{topic}-1-4", "nt"),
    ]
    assert [row.payload and bytes(row.payload) for row in rows] == [b"a", b"b", b"c", b"d", None]
    moments = frame.toArrow()["time_start"].to_pylist()
    assert moments == [datetime(2026, 5, 1, 12, 0, 0, 250_000, tzinfo=UTC), None, None, None, None]
    assert {row.time_end for row in rows} == {None}
    keyed = KafkaSource(broker.address, [topic], id="key").batch(spark).collect()
    assert [row.event_id for row in keyed] == ["k1", "k2", f"{topic}-1-2", f"{topic}-1-3", f"{topic}-1-4"]


def test_starting_with_what_comes(spark, broker, topic, tmp_path):
    broker.produce(topic, *numbered(0, 10))
    source = KafkaSource(broker.address, [topic], starting="latest")
    assert payloads(read(spark, source, tmp_path / "checkpoint")) == []
    broker.produce(topic, *numbered(10, 4))
    assert payloads(read(spark, source, tmp_path / "checkpoint")) == ["v10", "v11", "v12", "v13"]


def test_records_of_an_aborted_transaction_are_none(spark, broker, topic, tmp_path):
    producer = Producer(broker.client(**{"transactional.id": topic}))
    producer.init_transactions()
    for end, record in ((producer.abort_transaction, b"v1"), (producer.commit_transaction, b"v2")):
        producer.begin_transaction()
        producer.produce(topic, record)
        producer.flush()
        end()
    source = KafkaSource(broker.address, [topic])
    assert payloads(read(spark, source, tmp_path / "checkpoint")) == ["v2"]
    assert [bytes(row.payload) for row in source.batch(spark).collect()] == [b"v2"]


def test_all_topics_that_a_pattern_matches(spark, broker, topic):
    other = broker.create(f"{topic}-other")
    for name in (topic, other):
        broker.produce(name, {"value": name.encode()})
    source = KafkaSource(broker.address, pattern=f"{topic}.*")
    source.check()
    assert {bytes(row.payload).decode() for row in source.batch(spark).collect()} == {topic, other}
    with pytest.raises(UsageError, match="pattern"):
        KafkaSource(broker.address, pattern="nothing-like-this").check()


def test_records_that_were_deleted_before_they_were_read(spark, broker, topic, tmp_path):
    source = KafkaSource(broker.address, [topic], max_events=10)
    broker.produce(topic, *numbered(0, 20))
    seen = read(spark, source, tmp_path / "checkpoint")
    broker.produce(topic, *numbered(20, 20))
    admin = broker.admin
    for deleted in admin.delete_records([TopicPartition(topic, 0, 18)]).values():
        deleted.result()
    with pytest.raises(StreamingQueryException) as raised:
        seen |= read(spark, source, tmp_path / "checkpoint")
    told = explained(raised.value)
    assert isinstance(told, UsageError)
    assert "new checkpoint" in str(told)
    fresh = read(spark, source, tmp_path / "fresh")
    assert payloads(seen | fresh)[-1] == "v39"


def test_a_broker_that_is_away(spark, broker, topic, tmp_path):
    hasty = {"kafka.default.api.timeout.ms": "2000", "kafka.request.timeout.ms": "1500", "fetchOffset.numRetries": "1"}
    source = KafkaSource(broker.address, [topic], options=hasty)
    broker.produce(topic, *numbered(0, 5))
    seen = read(spark, source, tmp_path / "checkpoint")
    broker.produce(topic, *numbered(5, 5))
    broker.stop()
    try:
        with pytest.raises(StreamingQueryException) as raised:
            read(spark, source, tmp_path / "checkpoint")
    finally:
        broker.start()
    assert isinstance(explained(raised.value), Unavailable)
    patient = KafkaSource(broker.address, [topic])
    assert payloads(seen | read(spark, patient, tmp_path / "checkpoint")) == [f"v{n}" for n in range(10)]


def test_errors_that_kafka_is_not_behind():
    assert explained(ValueError("another")) is None
    refused = "org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [t]"
    assert isinstance(explained(Exception(refused)), UsageError)


def test_a_login(spark, broker, topic):
    options = {**LOGIN, "kafka.sasl.jaas.config": JAAS.format("secret")}
    source = KafkaSource(broker.login_address, [topic], options=options)
    broker.produce(topic, *numbered(0, 3))
    source.check()
    assert "secret" not in repr(source)
    assert source.batch(spark).count() == 3
    wrong = {**LOGIN, "kafka.sasl.jaas.config": JAAS.format("wrong")}
    refused = KafkaSource(broker.login_address, [topic], options=wrong, timeout=3600)
    for ask in (refused.check, refused.identity):
        with pytest.raises(UsageError, match=r"options: .*[Aa]uthentication"):  # long before the timeout
            ask()


def test_a_cluster_is_known_by_its_own_name(broker, topic):
    port = broker.address.split(":")[1]
    names = {KafkaSource(f"{host}:{port}", [topic]).identity() for host in ("127.0.0.1", "localhost")}
    assert len(names) == 1
    assert topic in names.pop()
    java = {"kafka.ssl.truststore.location": "trust.jks"}
    assert KafkaSource("b:1,a:1", ["t"], options=java).identity() == "kafka at a:1,b:1 topics t"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"topics": []}, "topics or pattern"),
        ({"pattern": "a"}, "topics or pattern"),
        ({"topics": "t"}, "topics or pattern"),
        ({"starting": "noon"}, "starting"),
        ({"id": "value"}, "id is"),
        ({"max_events": 0}, "max_events"),
        ({"timeout": 0}, "timeout"),
        ({"content_type": "text/unheard-of"}, "content_type"),
        ({"topics": [], "pattern": "("}, "pattern"),
        ({"options": {"minPartition": "2"}}, "minPartition"),
        ({"options": {"startingOffsets": "latest"}}, "set by starting"),
        ({"options": {"kafka.bootstrap.servers": "x:1"}}, "set by bootstrap_servers"),
        ({"options": {"failOnDataLoss": "false"}}, "failOnDataLoss stays true"),
        ({"options": {"minPartitions": 2}}, "minPartitions should be a text"),
        ({"options": {"kafka.security.protocol": "NONE"}}, "options"),
        ({"bootstrap_servers": "no port:x"}, "bootstrap_servers"),
        ({"topics": ["nowhere"]}, "topics.*nowhere"),
    ],
)
def test_options_that_are_wrong(broker, topic, options, named):
    with pytest.raises(UsageError, match=named):
        KafkaSource(**{"bootstrap_servers": broker.address, "topics": [topic], **options}).check()


def test_brokers_that_do_not_answer(free_port):
    with pytest.raises(Unavailable, match=r"bootstrap_servers.*refused"):
        KafkaSource(f"127.0.0.1:{free_port}", ["t"], timeout=2).check()


def test_options_that_spark_refuses(spark, broker, topic):
    source = KafkaSource(broker.address, [topic], options={"kafka.enable.auto.commit": "true"})
    source.check()
    with pytest.raises(UsageError, match=r"options: .*enable\.auto\.commit"):
        source.stream(spark)


def test_from_topic_to_topic_like_the_matcher(spark, broker, topic, tmp_path, auction, cheap, computers):
    """Matches, written to Kafka by a pipeline that fails after each delivery, are those of the matcher."""
    texts = [f"PREFIX : <{AUCTION}> :o{n} a :{'Notebook' if n % 3 else 'Thing'} ; :price {n * 10} ." for n in range(60)]
    broker.produce(topic, *[{"value": text.encode(), "headers": {"ce_id": f"e{n}"}} for n, text in enumerate(texts)])
    matcher = Matcher(auction)
    for subscription in (cheap, computers):
        matcher.subscribe(subscription)
    expected = sorted(
        (found.event_id, found.subscription_id, [{name: str(term) for name, term in b.items()} for b in found.bindings])
        for n, text in enumerate(texts)
        for found in matcher.match(Event.read(text, "text/turtle", id=f"e{n}"))
    )
    sink = KafkaSink(broker.address, broker.create(f"{topic}-matches", partitions=2))
    sink.open()
    delivered = set()

    def deliver(frame, number):
        path = tmp_path / f"{uuid.uuid4().hex}.parquet"
        pq.write_table(frame.toArrow().cast(MATCHES), path)
        sink.deliver(Delivery("p", number, MATCHES, (path,)))
        if number not in delivered:
            delivered.add(number)
            raise RuntimeError("as a crash would")

    source = KafkaSource(broker.address, [topic], content_type="text/turtle", max_events=25)
    frame = source.stream(spark).transform(match(auction, [cheap, computers]))
    for _ in range(3):
        with pytest.raises(StreamingQueryException, match="as a crash would"):
            run(frame, tmp_path / "checkpoint", deliver)
    run(frame, tmp_path / "checkpoint", deliver)
    assert len(delivered) == 3
    records = [json.loads(record.value()) for record in broker.committed(f"{topic}-matches")]
    found = sorted((record["event_id"], record["subscription_id"], record["bindings"]) for record in records)
    assert found == expected
    assert len(found) > 60
