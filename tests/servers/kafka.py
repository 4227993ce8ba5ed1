"""A real Kafka broker on the loopback address: one node that is its own controller (KRaft), and what is in it."""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ontosub.model.errors import UsageError
from ontosub.spark.java import find_java
from servers.kafka_jars import NotFetched, broker_jars

SECONDS_MAX = 60
_FAST = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
_SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},LOGIN://127.0.0.1:{login},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},LOGIN://127.0.0.1:{login}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
sasl.enabled.mechanisms=PLAIN
listener.name.login.plain.sasl.jaas.config=\
  org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
super.users=User:ANONYMOUS
log.dirs={folder}/data
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
"""


class Broker:
    """A broker with its data in a folder. It can be stopped and started again, with the same ports and data."""

    def __init__(self, folder: Path, jars: Path) -> None:
        self._folder, self._jars = folder, jars
        port, self._login, self._controller = free_ports(3)
        self.address = f"127.0.0.1:{port}"
        self.login_address = f"127.0.0.1:{self._login}"
        """Where a client must say who it is: alice, whose password is secret."""
        self._process: subprocess.Popen[bytes] | None = None
        self._write_settings(port)
        # As Kafka makes them: one that began with "-" would be taken for an option.
        cluster = "A" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]
        self._java("kafka.tools.StorageTool", "format", "--standalone", "-t", cluster, "-c", self._settings).wait()

    def start(self) -> None:
        """Start it, and return when it answers."""
        self._process = self._java("kafka.Kafka", self._settings)
        deadline = time.monotonic() + SECONDS_MAX
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"the broker does not start: {(self._folder / 'log').read_text()[-2000:]}")

    def stop(self) -> None:
        """Stop it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def client(self, **settings: object) -> dict[str, object]:
        return {"bootstrap.servers": self.address, "log_level": 0, **settings}

    @property
    def admin(self) -> AdminClient:
        return AdminClient(self.client())

    def create(self, topic: str, partitions: int = 1, **config: str) -> str:
        """Make a topic; names of settings have _ for their dots."""
        config = {name.replace("_", "."): value for name, value in config.items()}
        new = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=config)
        admin = self.admin
        admin.create_topics([new])[topic].result()
        return topic

    def produce(self, topic: str, *records: dict[str, object]) -> None:
        """Write records; each has the arguments of Producer.produce."""
        producer, faults = Producer(self.client()), []
        for record in records:
            producer.produce(topic, on_delivery=lambda error, _: error and faults.append(error), **record)
        assert producer.flush(SECONDS_MAX) == 0
        assert not faults, faults

    def committed(self, topic: str) -> list[Message]:
        """Return all that a consumer sees that reads committed records only, partition by partition."""
        consumer = Consumer(
            self.client(**{"group.id": "test", "isolation.level": "read_committed", "enable.partition.eof": True})
        )
        try:
            partitions = sorted(consumer.list_topics(topic, timeout=SECONDS_MAX).topics[topic].partitions)
            return [message for number in partitions for message in _partition(consumer, topic, number)]
        finally:
            consumer.close()

    def _answers(self) -> bool:
        try:
            return bool(self.admin.list_topics(timeout=1).brokers)
        except KafkaException:
            return False

    def _write_settings(self, port: int) -> None:
        self._settings = self._folder / "server.properties"
        named = {"port": port, "login": self._login, "controller": self._controller, "folder": self._folder}
        self._settings.write_text(_SETTINGS.format(**named))

    def _java(self, program: str, *arguments: object) -> subprocess.Popen[bytes]:
        java = find_java(os.environ) / "bin" / "java"
        with open(self._folder / "log", "ab") as log:
            command = [java, *_FAST, "-cp", f"{self._jars}/*", program, *map(str, arguments)]
            return subprocess.Popen(command, stdout=log, stderr=log)


def _partition(consumer: Consumer, topic: str, number: int) -> list[Message]:
    consumer.assign([TopicPartition(topic, number, 0)])
    found: list[Message] = []
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        message = consumer.poll(1)
        if message is not None and message.error():  # the end
            return found
        if message is not None:
            found.append(message)
    raise RuntimeError(f"the end of partition {number} of {topic} was not reached")


def free_ports(count: int) -> list[int]:
    """Return ports that nobody uses now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listening.getsockname()[1] for listening in sockets]
    for listening in sockets:
        listening.close()
    return ports


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Return a running broker; tests share it, and have topics of their own."""
    try:
        made = Broker(tmp_path_factory.mktemp("kafka"), broker_jars())
    except (NotFetched, UsageError) as error:
        pytest.skip(f"no Kafka broker: {error}")
    made.start()
    yield made
    made.stop()


@pytest.fixture
def topic(broker: Broker) -> str:
    """Return a topic of two partitions that nobody else uses."""
    return broker.create(f"t-{uuid.uuid4().hex[:8]}", partitions=2)


@pytest.fixture
def free_port() -> int:
    """Return a port that nobody answers at."""
    return free_ports(1)[0]
