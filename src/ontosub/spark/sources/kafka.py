"""Events from topics of Kafka, through Spark's own connector: one record is one payload.

What CloudEvents puts into headers in its binary mode (id, content type, time) is taken from there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming.readwriter import DataStreamReader

from ontosub.formats.media import media_of
from ontosub.model.errors import OntosubError, UsageError
from ontosub.sinks.kafka_cluster import Cluster
from ontosub.spark.packages import missing_connector
from ontosub.spark.sources.kafka_client import PREFIX, client_settings
from ontosub.spark.sources.kafka_faults import explained
from ontosub.spark.sources.source import Source, check_limit

EVENTS_MAX = 10_000
EARLIEST, LATEST = "earliest", "latest"

CONTENT_TYPES = ("content-type", "ce_datacontenttype", "content_type")
"""Headers that may say what a record is, the first that is there first."""

_OURS = {
    "subscribe": "topics",
    "subscribepattern": "pattern",
    "assign": "topics",
    "startingoffsets": "starting",
    "maxoffsetspertrigger": "max_events",
    "kafka.bootstrap.servers": "bootstrap_servers",
}
_KNOWN = (
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
    "groupIdPrefix",
    "kafkaConsumer.pollTimeoutMs",
    "maxRecordsPerPartition",
    "maxTriggerDelay",
    "minOffsetsPerTrigger",
    "minPartitions",
)
_MOMENT = r"^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$"


@dataclass(frozen=True, slots=True)
class KafkaSource(Source):
    """The records of `topics`, or of all topics that `pattern` matches, from the `earliest` kept or after the `latest`.

    A checkpoint, once there is one, goes before `starting`. A micro-batch has at most `max_events` records.

    An event is called what the header `ce_id` says, else `<topic>-<partition>-<offset>`; with `id="key"`, the record's
    key goes before both if it is text. A record without a header that tells its content type has `content_type`.

    `options` are Spark's: those of the Kafka client begin with `kafka.`. Only committed records are read, unless
    `kafka.isolation.level` says otherwise. `timeout` is how many seconds `check` and `identity` wait for brokers.
    """

    bootstrap_servers: str
    topics: Sequence[str] = ()
    pattern: str | None = None
    starting: str = EARLIEST
    content_type: str | None = None
    id: str | None = None
    max_events: int | None = EVENTS_MAX
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 10.0

    def check(self) -> None:
        """Check the options, and ask the brokers for the topics. Raises Unavailable when they do not answer."""
        self._check_values()
        for name, value in self.options.items():
            _check_option(name, value)
        settings = client_settings(self.bootstrap_servers, self.options)
        if settings is not None:  # else Spark will be the first to know
            self._check_topics(Cluster(settings, self.timeout).topics())

    def explained(self, error: BaseException) -> OntosubError | None:
        return explained(error)

    def identity(self) -> str:
        settings = client_settings(self.bootstrap_servers, self.options)
        if settings is None:
            cluster = f"at {','.join(sorted(self.bootstrap_servers.split(',')))}"
        else:
            # Addresses may change while the cluster stays, and the other way round.
            cluster = Cluster(settings, self.timeout).id()
        return f"kafka {cluster} {self._asked}"

    def stream(self, spark: SparkSession) -> DataFrame:
        limit = {} if self.max_events is None else {"maxOffsetsPerTrigger": str(self.max_events)}
        return self._events(spark.readStream, {"startingOffsets": self.starting, **limit})

    def batch(self, spark: SparkSession) -> DataFrame:
        return self._events(spark.read, {"startingOffsets": EARLIEST, "endingOffsets": LATEST})

    @property
    def _asked(self) -> str:
        return f"pattern {self.pattern}" if self.pattern is not None else f"topics {','.join(sorted(self.topics))}"

    def _check_values(self) -> None:
        if isinstance(self.topics, str) or bool(self.topics) == (self.pattern is not None):
            raise UsageError("topics or pattern: give one of them, topics as a list of names")
        if self.starting not in (EARLIEST, LATEST):
            raise UsageError(f"starting is {self.starting!r}: it should be {EARLIEST!r} or {LATEST!r}")
        if self.id not in (None, "key"):
            raise UsageError(f"id is {self.id!r}: it should be 'key', or not given")
        if not self.timeout > 0:
            raise UsageError(f"timeout is {self.timeout!r}: it should be a number of seconds above 0")
        check_limit("max_events", self.max_events)
        if self.content_type is not None:
            _check_content_type(self.content_type)

    def _check_topics(self, there: Sequence[str]) -> None:
        where = f"Kafka at {self.bootstrap_servers}"
        missing = [topic for topic in self.topics if topic not in there]
        if missing:
            raise UsageError(f"topics: {where} has no topic {', '.join(missing)} that this user may see")
        if self.pattern is not None and not any(map(_compiled(self.pattern).fullmatch, there)):
            raise UsageError(f"pattern: {where} has no topic that {self.pattern!r} matches")

    def _events(self, reader: DataFrameReader | DataStreamReader, bounds: Mapping[str, str]) -> DataFrame:
        chosen = {"subscribe": ",".join(self.topics)} if self.pattern is None else {"subscribePattern": self.pattern}
        options = {"kafka.isolation.level": "read_committed", **self.options, **bounds, **chosen}
        options |= {"kafka.bootstrap.servers": self.bootstrap_servers, "includeHeaders": "true"}
        return _loaded(reader.format("kafka").options(**options)).select(
            self._event_id().alias("event_id"),
            sql.coalesce(*map(_header, CONTENT_TYPES), sql.lit(self.content_type)).alias("content_type"),
            sql.col("value").alias("payload"),
            _moment(_header("ce_time")).alias("time_start"),
            sql.lit(None).cast("timestamp").alias("time_end"),
        )

    def _event_id(self) -> Column:
        place = sql.concat_ws("-", *[sql.col(name).cast("string") for name in ("topic", "partition", "offset")])
        key = [_text(sql.col("key"))] if self.id == "key" else []
        return sql.coalesce(*key, _header("ce_id"), place)


def _loaded(reader: DataFrameReader | DataStreamReader) -> DataFrame:
    try:
        return reader.load()
    except AnalysisException as error:
        if "kafka" in str(error).lower() and "find" in str(error).lower():
            raise missing_connector() from error
        raise
    except IllegalArgumentException as error:
        raise UsageError(f"options: {error}") from error


def _header(name: str) -> Column:
    """Return the last header of a name, in whichever case, if it is text."""
    named = sql.filter(sql.col("headers"), lambda header: sql.lower(header["key"]) == name)
    return _text(sql.try_element_at(named, sql.lit(-1))["value"])


def _text(data: Column) -> Column:
    return sql.nullif(sql.try_validate_utf8(data.cast("string")), sql.lit(""))


def _moment(text: Column) -> Column:
    """Return the moment that a text says as RFC 3339 writes it, with a zone; else nothing."""
    return sql.when(text.rlike(_MOMENT), sql.try_to_timestamp(text))


def _check_option(name: str, value: object) -> None:
    key = name.lower()
    if not isinstance(value, str):
        raise UsageError(f"options: {name} should be a text")
    if key in _OURS:
        raise UsageError(f"options: {name} is set by {_OURS[key]}")
    if key == "failondataloss":
        raise UsageError("options: failOnDataLoss stays true: events would be missing, and nobody would know")
    if not name.startswith(PREFIX) and key not in map(str.lower, _KNOWN):
        raise UsageError(f"options: {name} is unknown; known are {PREFIX}…, {', '.join(_KNOWN)}")


def _check_content_type(name: str) -> None:
    try:
        media_of(name)
    except UsageError as error:
        raise UsageError(f"content_type: {error}") from None


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"pattern: {pattern!r} is no regular expression: {error}") from None
