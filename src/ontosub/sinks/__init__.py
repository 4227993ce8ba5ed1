"""Where matches, detections and dead letters go: files, a SQL log, Kafka, webhooks. No Spark is needed here."""

from ontosub.sinks.kinds import from_options
from ontosub.sinks.sink import Delivery, Sink

__all__ = ["Delivery", "Sink", "from_options"]
