"""The kinds of sources that a configuration can name."""

from ontosub.inputs.kinds import Entry, Kinds
from ontosub.spark.sources.source import Source

SOURCES: Kinds[Source] = Kinds(
    "source",
    {
        "files": Entry("ontosub.spark.sources.files", "FileSource"),
        "log": Entry("ontosub.spark.sources.event_log", "EventLogSource"),
        "kafka": Entry("ontosub.spark.sources.kafka", "KafkaSource"),
    },
)
