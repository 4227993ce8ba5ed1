"""The kinds of sinks that a configuration can name."""

from __future__ import annotations

from collections.abc import Mapping

from ontosub.inputs.kinds import Entry, Kinds
from ontosub.sinks.sink import Sink

SINKS: Kinds[Sink] = Kinds(
    "sink",
    {
        "parquet": Entry("ontosub.sinks.files", "FileSink", {"format": "parquet"}),
        "json": Entry("ontosub.sinks.files", "FileSink", {"format": "json"}),
        "sql": Entry("ontosub.sinks.sql_log", "SqlLog"),
        "webhook": Entry("ontosub.sinks.webhook", "Webhook"),
        "kafka": Entry("ontosub.sinks.kafka", "KafkaSink"),
        "print": Entry("ontosub.sinks.printing", "PrintSink"),
    },
)


def from_options(kind: str, options: Mapping[str, object]) -> Sink:
    """Return the sink of a kind ("parquet", "json", "sql", "webhook", "kafka", …), not open yet.

    Raises UsageError that names what is wrong: the kind, or an option that is unknown, missing or of another type.

    >>> from_options("parquet", {"paht": "out"})
    Traceback (most recent call last):
    ontosub.model.errors.UsageError: the sink parquet has no option paht: did you mean path?
    """
    return SINKS.made(kind, options)
