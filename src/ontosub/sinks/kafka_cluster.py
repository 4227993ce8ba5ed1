"""A Kafka cluster before records flow: whether it answers, which topics it has, and what its faults mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (  # type: ignore[attr-defined] # it exports these without saying so
    AdminClient,
    ConfigResource,
    NewTopic,
    ResourceType,
    TopicDescription,
)

from ontosub.model.errors import OntosubError, Unavailable, UsageError

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
        self.topics()  # tells what is wrong where the other only tells nothing
        return str(self._admin.cluster_id(timeout=self._timeout))

    def topics(self) -> list[str]:
        """Return the names of all topics."""
        try:
            return sorted(self._admin.list_topics(timeout=self._timeout).topics)
        except KafkaException as error:
            raise self._fault(error, "topic") from error

    def partitions(self, topic: str, option: str = "topic") -> int | None:
        """Return how many partitions a topic has; None if there is no such topic. Nobody is led to make one."""
        asked = self._admin.describe_topics(TopicCollection([topic]), request_timeout=self._timeout)
        try:
            found: TopicDescription = asked[topic].result()
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
            entries = asked[resource].result()
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
            made.result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise self._fault(error, option) from error

    def _fault(self, error: KafkaException, topic: str) -> OntosubError:
        """Return the fault behind an error: a login that fails, for one, shows as brokers that do not answer."""
        self._admin.poll(0)
        noted = [note for note in self._noted if note.code() != KafkaError._ALL_BROKERS_DOWN]
        telling = [note for note in noted if note.code() in _OPTIONS] or noted or [error.args[0]]
        return fault(telling[-1], self._servers, topic=topic)
