"""Matching on Apache Spark: stages from DataFrame to DataFrame, the same for batch and streaming frames.

    raw.transform(decode()).transform(match(ontology, subscriptions))

Nothing starts when this is imported, and PySpark is imported nowhere else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

try:
    import pyspark  # noqa: F401 - so that its absence is told in one place
except ImportError as error:
    raise ImportError("ontosub.spark needs PySpark: pip install 'ontosub[spark]'") from error

if TYPE_CHECKING:
    from ontosub.spark.composing.composite_file import save_composites
    from ontosub.spark.composing.stage import compose
    from ontosub.spark.dead_letters import accepted, rejected
    from ontosub.spark.decoding import decode
    from ontosub.spark.embedded import session
    from ontosub.spark.finding import match, outcomes
    from ontosub.spark.schemas import DETECTIONS, EVENTS, MATCHES, REJECT, REJECTS
    from ontosub.spark.sharding import shard_index

__all__ = [
    "DETECTIONS",
    "EVENTS",
    "MATCHES",
    "REJECT",
    "REJECTS",
    "accepted",
    "compose",
    "decode",
    "match",
    "outcomes",
    "rejected",
    "save_composites",
    "session",
    "shard_index",
]

_MODULES = {
    "compose": "composing.stage",
    "save_composites": "composing.composite_file",
    "accepted": "dead_letters",
    "rejected": "dead_letters",
    "decode": "decoding",
    "session": "embedded",
    "match": "finding",
    "outcomes": "finding",
    "shard_index": "sharding",
} | dict.fromkeys(("DETECTIONS", "EVENTS", "MATCHES", "REJECT", "REJECTS"), "schemas")


def __getattr__(name: str) -> object:
    """Import a name when it is first used: Spark starts processes that only read from a source, and need no kernels."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
