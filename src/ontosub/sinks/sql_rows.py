"""Rows of a micro-batch as values for the columns of the log, in the order of its stages."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import chain
from typing import Any

import pyarrow as pa

from ontosub.matching.batch import REJECTS
from ontosub.sinks.rows import bindings_of, json_text, kind_of
from ontosub.sinks.sink import Delivery

Row = tuple[Any, ...]


def staged_rows(delivery: Delivery) -> Iterator[Row]:
    """Yield the rows of a delivery, numbered from 1."""
    make = {"matches": _notifications, "rejects": _dead_letters, "detections": _detections}[kind_of(delivery)]
    rows = chain.from_iterable(make(delivery.pipeline, table) for table in delivery.tables())
    for number, row in enumerate(rows, 1):
        yield number, *row


def notification_key(pipeline: str, subscription_id: str, event_id: str) -> bytes:
    """Return what tells notifications apart, as 16 bytes.

    >>> notification_key("p", "ab", "c") == notification_key("p", "a", "bc")
    False
    """
    told = f"{len(pipeline)} {len(subscription_id)} {pipeline}{subscription_id}{event_id}"
    return blake2b(told.encode(), digest_size=16).digest()


def subscription_key(subscription_id: str) -> int:
    """Return a number to look up a subscription by: of 64 bits, so that others may have the same."""
    return int.from_bytes(blake2b(subscription_id.encode(), digest_size=8).digest(), "big", signed=True)


def _notifications(pipeline: str, table: pa.Table) -> Iterator[Row]:
    subscription_ids, event_ids = table["subscription_id"].to_pylist(), table["event_id"].to_pylist()
    return zip(
        (notification_key(pipeline, *ids) for ids in zip(subscription_ids, event_ids, strict=True)),
        map(subscription_key, subscription_ids),
        map(storable, subscription_ids),
        map(storable, event_ids),
        map(json_text, bindings_of(table["bindings"])),
        _moments(table["time_start"]),
        _moments(table["time_end"]),
        strict=True,
    )


def _detections(pipeline: str, table: pa.Table) -> Iterator[Row]:
    notifications = _notifications(pipeline, table.rename_columns({"detection_id": "event_id"}))
    event_ids, constituents = map(json_text, table["event_ids"].to_pylist()), table["constituents"].to_pylist()
    return ((*row, *made_of) for row, *made_of in zip(notifications, event_ids, constituents, strict=True))


def _dead_letters(_: str, table: pa.Table) -> Iterator[Row]:
    texts = {"event_id", "content_type", "reason"}
    return zip(
        *(
            map(storable, table[name].to_pylist()) if name in texts else table[name].to_pylist()
            for name in REJECTS.names
        ),
        strict=True,
    )


def _moments(column: pa.ChunkedArray) -> list[str | None]:
    """Return moments as databases write them, in UTC."""
    texts: list[str | None] = column.cast(pa.timestamp("us")).cast(pa.string()).to_pylist()
    return texts


def storable(text: str | None) -> str | None:
    r"""Return text as a database can hold it: with U+FFFD for U+0000, which PostgreSQL has no place for.

    >>> storable("a\0b")
    'a\ufffdb'
    """
    return None if text is None else text.replace("\0", "\ufffd")
