"""Where events come from: files, an event log, Kafka. Each source is a streaming frame, or a bounded one, of EVENTS."""

from ontosub.spark.sources.event_log import EventLogSource
from ontosub.spark.sources.files import FileSource
from ontosub.spark.sources.source import Read, Rows, Source

__all__ = ["EventLogSource", "FileSource", "Read", "Rows", "Source"]
