"""What the failure of a query means when Kafka is behind it: Spark tells of it as text only, out of the JVM."""

from __future__ import annotations

import re

from ontosub.model.errors import OntosubError, Unavailable, UsageError

_LOST = re.compile(r"KAFKA_DATA_LOSS|data may have been lost because they are not available in Kafka any more")
_RAISED = re.compile(r"org\.apache\.kafka\.(?:common|clients)\S*?\.(\w+)Exception: ([^\n]*)")
_PASSING = {
    "BrokerNotAvailable",
    "CoordinatorNotAvailable",
    "Disconnect",
    "LeaderNotAvailable",
    "Network",
    "NotLeaderOrFollower",
    "Timeout",
}
_WRONG = {
    "GroupAuthorization": "options",
    "SaslAuthentication": "options",
    "SslAuthentication": "options",
    "TopicAuthorization": "topics",
    "UnknownTopicOrPartition": "topics",
}


def explained(error: BaseException) -> OntosubError | None:
    """Return what to raise for the error of a query that reads from Kafka; None if Kafka is not behind it.

    Unavailable means that the query may be started again, with its checkpoint.

    >>> explained(Exception("… org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node"))
    Unavailable('Kafka (option bootstrap_servers): timed out waiting for a node')
    """
    text = str(error)
    if _LOST.search(text):
        return UsageError(
            "topics: records were deleted before they were read, or their topic was made anew: keep them for longer "
            "(retention.ms), and go on with a new checkpoint, which starts with what is there"
        )
    for name, said in _RAISED.findall(text):
        told = said[:1].lower() + said[1:]
        if name in _WRONG:
            return UsageError(f"{_WRONG[name]}: {told}")
        if name in _PASSING:
            return Unavailable(f"Kafka (option bootstrap_servers): {told}")
    return None
