"""The kinds of rows, and how a row is written in JSON: the same in files and in requests."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ontosub.composite.table import DETECTIONS
from ontosub.matching.batch import MATCHES, REJECTS
from ontosub.model.errors import UsageError
from ontosub.sinks.sink import Delivery

KINDS: Mapping[str, pa.Schema] = {"matches": MATCHES, "rejects": REJECTS, "detections": DETECTIONS}

EVENT_COLUMNS: Mapping[str, str] = {"matches": "event_id", "rejects": "event_id", "detections": "detection_id"}
"""Which column says what event a row is about; a detection is about a composite event."""

json_text: Callable[[object], str] = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def kind_of(delivery: Delivery) -> str:
    """Return what a delivery has: "matches", "rejects" or "detections"."""
    for kind, schema in KINDS.items():
        if delivery.schema.names == schema.names:
            return kind
    raise UsageError(f"rows of {', '.join(delivery.schema.names)} are none of {', '.join(KINDS)}")


def json_objects(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as JSON values, each with all of its columns.

    Bindings are a list of objects, constituents are an object, moments are in ISO 8601. A payload is text if it is
    UTF-8, else base64, and `payload_encoding` says which.
    """
    names = table.column_names
    for values in zip(*map(_json_values, names, table.columns), strict=True):
        row = dict(zip(names, values, strict=True))
        if "payload" in row:
            row["payload"], row["payload_encoding"] = _text(row["payload"])
        yield row


def bindings_of(column: pa.ChunkedArray) -> list[list[dict[str, str]]]:
    """Return the bindings of rows. Arrow can make dictionaries as well, but takes five times as long."""
    return [[dict(binding) for binding in bindings] for bindings in column.to_pylist()]


def _json_values(name: str, column: pa.ChunkedArray) -> list[Any]:
    if name == "bindings":
        return bindings_of(column)
    if name == "constituents":
        return [json.loads(tree) for tree in column.to_pylist()]
    if pa.types.is_timestamp(column.type):
        column = pc.replace_substring(column.cast(pa.timestamp("us")).cast(pa.string()), " ", "T")
        column = pc.binary_join_element_wise(column, "Z", "")
    values: list[Any] = column.to_pylist()
    return values


def _text(payload: bytes | None) -> tuple[str | None, str | None]:
    if payload is None:
        return None, None
    try:
        return payload.decode(), "utf-8"
    except UnicodeDecodeError:
        return base64.b64encode(payload).decode(), "base64"
