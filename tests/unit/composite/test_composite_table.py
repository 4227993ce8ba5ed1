"""Tables of matches and detections: what a detector is fed from one, and what another says of its detections."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest

from ontosub import Composite, Subscription
from ontosub.composite import Detector
from ontosub.composite.moments import FOREVER, interval_of, ticks
from ontosub.composite.table import DETECTIONS, Fed, feed, latest_of, table_of
from ontosub.matching.batch import MATCHES
from ontosub.model.interval import Interval

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = {name: Subscription.parse("SELECT ?x { ?x <urn:p> ?y }", id=name) for name in ("a", "b")}


def matches(*rows) -> pa.Table:
    told = [
        {"event_id": f"e{number}", "subscription_id": name, "bindings": bindings, "time_start": start, "time_end": end}
        for number, (name, bindings, start, end) in enumerate(rows)
    ]
    return pa.Table.from_pylist(told, schema=MATCHES)


def detector(text: str) -> Detector:
    made = Detector()
    made.subscribe(Composite.parse(text, id="c", names=NAMES))
    return made


def test_what_is_fed_from_a_table_and_what_is_not_used():
    found = detector("a before b within 1 h")
    one, other = [("x", "<urn:1>")], [("x", "_:n")]
    later = BEGIN + timedelta(minutes=1)
    told = matches(
        ("a", [one, other], BEGIN, None),  # an instant
        ("b", [one], later, later),
        ("b", [other], later, later),  # a blank node of another event is another
        ("b", [one], None, None),
        ("b", [one], later, BEGIN),
        ("other", [], later, later),
    )
    assert latest_of(told) == ticks(later)
    assert feed(found, told) == Fed(late=0, untimed=2)
    table = table_of(found.advance(later))
    assert table.schema.equals(DETECTIONS)
    (row,) = table.to_pylist()
    assert (row["event_ids"], row["bindings"]) == (["e0", "e1"], [one])
    assert (row["time_start"], row["time_end"]) == (BEGIN, later)
    assert json.loads(row["constituents"])["constituents"][0]["event_id"] == "e0"
    assert feed(found, told) == Fed(late=4, untimed=2)


def test_nothing():
    assert feed(detector("a times 2"), matches()) == Fed(0, 0)
    assert latest_of(matches(("a", [], None, None))) is None
    assert len(table_of([])) == 0


def test_time_ends_with_the_calendar():
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    found = detector("not a within 10 min")
    feed(found, matches(("a", [[("x", "<urn:1>")]], last, last)))
    (row,) = table_of(found.advance_to(FOREVER - 1)).to_pylist()
    assert row["time_end"] == datetime.max.replace(tzinfo=UTC)
    assert json.loads(row["constituents"])["end"] == row["time_end"].isoformat()


@pytest.mark.parametrize("count", [1, 2])
def test_a_table_in_pieces(count):
    pieces = [matches(("a", [], BEGIN + timedelta(seconds=n), None)) for n in range(count)]
    found = detector("a times 2")
    assert feed(found, pa.concat_tables(pieces)) == Fed(0, 0)
    assert len(found.advance(BEGIN + timedelta(hours=1))) == count // 2


def test_moments_outside_of_the_calendar_are_those_at_its_ends():
    early = datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))
    late = datetime.max.replace(tzinfo=timezone(-timedelta(hours=14)))
    ends = Interval(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
    assert interval_of(ticks(early), ticks(late)) == ends
