"""Deliveries as transactions: the rows of one micro-batch, and a marker that says that they are there.

The marker is a record in a compacted topic, in the same transaction as the rows: who reads committed records sees both
or neither. Starting a producer with the transactional id of another one ends that other one, and whatever it has left
open; only then is the last marker read, and only then is it final.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined] # exported, without saying so

from ontosub.model.errors import LimitError, Unavailable, UsageError
from ontosub.sinks.kafka_cluster import SILENT

NONE = -1
"""The number of the batch before the first."""

ABORT_SECONDS = 5.0
WAIT_SECONDS = 0.1

_PURGED = (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT)
"""What records are told that go down with their transaction: not why."""


class Record(NamedTuple):
    """What is sent for a row; `name` is what the row is called in a message."""

    name: str
    key: str | None
    value: bytes
    headers: list[tuple[str, bytes]]


class Transactions:
    """The transactions of one pipeline and kind of rows. Raises KafkaException, and must then be thrown away.

    `producer` and `reader` are settings of librdkafka; `marker` is the topic of markers, and the key of ours.
    """

    def __init__(self, producer: Mapping[str, Any], reader: Mapping[str, Any], marker: tuple[str, str], timeout: float):
        self._marker, self._timeout = marker, timeout
        self._failed: tuple[KafkaError, str] | None = None
        self._producer = Producer({**producer, **SILENT})
        self._producer.init_transactions(timeout)
        self.last = last_batch(reader, *marker, timeout)
        self.began = time.monotonic()

    def write(self, topic: str, records: Iterator[Record], batch: int) -> None:
        """Write the records of a batch and its marker: all of them or none."""
        self.began = time.monotonic()
        self._producer.begin_transaction()
        with _unwrapped():
            for record in records:
                self._send(record.name, topic, record.value, record.key, headers=record.headers)
            # Whoever reads markers waits for open transactions: ours takes part in their topic for a moment only.
            self._producer.flush(self._timeout)
            control, key = self._marker
            self._send("the marker", control, str(batch).encode(), key, partition=0)
            self._commit()
        self.last = batch

    def abort(self) -> None:
        """Leave nothing open that readers would wait for, as far as the brokers can be told."""
        try:
            self._producer.purge()
            self._producer.abort_transaction(ABORT_SECONDS)
        except KafkaException:
            pass  # the next producer with this id ends it, or time does

    def _send(self, name: str, topic: str, value: bytes, key: str | None, **rest: Any) -> None:
        while True:
            self._check()
            try:
                self._producer.produce(topic, value, key, on_delivery=partial(self._sent, name), **rest)
                self._producer.poll(0)
                return
            except BufferError:  # so much is under way that memory would grow
                self._producer.poll(WAIT_SECONDS)
            except KafkaException as error:
                self._refused(error, name)

    def _refused(self, error: KafkaException, name: str) -> None:
        """Find out why a record is not taken: for what it is, or because the transaction has failed before."""
        code = error.args[0].code()
        if code == KafkaError.MSG_SIZE_TOO_LARGE:
            self._failed = error.args[0], name
            return
        if code == KafkaError._STATE:
            self._commit()  # cannot succeed any more, and raises what has made it fail
        raise error

    def _sent(self, name: str, error: KafkaError | None, message: Message) -> None:
        if error is not None and self._failed is None and error.code() not in _PURGED:
            self._failed = error, name

    def _check(self) -> None:
        if self._failed is None:
            return
        error, name = self._failed
        if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
            raise LimitError(f"{name} is larger than its topic takes (max.message.bytes)")
        raise KafkaException(error)

    def _commit(self) -> None:
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                self._producer.commit_transaction(max(WAIT_SECONDS, deadline - time.monotonic()))
                return
            except KafkaException as error:
                self._check()  # says more than that some records have failed
                if not error.args[0].retriable() or time.monotonic() > deadline:
                    raise


@contextmanager
def _unwrapped() -> Iterator[None]:
    """Raise what a fenced producer raises: it calls us back with that pending, which Python takes for a defect."""
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KafkaException):
            raise error.__cause__ from None
        raise


def last_batch(reader: Mapping[str, Any], topic: str, key: str, timeout: float) -> int:
    """Return the number in the last committed marker with a key, or NONE."""
    end = _end(reader, topic, timeout)
    own = {"group.id": "ontosub", "isolation.level": "read_committed", "enable.partition.eof": True}
    consumer = Consumer({**reader, **SILENT, **own, "enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        last: bytes | None = str(NONE).encode()
        for message in _up_to(end, consumer, topic, timeout):
            if message.key() == key.encode():
                last = message.value()
        return int(last or b"")
    except ValueError:
        raise UsageError(f"option control_topic: what {topic} has for {key} is no number of a batch") from None
    finally:
        consumer.close()


def _end(reader: Mapping[str, Any], topic: str, timeout: float) -> int:
    """Return where a topic ends, with what is not committed: a marker of ours may stand behind that of another."""
    admin, partition = AdminClient({**reader, **SILENT}), TopicPartition(topic, 0)
    level = IsolationLevel.READ_UNCOMMITTED
    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    asked = admin.list_offsets({partition: latest}, isolation_level=level, request_timeout=timeout)
    return int(asked[partition].result().offset)


def _up_to(end: int, consumer: Consumer, topic: str, timeout: float) -> Iterator[Message]:
    deadline = time.monotonic() + timeout
    reached = 0
    while reached < end:
        message = consumer.poll(max(0.0, deadline - time.monotonic()))
        if message is None:
            raise Unavailable(
                f"option control_topic: {topic} is not readable to its end within {timeout:g} s: the "
                f"transaction of another pipeline may be open"
            )
        error = message.error()
        if error is None:
            yield message
        elif error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        else:
            reached = message.offset() or 0
