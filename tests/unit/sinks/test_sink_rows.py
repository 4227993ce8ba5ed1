"""Rows: which kind they are, and how they look in JSON."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from ontosub import Composite, CompositeMatcher, Event, Subscription
from ontosub.composite.table import table_of
from ontosub.model.errors import UsageError
from ontosub.sinks import Delivery
from ontosub.sinks.rows import EVENT_COLUMNS, KINDS, json_objects, kind_of
from ontosub.sinks.sink import ROWS_MAX


def test_kinds_are_told_by_their_columns():
    for kind, schema in KINDS.items():
        assert kind_of(Delivery("p", 0, schema, ())) == kind
        assert EVENT_COLUMNS[kind] in schema.names
    with pytest.raises(UsageError, match="rows of x, y are none of matches, rejects, detections"):
        kind_of(Delivery("p", 0, pa.schema([("x", pa.string()), ("y", pa.string())]), ()))


def test_a_detection_in_json():
    matcher = CompositeMatcher(lateness=timedelta(0))
    for name in ("rauch", "hitze"):
        matcher.subscribe(Subscription.parse(f"SELECT ?room ?by {{ ?by <urn:{name}> ?room }}", id=name))
    pattern = "rauch(?room, ?by) before hitze(?room) within 1 min"
    matcher.subscribe(Composite.parse(pattern, id="feuer", names=matcher.names))

    def publish(second: int, text: str):
        time = datetime(2024, 5, 1, 12, 0, second, tzinfo=UTC)
        return matcher.publish(Event.read(text, "text/turtle", id=f"è {second}", time=time)).detections

    publish(1, '_:a <urn:rauch> "Küche" . _:b <urn:rauch> "Küche" .')
    publish(2, '[] <urn:hitze> "Küche" .')
    [detection] = publish(3, "<urn:x> <urn:y> <urn:z> .")
    [row] = json_objects(table_of([detection]))
    blanks = {binding.pop("by")[:2] for binding in row["bindings"]}
    assert (row["bindings"], blanks) == ([{"room": '"Küche"'}] * 2, {"_:"})
    assert row["detection_id"] == detection.key
    assert (row["time_start"], row["time_end"]) == ("2024-05-01T12:00:01.000000Z", "2024-05-01T12:00:02.000000Z")
    assert row["event_ids"] == ["è 1", "è 2"]
    assert row["constituents"] == detection.tree.to_dict()


def test_large_rows_are_read_a_few_at_a_time(stage, monkeypatch):
    monkeypatch.setattr("ontosub.sinks.sink.BYTES_MAX", 1_000_000)
    large = stage(*({"payload": random.randbytes(100_000)} for _ in range(50)), kind="rejects")
    assert max(table.nbytes for table in large.tables()) < 2_000_000
    small = stage(*({"event_id": f"e{n}"} for n in range(2 * ROWS_MAX)))
    assert [len(table) for table in small.tables()] == [ROWS_MAX, ROWS_MAX]
    huge = stage(*({"payload": random.randbytes(2_000_000)} for _ in range(2)), kind="rejects")
    assert [len(table) for table in huge.tables()] == [1, 1]
    assert [len(table) for table in stage().tables()] == []
