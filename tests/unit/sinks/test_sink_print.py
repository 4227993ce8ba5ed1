"""Rows on standard output: for people or for programs, and never anything that a terminal would obey."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ontosub.sinks import Sink, from_options
from ontosub.sinks.rows import EVENT_COLUMNS, KINDS, json_objects, json_text
from ontosub.sinks.sink import ROWS_MAX

CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
NASTY = "a\x1b[31m\r\nforged: event x matches\x9b\u202e\u2028\x00"
TREE = {
    "what": "before",
    "start": "2024-05-01T12:00:00+00:00",
    "end": "2024-05-01T12:00:09+00:00",
    "bindings": [{"item": "<urn:pc7>"}],
    "constituents": [
        {
            "what": "cheap",
            "start": "2024-05-01T12:00:00+00:00",
            "end": "2024-05-01T12:00:00+00:00",
            "bindings": [{"item": "<urn:pc7>", "price": '"350"^^<http://www.w3.org/2001/XMLSchema#integer>'}, {}],
            "event_id": "e1",
        },
        {"what": "sold", "start": "s", "end": "s", "bindings": [], "event_id": "e2"},
    ],
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def opened(**options: str) -> Sink:
    sink = from_options("print", options)
    sink.open()
    return sink


def test_rows_of_all_kinds_are_lines_of_json(stage, capsys):
    sink = opened(format="json")
    deliveries = [stage({}, {EVENT_COLUMNS[kind]: "é"}, batch=3, kind=kind) for kind in KINDS]
    for delivery in deliveries:
        sink.deliver(delivery)
    lines = capsys.readouterr().out.splitlines()
    rows = [row for delivery in deliveries for table in delivery.tables() for row in json_objects(table)]
    assert lines == [json_text(row) for row in rows]
    assert json.loads(lines[-1])["constituents"]["what"] == "before"


def test_more_detections_than_one_piece_are_printed(stage, capsys):
    names = [f"d{n}" for n in range(ROWS_MAX + 1)]
    opened(format="json").deliver(stage(*({"detection_id": name} for name in names), kind="detections"))
    assert [json.loads(line)["detection_id"] for line in capsys.readouterr().out.splitlines()] == names


def test_matches_for_people(stage, capsys):
    answers = [
        [
            ("item", "<http://example.org/auction#pc7>"),
            ("price", '"350.00"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        ],
        [("item", "_:b0"), ("name", '"Küche"@de')],
        [],
    ]
    opened(format="text").deliver(stage({"subscription_id": "cheap", "bindings": answers}, {"bindings": []}))
    assert capsys.readouterr().out.splitlines() == [
        "cheap: event e matches",
        "    ?item = <pc7>, ?price = 350.00",
        '    ?item = _:b0, ?name = "Küche"@de',
        "s: event e matches",
    ]


def test_dead_letters_for_people(stage, capsys):
    rows = [{}, {"event_id": None, "line": None, "column": None}, {"column": None}]
    opened(format="text").deliver(stage(*rows, kind="rejects"))
    assert capsys.readouterr().out.splitlines() == [
        "rejected: event e, line 1, column 2: no Turtle",
        "rejected: an event: no Turtle",
        "rejected: event e, line 1: no Turtle",
    ]


def test_detections_for_people(stage, capsys):
    opened(format="text").deliver(stage({"constituents": json.dumps(TREE)}, kind="detections"))
    assert capsys.readouterr().out.splitlines() == [
        "fire: detected",
        "    before at 2024-05-01T12:00:00+00:00/2024-05-01T12:00:09+00:00: ?item = <pc7>",
        "      cheap by event e1 at 2024-05-01T12:00:00+00:00: ?item = <pc7>, ?price = 350",
        "      sold by event e2 at s",
    ]


@pytest.mark.parametrize(("file", "is_json"), [(Terminal, False), (io.StringIO, True)])
def test_unless_told_otherwise_a_terminal_gets_text_and_a_program_json(stage, monkeypatch, file, is_json):
    monkeypatch.setattr(sys, "stdout", file())
    opened().deliver(stage({}))
    assert sys.stdout.getvalue().startswith("{") == is_json


foreign = st.text(st.one_of(st.sampled_from(NASTY), st.characters(codec="utf-8")), max_size=20)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(id=foreign, other=foreign, lexical=foreign)
@pytest.mark.parametrize("format", ["text", "json"])
def test_a_row_cannot_break_out_of_its_lines(stage, capsys, format, id, other, lexical):
    tree = {**TREE, "what": other, "bindings": [{"x": lexical}], "constituents": [{**TREE, "constituents": []}]}
    deliveries = [
        stage({"event_id": id, "subscription_id": other, "bindings": [[("x", lexical)], [("y", json.dumps(lexical))]]}),
        stage({"event_id": id, "reason": other, "content_type": lexical}, kind="rejects"),
        stage({"detection_id": id, "subscription_id": other, "constituents": json.dumps(tree)}, kind="detections"),
    ]
    sink = opened(format=format)
    for delivery in deliveries:
        sink.deliver(delivery)
    out = capsys.readouterr().out
    assert not CONTROLS.search(out)
    assert out.count("\n") == (3 if format == "json" else 7)
    if format == "json":
        rows = [row for delivery in deliveries for table in delivery.tables() for row in json_objects(table)]
        assert [json.loads(line) for line in out.splitlines()] == rows
