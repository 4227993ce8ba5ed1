"""Payloads with several events, matched in one pass: no Spark is needed to see what a worker does."""

import pyarrow as pa
import pytest

from ontosub import Matcher, Subscription
from ontosub.matching.batch import Batch
from ontosub.spark.finding import matched
from ontosub.spark.payloads import Payloads
from ontosub.spark.schemas import ARROW_EVENTS

LINES = b'{"@id": "urn:a", "price": 1}\n{"price": \n{"@id": "urn:b", "price": 2}\n'
OPTIONS = {"": {"vocab": "urn:"}}


def table_of(*rows: tuple[str | None, str, bytes]) -> pa.Table:
    return pa.Table.from_pylist(
        [dict(zip(("event_id", "content_type", "payload"), row, strict=True)) for row in rows], schema=ARROW_EVENTS
    )


def prices() -> Matcher:
    matcher = Matcher()
    matcher.subscribe(Subscription.parse("SELECT ?v { ?x <urn:price> ?v }", id="s"))
    return matcher


def test_events_faults_and_their_rows():
    table = table_of(
        ("t", "application/n-triples", b"<urn:x> <urn:price> <urn:y> .\n"),
        ("lines", "application/x-ndjson", LINES),
        ("bad", "text/turtle", b"<urn:x> <urn:price>"),
        (None, "application/n-triples", b"<urn:x> <urn:price> <urn:y> ."),
    )
    made = matched(prices(), table, OPTIONS, bindings=False)
    assert made.sources.to_pylist() == [0, 1, 1, 3]
    names = made.results["event_id"].to_pylist()
    assert names[:3] == ["t", "lines", "lines#2"]
    assert names[3].startswith("sha256:")
    assert made.reject_sources.to_pylist() == [1, 2]
    assert [(row["line"], row["payload"]) for row in made.rejects.to_pylist()] == [
        (2, LINES),
        (1, table["payload"][2].as_py()),
    ]


def test_one_event_by_default():
    made = matched(prices(), table_of(("lines", "application/x-ndjson", LINES)), None, bindings=False)
    assert made.sources.to_pylist() == []
    assert made.reject_sources.to_pylist() == [0]


@pytest.mark.parametrize(
    ("content_type", "payload", "stays"),
    [
        ("application/n-triples", b"<urn:a> <urn:price> <urn:b> .\n", True),
        ("application/n-triples", b"<urn:a> <urn:price> <urn:b> .\n# @message\n<urn:a> <urn:price> <urn:c> .\n", False),
        (
            "application/n-quads",
            b"<urn:a> <urn:price> <urn:b> <urn:g> .\n<urn:a> <urn:price> <urn:c> <urn:g> . \n",
            True,
        ),
        (
            "application/n-quads",
            b"<urn:a> <urn:price> <urn:b> <urn:g> .\n<urn:a> <urn:price> <urn:c> <urn:h> .\n",
            False,
        ),
        ("text/turtle", b"<urn:a> <urn:price> <urn:b> .", False),
    ],
)
def test_what_stays_bytes(content_type, payload, stays):
    table = table_of(("e", content_type, payload))
    events = Payloads(Batch(table), {})
    assert [events.is_read(row) for row in range(len(events))] == ([False] if stays else [True] * len(events))
    expected = 1 if stays or content_type == "text/turtle" else 2
    assert len(events) == expected
    made = matched(prices(), table, {}, bindings=True)
    assert sum(len(row["bindings"]) for row in made.results.to_pylist()) == payload.count(b"price")


@pytest.mark.parametrize("options", [None, OPTIONS])
def test_what_cannot_be_read_at_all_is_a_dead_letter(options, monkeypatch):
    def unforeseen(*_args, **_options):
        raise KeyError("unforeseen")

    monkeypatch.setattr("ontosub.formats.event.read_json", unforeseen)
    table = table_of(
        (None, "application/json", b"{}"),
        (None, "text/turtle; charset=\0", b""),
        (None, "application/ld+json; x*=y", b'{"@context": "\\ud800"}'),
        ("good", "text/turtle", b"<urn:x> <urn:price> <urn:y> ."),
    )
    made = matched(prices(), table, options, bindings=False)
    assert made.results["event_id"].to_pylist() == ["good"]
    assert made.reject_sources.to_pylist() == [0, 1, 2]
    assert made.rejects.to_pylist()[0]["reason"] == "reading fails with KeyError: 'unforeseen'"


def test_a_reason_that_is_no_text_for_arrow_is_spelled_out():
    table = table_of((None, "application/ld+json", b'{"@context": "\\ud800"}'))
    (reject,) = matched(prices(), table, {}, bindings=False).rejects.to_pylist()
    assert reject["reason"] == "the context \\ud800 lies elsewhere"
