"""Rows as records of Kafka: each micro-batch is one transaction, so that committed readers see it whole, and once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Literal
from urllib.parse import quote

import pyarrow.parquet as pq
from confluent_kafka import KafkaError, KafkaException

from ontosub.model.errors import OntosubError, Unavailable, UsageError
from ontosub.sinks.kafka_cluster import Cluster, fault
from ontosub.sinks.kafka_transactions import Record, Transactions
from ontosub.sinks.rows import EVENT_COLUMNS, json_objects, json_text, kind_of
from ontosub.sinks.sink import Delivery, Sink

TRANSACTION_SECONDS = 300
QUEUE_KILOBYTES = 32 * 1024
"""How much may be on its way to the brokers at once."""

_CONTROL = {"cleanup.policy": "compact", "segment.bytes": str(1 << 20), "min.cleanable.dirty.ratio": "0.1"}
"""Short segments: the one that is being written is never compacted, and is read whenever a pipeline starts."""

_OURS = ("bootstrap.servers", "transactional.id", "enable.idempotence", "isolation.level", "group.id")
_FENCED = (KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH)


class KafkaSink(Sink):
    """Write rows as JSON to `topic`, which must exist.

    The key of a record is the subscription of its row or, with `key` "event_id", its event: that of a detection is the
    composite event, and a dead letter has nothing else. `control_topic`, made if it is not there, notes which batches
    are delivered; its default is `<topic>.deliveries`. `timeout` is in seconds. `options` are settings of librdkafka:
    security, compression.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        topic: str,
        key: Literal["subscription_id", "event_id"] = "subscription_id",
        control_topic: str | None = None,
        timeout: float = 30.0,
        options: Mapping[str, str | int | float | bool] | None = None,
    ) -> None:
        if not topic:
            raise UsageError("option topic: it is empty")
        if not timeout > 0:
            raise UsageError(f"option timeout: {timeout:g} is not more than 0")
        for name in _OURS:
            if name in (options or {}):
                raise UsageError(f"option options: {name} is set by the sink itself")
        self._servers, self._topic, self._key, self._timeout = bootstrap_servers, topic, key, timeout
        self._control = f"{topic}.deliveries" if control_topic is None else control_topic
        if self._control == topic:
            raise UsageError("option control_topic: it is the topic of the rows")
        self._client: dict[str, Any] = {"bootstrap.servers": bootstrap_servers, **(options or {})}
        longest = max(TRANSACTION_SECONDS, timeout) * 1000
        self._transaction_ms = int((options or {}).get("transaction.timeout.ms", longest))
        self._limit: dict[str, int] | None = None
        self._transactions: dict[tuple[str, str], Transactions] = {}

    def open(self) -> None:
        self.close()
        cluster = Cluster(self._client, self._timeout)
        if cluster.partitions(self._topic) is None:
            raise UsageError(f"option topic: Kafka at {self._servers} has no topic {self._topic}")
        self._open_control(cluster)
        taken = cluster.settings(self._topic).get("max.message.bytes")
        self._limit = {} if taken is None else {"message.max.bytes": min(max(int(taken), 1000), 1_000_000_000)}

    def _open_control(self, cluster: Cluster) -> None:
        partitions = cluster.partitions(self._control, "control_topic")
        if partitions is None:
            cluster.create(self._control, "control_topic", _CONTROL)
        elif partitions != 1:
            raise UsageError(f"option control_topic: {self._control} has {partitions} partitions, and must have one")
        elif "compact" not in cluster.settings(self._control, "control_topic").get("cleanup.policy", "compact"):
            raise UsageError(f"option control_topic: {self._control} forgets: set its cleanup.policy to compact")

    def close(self) -> None:
        self._transactions.clear()
        self._limit = None

    def deliver(self, delivery: Delivery) -> None:
        if self._limit is None:
            raise UsageError("the sink is not open")
        if not any(pq.read_metadata(file).num_rows for file in delivery.files):
            return
        owner = delivery.pipeline, kind_of(delivery)
        try:
            if owner not in self._transactions:
                self._transactions[owner] = self._begin(*owner, self._limit)
            if delivery.batch > self._transactions[owner].last:
                self._transactions[owner].write(self._topic, self._records(delivery), delivery.batch)
        except BaseException as error:
            # Whether a batch was committed may be open now: the next try learns all anew.
            failed = self._transactions.pop(owner, None)
            if failed is not None:
                failed.abort()
            if isinstance(error, KafkaException):
                raise self._fault(error.args[0], delivery, failed) from error
            raise

    def _begin(self, pipeline: str, kind: str, limit: Mapping[str, int]) -> Transactions:
        name = f"{quote(pipeline, safe='')}/{kind}"
        settings = {
            "partitioner": "murmur2_random",  # as Java's clients do: equal keys, equal partitions
            "queue.buffering.max.kbytes": QUEUE_KILOBYTES,
            "message.timeout.ms": int(self._timeout * 1000),
            "transaction.timeout.ms": self._transaction_ms,
            **limit,
            **self._client,
            "transactional.id": f"ontosub/{self._topic}/{name}",
        }
        return Transactions(settings, self._client, (self._control, name), self._timeout)

    def _records(self, delivery: Delivery) -> Iterator[Record]:
        kind = kind_of(delivery)
        event = EVENT_COLUMNS[kind]
        key = event if kind == "rejects" or self._key == "event_id" else self._key
        whose = {"pipeline": delivery.pipeline, "batch": str(delivery.batch)}
        for table in delivery.tables():
            for row in json_objects(table):
                told = {name: row.get(name) for name in (event, "subscription_id")} | whose
                headers = [(name, value.encode()) for name, value in told.items() if value is not None]
                yield Record(_name(row), row[key], json_text(row).encode(), headers)

    def _fault(self, error: KafkaError, delivery: Delivery, failed: Transactions | None) -> OntosubError:
        if error.code() not in _FENCED:
            return fault(error, self._servers)
        if failed is not None and time.monotonic() - failed.began > self._transaction_ms / 1000:
            return Unavailable(
                f"Kafka gave up a transaction of over {self._transaction_ms} ms (transaction.timeout.ms)"
            )
        return UsageError(f"another process delivers the pipeline {delivery.pipeline} to the topic {self._topic}")


def _name(row: Mapping[str, Any]) -> str:
    if "detection_id" in row:
        return f"the detection {row['detection_id']} of subscription {row['subscription_id']}"
    if "subscription_id" in row:
        return f"the match of event {row['event_id']} with subscription {row['subscription_id']}"
    return f"the dead letter of event {row['event_id']}"
