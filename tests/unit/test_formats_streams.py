"""Several events in one payload: named graphs, message logs, lines, rows, records, frames, batches."""

import base64
import json
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from pyjelly import jelly as wire
from pyjelly.integrations.generic import generic_sink
from pyjelly.integrations.generic.serialize import flat_stream_to_file
from pyjelly.serialize.streams import SerializerOptions
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from ontosub.formats import jelly, write
from ontosub.model import Event, Interval
from ontosub.model.errors import FormatError, UsageError

P = NamedNode("urn:p")


def lines(event):
    return sorted(map(str, event.graph))


def said(*values):
    """The graphs of events that each say `<urn:s> <urn:p> value`."""
    return [{Triple(NamedNode("urn:s"), P, Literal(value))} if value is not None else set() for value in values]


def stream(data, format, **options):
    return list(Event.read_stream(data, format, **options))


TRIG = "<urn:g1> { <urn:s> <urn:p> 1 } <urn:g2> { <urn:s> <urn:p> 2 }"
DATASETS = {
    "trig": TRIG,
    "nq": '<urn:s> <urn:p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> <urn:g1> .\n'
    '<urn:s> <urn:p> "2"^^<http://www.w3.org/2001/XMLSchema#integer> <urn:g2> .',
    "jsonld": json.dumps(
        [{"@id": f"urn:g{i}", "@graph": {"@id": "urn:s", "urn:p": i}} for i in (1, 2)],
    ),
}


@pytest.mark.parametrize("format", DATASETS)
def test_one_event_per_named_graph(format):
    events = stream(DATASETS[format], format)
    assert [event.graph for event in events] == said(1, 2)
    assert [event.id for event in events] == ["urn:g1", "urn:g2"]
    with pytest.raises(FormatError, match="more than one event") as caught:
        Event.read(DATASETS[format], format)
    assert "read_stream" in caught.value.hint


def test_the_only_named_graph_names_the_event():
    assert Event.read("<urn:g> { <urn:s> <urn:p> 1 }", "trig").id == "urn:g"
    assert Event.read("<urn:g> { <urn:s> <urn:p> 1 }", "trig", id="mine").id == "mine"
    assert Event.read("_:g { <urn:s> <urn:p> 1 }", "trig").id.startswith("sha256:")


def test_the_default_graph_is_an_event_unless_it_describes_the_others():
    described, other = stream(TRIG + " <urn:g1> <urn:at> 5 .", "trig")
    assert lines(described)[0].startswith("<urn:g1> <urn:at>")
    assert described.home == NamedNode("urn:s")
    assert [other.graph] == said(2)
    default, *_ = events = stream(TRIG + " <urn:g1> <urn:at> 5 . <urn:x> <urn:p> 6 .", "trig")
    assert len(events) == 3
    assert len(default.graph) == 2
    assert default.id.startswith("sha256:")
    assert "#" not in default.id


V = 'VERSION "1.2-messages"\n'
NQ = '<urn:s> <urn:p> "{}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
LOGS = {
    "without a delimiter": ("ttl", V + "<urn:s> <urn:p> 1 .", said(1)),
    "directive": ("ttl", V + "<urn:s> <urn:p> 1 .\nMESSAGE\n<urn:s> <urn:p> 2 .", said(1, 2)),
    "at directive": ("ttl", '@version "1.1-messages" . <urn:s> <urn:p> 1 . @message . <urn:s> <urn:p> 2 .', said(1, 2)),
    "comment": ("ttl", "<urn:s> <urn:p> 1 .\n  # @message the next\n<urn:s> <urn:p> 2 .", said(1, 2)),
    "empty first": ("ttl", V + "MESSAGE\n<urn:s> <urn:p> 1 .", said(None, 1)),
    "empty between": ("ttl", V + "<urn:s> <urn:p> 1 . MESSAGE message <urn:s> <urn:p> 2 .", said(1, None, 2)),
    "delimiter at the end": ("ttl", V + "<urn:s> <urn:p> 1 .\nMESSAGE\n", said(1)),
    "n-triples": ("nt", V + NQ.format(1) + "MESSAGE\n" + NQ.format(2), said(1, 2)),
    "n-quads, comment": ("nq", NQ.format(1) + "# @message\n" + NQ.format(2), said(1, 2)),
    "prefixes persist": ("ttl", V + "PREFIX u: <urn:> u:s u:p 1 . MESSAGE u:s u:p 2 .", said(1, 2)),
    "prefixes change": ("ttl", V + "PREFIX u: <x:> u:s u:p 1 . MESSAGE PREFIX u: <urn:> u:s u:p 2 .", [None, *said(2)]),
    "base persists": ("ttl", V + "BASE <urn:> <urn:s> <urn:p> 1 . MESSAGE <urn:s> <urn:p> 2 .", said(1, 2)),
    "in a string": ("ttl", V + '<urn:s> <urn:p> """\nMESSAGE\n# @message\n""" .', said("\nMESSAGE\n# @message\n")),
    "as a language": ("ttl", V + '<urn:s> <urn:p> "1"@message .', [None]),
    "in names": ("ttl", V + "PREFIX message: <urn:> <urn:MESSAGE> message:message message:x . MESSAGE", [None]),
    "behind a statement": ("ttl", "<urn:s> <urn:p> 1 . # @message\n<urn:s> <urn:p> 2 .", [None]),
    "trig": (
        "trig",
        V + "<urn:g> { <urn:s> <urn:p> 1 } <urn:g> <urn:n> 1 . MESSAGE <urn:s> <urn:p> 2 .",
        [None, *said(2)],
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_message_logs(name):
    syntax, log, expected = LOGS[name]
    graphs = [event.graph for event in stream(log, syntax)]
    assert len(graphs) == len(expected)
    assert all(wanted is None or graph == wanted for graph, wanted in zip(graphs, expected, strict=True))


def test_the_media_type_may_announce_messages():
    log = "<urn:s> <urn:p> 1 . MESSAGE <urn:s> <urn:p> 2 ."
    events = stream(log, "text/turtle; version=1.2-messages")
    assert [event.graph for event in events] == said(1, 2)
    with pytest.raises(FormatError, match="MESSAGE is not") as caught:
        stream(log, "text/turtle")
    assert "1.2-messages" in caught.value.hint


def test_blank_nodes_are_labelled_per_message():
    first, second = stream("[] <urn:p> [] .\n# @message\n[] <urn:p> _:b0 .", "ttl")
    assert lines(first) == ["_:b0 <urn:p> _:b1"]
    assert lines(second) == ["_:b1 <urn:p> _:b0"]


@pytest.mark.parametrize(
    ("format", "log", "line", "column"),
    [
        ("ttl", "<urn:s> <urn:p> 1 .\n# @message\n\n<urn:s> oops 2 .", 4, 9),
        ("ttl", V + "<urn:s> <urn:p> 1 . MESSAGE MESSAGE <urn:s> oops .", 2, 45),
        ("ttl", V + "<urn:s> <urn:p> 1 .\n@message\n . <urn:s> oops .", 4, 12),
        ("ttl", V + "<urn:s> <urn:p>\nMESSAGE\n<urn:s> <urn:p> 1 .", 3, 8),
        ("nq", V + "<urn:s> MESSAGE", 2, 16),
        ("trig", V + "<urn:g> {\n<urn:s> <urn:p> 1 .\nMESSAGE\n<urn:s> <urn:p> 2 . }", 4, 1),
    ],
)
def test_faults_in_logs_are_placed_in_the_whole_log(format, log, line, column):
    with pytest.raises(FormatError) as caught:
        stream(log, format)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_json_lines():
    events = stream('{"p": 1}\n\n{"p": 2}\r\n', "jsonl", vocab="urn:")
    assert [sorted(str(t.object) for t in event.graph) for event in events] == [
        ['"1"^^<http://www.w3.org/2001/XMLSchema#integer>'],
        ['"2"^^<http://www.w3.org/2001/XMLSchema#integer>'],
    ]
    assert events[1].id == events[0].id + "#2"
    with pytest.raises(FormatError, match="expecting value") as caught:
        stream('{"p": 1}\n{"p": oops}', "jsonl", vocab="urn:")
    assert (caught.value.line, caught.value.column) == (2, 7)


def test_a_context_line_holds_for_the_lines_after_it():
    log = '{"@context": {"v": "urn:p"}}\n{"@id": "urn:s", "v": 1}\n{}\n'
    log += '{"@context": {"w": "urn:p"}}\n{"@id": "urn:s", "w": 2}'
    assert [event.graph for event in stream(log, "application/x-ld+ndjson")] == said(1, None, 2)


def test_rows_are_events():
    mapping = {
        "id": "row {n}",
        "time": "at",
        "subject": "urn:s",
        "properties": [{"property": "urn:p", "from": "v", "datatype": "xsd:integer", "default": "0"}],
    }
    events = stream('n,v,at\n1,7,2026-01-01T00:00:00Z\n\n"2 a",,\n', "csv", mapping=mapping)
    assert [event.id for event in events] == ["row 1", "row 2 a"]
    assert [event.graph for event in events] == said(7, 0)
    assert [event.interval for event in events] == [Interval.instant(datetime(2026, 1, 1, tzinfo=UTC)), None]
    with pytest.raises(FormatError, match="no event"):
        Event.read("n,v,at\n", "csv", mapping=mapping)


def test_records_are_events():
    mapping = {
        "prefixes": {"o": "urn:orders"},
        "records": "/o:orders/order",
        "subject": "http://x/{@id}",
        "properties": [
            {"property": "urn:total", "from": "total", "datatype": "xsd:decimal"},
            {"property": "urn:of", "iri": "{+customer/@href}"},
            {"property": "urn:line", "from": "line", "object": {"properties": [{"property": "urn:n", "from": "."}]}},
        ],
    }
    document = """<orders xmlns="urn:orders">
      <order id="1/2 é"><total>5</total><customer href="http://x/c?a=1"/><line>a</line><line>b</line></order>
      <order id="3"/><note/>
    </orders>"""
    first, second = stream(document, "xml", mapping=mapping)
    assert lines(first) == [
        "<http://x/1%2F2%20é> <urn:line> _:b0",
        "<http://x/1%2F2%20é> <urn:line> _:b1",
        "<http://x/1%2F2%20é> <urn:of> <http://x/c?a=1>",
        '<http://x/1%2F2%20é> <urn:total> "5"^^<http://www.w3.org/2001/XMLSchema#decimal>',
        '_:b0 <urn:n> "a"',
        '_:b1 <urn:n> "b"',
    ]
    assert not second.graph


def test_jelly_frames_are_events_unless_the_stream_is_flat():
    frames = [write(said(i)[0], "jelly") for i in (1, 2)]
    events = stream(frames[0] + frames[1], "jelly")
    assert [event.graph for event in events] == said(1, 2)
    terms = [tuple(map(generic_sink.IRI, ("urn:s", "urn:p", f"urn:{i}"))) for i in range(3)]
    options = SerializerOptions(logical_type=wire.LOGICAL_STREAM_TYPE_FLAT_TRIPLES, frame_size=1)
    flat = BytesIO()
    flat_stream_to_file((generic_sink.Triple(*each) for each in terms), flat, options)
    assert len(jelly.read_frames(flat.getvalue()).frames) > 1
    assert lines(Event.read(flat.getvalue(), "jelly")) == [f"<urn:s> <urn:p> <urn:{i}>" for i in range(3)]
    named = jelly.write_frame([Quad(NamedNode("urn:s"), P, Literal(1), NamedNode("urn:g"))])
    assert Event.read(named, "jelly").id == "urn:g"


ENVELOPE = {"specversion": "1.0", "id": "e-1", "source": "/auction", "type": "org.example.sold"}
JANUARY = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "data",
    [
        {"datacontenttype": "text/turtle", "data": "<urn:s> <urn:p> 1 ."},
        {"datacontenttype": "text/turtle", "data_base64": base64.b64encode(b"<urn:s> <urn:p> 1 .").decode()},
        {"datacontenttype": "application/ld+json", "data": {"@id": "urn:s", "urn:p": 1}},
        {"data": {"@id": "urn:s", "p": 1}},
        {
            "datacontenttype": "application/x-jelly-rdf",
            "data_base64": base64.b64encode(write(said(1)[0], "jelly")).decode(),
        },
    ],
)
def test_structured_cloudevents(data):
    payload = json.dumps({**ENVELOPE, "time": "2026-01-31T12:00:00Z", **data})
    event = Event.read(payload, "application/cloudevents+json", vocab="urn:")
    assert event == Event("e-1", frozenset(said(1)[0]), None, Interval.instant(JANUARY), None, "org.example.sold")
    assert Event.read(payload, "cloudevents", vocab="urn:", id="mine", time=JANUARY + timedelta(1)).id == "mine"


@pytest.mark.parametrize("prefix", ["ce-", "CE-", "ce_"])
def test_binary_cloudevents(prefix):
    headers = {prefix + name: value for name, value in ENVELOPE.items()} | {"Content-Type": b"text/turtle"}
    event = Event.read("<urn:s> <urn:p> 1 .", headers=headers)
    assert (event.id, event.type, event.graph) == ("e-1", "org.example.sold", said(1)[0])
    assert Event.read(b"", headers=headers).graph == set()


def test_batches_of_cloudevents():
    batch = [{**ENVELOPE, "id": f"e-{i}", "data": {"@id": "urn:s", "urn:p": i}} for i in range(2)]
    events = stream(json.dumps(batch, indent=1), "application/cloudevents-batch+json")
    assert [(event.id, event.graph) for event in events] == list(zip(["e-0", "e-1"], said(0, 1), strict=True))


@pytest.mark.parametrize(
    ("change", "message", "line"),
    [
        ({"id": None, "type": ""}, "lacks the attributes id, type", 1),
        ({"source": 5}, "lacks the attribute source", 1),
        ({"specversion": "0.3"}, "'0.3' is not supported", 2),
        ({"time": "yesterday"}, "is not a time", 6),
        ({"datacontenttype": "image/png", "data_base64": "AA=="}, "unknown format 'image/png'", 6),
        ({"data": {}, "data_base64": "AA=="}, "both data and data_base64", 7),
        ({"time": "2026-01-31T12:00:00"}, "no time zone", 6),
        ({"time": "0001-01-01T00:00:00+14:00"}, "outside of the years 1 to 9999 in UTC", 6),
        ({"time": "2026-01-31T12:30:60Z"}, "is not a time", 6),
        ({"datacontenttype": "text/csv; charset=punycode", "data_base64": "AA=="}, "unknown charset 'punycode'", 6),
        ({"datacontenttype": "application/x-jelly-rdf", "data": "AA=="}, "Jelly is a binary format", 7),
        ({"data_base64": "#"}, "not Base64", 6),
        ({"data": {"@context": "http://elsewhere.example/"}}, "lies elsewhere", 7),
        ({"datacontenttype": "text/turtle", "data": "oops"}, "line 1, column 1: oops", 1),
        ({"datacontenttype": "text/csv", "data": "a\n1\n2\n"}, "holds 2 events", None),
    ],
)
def test_bad_cloudevents(change, message, line):
    payload = json.dumps({**ENVELOPE, **change}, indent=0)
    with pytest.raises(FormatError, match=message) as caught:
        Event.read(payload, "cloudevents", vocab="urn:")
    assert caught.value.line == line


@pytest.mark.parametrize("time", ["2026-12-31T23:59:60Z", "2026-12-31t15:59:60.75-08:00", "2027-01-01 00:00:00z"])
def test_a_leap_second_is_the_start_of_the_next(time):
    event = Event.read(json.dumps({**ENVELOPE, "time": time}), "cloudevents")
    assert event.interval == Interval.instant(datetime(2027, 1, 1, tzinfo=UTC))


def test_bad_headers():
    with pytest.raises(FormatError, match="lacks the attributes source, specversion, type"):
        Event.read("", headers={"ce-id": "1"})
    with pytest.raises(FormatError, match="no content-type"):
        Event.read("x", headers={"ce-" + name: value for name, value in ENVELOPE.items()})
    with pytest.raises(UsageError, match="give the format"):
        Event.read("x", headers={"date": "today"})


def test_home_time_and_lifetime():
    turtle = "<urn:a> <urn:p> _:x . <urn:b> <urn:p> _:x ."
    assert Event.read(turtle, "ttl").home is None
    assert Event.read(turtle, "ttl", home="urn:a").home == NamedNode("urn:a")
    event = Event.read(turtle, "ttl", home="_:x", time=(JANUARY, JANUARY + timedelta(1)), lifetime=timedelta(hours=1))
    assert event.home == BlankNode("x")
    assert event.interval == Interval(JANUARY, JANUARY + timedelta(1))
    assert event.lifetime == timedelta(hours=1)
    with pytest.raises(UsageError, match="neither an IRI nor a blank node"):
        Event.read(turtle, "ttl", home="a b")
    with pytest.raises(UsageError, match="does not occur"):
        Event.read(turtle, "ttl", home="urn:c")


@pytest.mark.parametrize("time", ["noon", 5, (JANUARY,), (JANUARY, 5), JANUARY.date(), (JANUARY, JANUARY, JANUARY)])
@pytest.mark.parametrize("read", [Event.read, Event.read_stream])
def test_a_time_of_another_type_says_what_is_accepted(read, time):
    with pytest.raises(UsageError, match=r"an Interval, a datetime or a pair \(start, end\)"):
        read("<urn:a> <urn:p> 1 .", "ttl", time=time)


@pytest.mark.parametrize("lifetime", [60, "PT1M", JANUARY])
def test_a_lifetime_of_another_type_says_what_is_accepted(lifetime):
    with pytest.raises(UsageError, match="must be a timedelta"):
        Event.read("<urn:a> <urn:p> 1 .", "ttl", lifetime=lifetime)


FAULTY = {
    "jsonl": ('{"n": 1}\n{"n": }\n{"n": 3}\n', {"vocab": "urn:"}, 2),
    "csv": ("n,m\n1,1\n2\n3,3\n", {"vocab": "urn:"}, 3),
    "xml": (
        "<t>\n<r id='a'/>\n<r/>\n<r id='c'/>\n</t>",
        {"mapping": {"records": "/t/r", "subject": "urn:{@id}", "class": "urn:R"}},
        3,
    ),
    "cloudevents-batch": (
        '[{"specversion":"1.0","id":"1","source":"s","type":"t"},\n{"id":"2"},\n'
        '{"specversion":"1.0","id":"3","source":"s","type":"t"}]',
        {},
        2,
    ),
}


class TestFaultsInStreams:
    """With `on_fault`, a bad record leaves those after it readable; without, it ends the stream."""

    @pytest.mark.parametrize("format", FAULTY)
    def test_the_others_are_read(self, format):
        text, options, line = FAULTY[format]
        faults: list = []
        events = list(Event.read_stream(text, format, on_fault=faults.append, **options))
        assert len(events) == 2
        assert [fault.line for fault in faults] == [line]
        with pytest.raises(FormatError):
            list(Event.read_stream(text, format, **options))


def test_a_dataset_can_be_one_event():
    text = "<urn:a> <urn:p> 1 . GRAPH <urn:g> { <urn:b> <urn:p> 2 }"
    event = Event.read(text, "trig", dataset=True)
    assert len(event.graph) == 1
    assert {str(quad.graph_name) for quad in event.named_graphs} == {"<urn:g>"}
