"""A Kafka cluster before records flow: whether it answers, which topics it has, and what its faults mean."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (  # type: ignore[attr-defined] # it exports these without saying so
    AdminClient,
    ConfigResource,
    DescribeClusterResult,
    NewTopic,
    ResourceType,
    TopicDescription,
)

from ontosub.model.errors import OntosubError, Unavailable, UsageError

T = TypeVar("T")

SILENT: Mapping[str, Any] = {"log_level": 0}
"""Faults are told by exceptions; librdkafka's own lines on stderr would come on top."""

_SERVER = re.compile(r"\s*([A-Z_]+://)?(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+)(:\d{1,5})?\s*")

_OPTIONS = {
    KafkaError._AUTHENTICATION: "options",
    KafkaError._SSL: "options",
    KafkaError._INVALID_ARG: "options",
    KafkaError._UNKNOWN_TOPIC: "topic",
    KafkaError._UNKNOWN_PARTITION: "topic",
    KafkaError.UNKNOWN_TOPIC_OR_PART: "topic",
    KafkaError.TOPIC_EXCEPTION: "topic",
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "topic",
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "options",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "options",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "options",
    KafkaError.SASL_AUTHENTICATION_FAILED: "options",
    KafkaError.UNSUPPORTED_SASL_MECHANISM: "options",
    KafkaError.UNSUPPORTED_VERSION: "bootstrap_servers",
    KafkaError.INVALID_TRANSACTION_TIMEOUT: "options",
    KafkaError.INVALID_CONFIG: "topic",
    KafkaError.POLICY_VIOLATION: "topic",
    KafkaError.MSG_SIZE_TOO_LARGE: "topic",
}
"""Faults that do not go away by themselves, and the option that they are about."""

_REFUSED = (
    KafkaError._AUTHENTICATION,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
)
"""A login is refused: librdkafka notes it, and tries again until the time of a question is over."""

LOOK_SECONDS = 0.1
"""How often a question that waits for its answer looks whether the login is refused."""


def fault(error: KafkaError, servers: str, *, topic: str = "topic") -> OntosubError:
    """Return what to raise: UsageError with the name of the option that is wrong, else Unavailable.

    `topic` is what the option is called that names the topic in question.
    """
    option = _OPTIONS.get(error.code())
    if option is None:
        return Unavailable(f"Kafka at {servers} (option bootstrap_servers): {_words(error)}")
    return UsageError(f"option {topic if option == 'topic' else option}: {_words(error)}")


def _words(error: KafkaError) -> str:
    text = error.str() or error.name()
    return text[0].lower() + text[1:]


class Cluster:
    """The brokers that settings of librdkafka lead to; each question waits `timeout` seconds at most.

    Raises UsageError for settings that are wrong by themselves. All methods raise UsageError or Unavailable.
    """

    def __init__(self, settings: Mapping[str, Any], timeout: float) -> None:
        self._servers, self._timeout = str(settings["bootstrap.servers"]), timeout
        if not all(map(_SERVER.fullmatch, self._servers.split(","))):
            raise UsageError(f"option bootstrap_servers: {self._servers!r} is no list of host:port, …")
        self._noted: list[KafkaError] = []
        try:
            noting: dict[str, Any] = {**settings, **SILENT, "error_cb": self._noted.append}
            self._admin = AdminClient(noting)
        except KafkaException as error:
            raise fault(error.args[0], self._servers) from error

    def id(self) -> str:
        """Return the name that the cluster has given itself."""
        described: Future[DescribeClusterResult] = self._admin.describe_cluster(request_timeout=self._timeout)
        try:
            return str(self._answer(described).cluster_id)
        except KafkaException as error:
            raise self._fault(error, "topic") from error

    def topics(self) -> list[str]:
        """Return the names of all topics."""
        deadline = time.monotonic() + self._timeout
        self.id()  # notices a refused login, which list_topics does not before its time is over
        try:
            return sorted(self._admin.list_topics(timeout=max(LOOK_SECONDS, deadline - time.monotonic())).topics)
        except KafkaException as error:
            raise self._fault(error, "topic") from error

    def partitions(self, topic: str, option: str = "topic") -> int | None:
        """Return how many partitions a topic has; None if there is no such topic. Nobody is led to make one."""
        asked = self._admin.describe_topics(TopicCollection([topic]), request_timeout=self._timeout)
        try:
            found: TopicDescription = self._answer(asked[topic])
        except KafkaException as error:
            if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return None
            raise self._fault(error, option) from error
        return len(found.partitions)

    def settings(self, topic: str, option: str = "topic") -> dict[str, str]:
        """Return the settings of a topic; none if this user may not see them."""
        resource = ConfigResource(ResourceType.TOPIC, topic)
        asked = self._admin.describe_configs([resource], request_timeout=self._timeout)
        try:
            entries = self._answer(asked[resource])
        except KafkaException as error:
            if error.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                return {}
            raise self._fault(error, option) from error
        return {name: entry.value for name, entry in entries.items()}

    def create(self, topic: str, option: str, config: Mapping[str, str]) -> None:
        """Make a topic of one partition, unless somebody has done so meanwhile."""
        new = NewTopic(topic, num_partitions=1, replication_factor=-1, config=dict(config))
        made: Future[None] = self._admin.create_topics([new], request_timeout=self._timeout)[topic]
        try:
            self._answer(made)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise self._fault(error, option) from error

    def _answer(self, asked: Future[T]) -> T:
        """Return the answer to a question. Raises KafkaException at once when every broker refuses the login."""
        while True:
            try:
                return asked.result(timeout=LOOK_SECONDS)
            except TimeoutError:
                self._admin.poll(0)
            noted = {note.code(): note for note in self._noted}
            refused = [noted[code] for code in _REFUSED if code in noted]
            if refused and KafkaError._ALL_BROKERS_DOWN in noted:
                raise KafkaException(refused[0])

    def _fault(self, error: KafkaException, topic: str) -> OntosubError:
        """Return the fault behind an error: a login that fails, for one, shows as brokers that do not answer."""
        self._admin.poll(0)
        noted = [note for note in self._noted if note.code() != KafkaError._ALL_BROKERS_DOWN]
        telling = [note for note in noted if note.code() in _OPTIONS] or noted or [error.args[0]]
        return fault(telling[-1], self._servers, topic=topic)
