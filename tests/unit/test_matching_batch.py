"""Tables of payloads: what is wrong with one row is a row of the rejects, and the other rows have their matches."""

import base64
import json
from contextlib import suppress
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontosub import Matcher, Subscription
from ontosub.matching.batch import Batch, fault_of
from ontosub.model import Event
from ontosub.model.errors import OntosubError

GOOD = b"<urn:s> <urn:p> <urn:o> ."


def cloud_event(**attributes):
    given = {"specversion": "1.0", "id": "1", "source": "urn:s", "type": "t", **attributes}
    return json.dumps({name: value for name, value in given.items() if value is not None}).encode()


def table(*rows):
    """Return rows of (content type, payload), with a good one behind them."""
    rows = [*rows, ("text/turtle", GOOD)]
    columns = [[f"e{number}" for number in range(len(rows))], *map(list, zip(*rows, strict=True))]
    return pa.table(columns, names=["event_id", "content_type", "payload"])


@pytest.fixture(scope="module", params=["naive", "compiled"])
def matcher(request):
    matcher = Matcher(algorithm=request.param)
    matcher.subscribe(Subscription.parse("SELECT * { ?s <urn:p> ?o }", id="s"))
    return matcher


def reasons(matcher, events):
    """Match a table whose last row is good, and return why its other rows are rejected."""
    matches, rejects = matcher.match_batch(events)
    assert matches["event_id"].to_pylist() == [events["event_id"][-1].as_py()]
    assert rejects["event_id"].to_pylist() == events["event_id"].to_pylist()[:-1]
    return rejects["reason"].to_pylist()


POISON = [
    ("text/turtle; charset=\0", GOOD, "unknown charset '\\x00'"),
    ("text/turtle; charset=" + "x" * 1000, GOOD, "unknown charset"),
    ("application/cloudevents+json", cloud_event(datacontenttype="text/turtle; charset=\0", data_base64=""), "charset"),
    ("application/cloudevents+json", cloud_event(time="0001-01-01T00:00:00+14:00"), "outside of the years 1 to 9999"),
    ("application/cloudevents+json", cloud_event(time="9999-12-31T23:59:60Z"), "is not a time"),
    ("application/ld+json", b'{"@context": "\\ud800"}', "the context \\ud800 lies elsewhere"),
]


@pytest.mark.parametrize(("content_type", "payload", "reason"), POISON)
def test_a_bad_payload_is_a_reject(matcher, content_type, payload, reason):
    (said,) = reasons(matcher, table((content_type, payload)))
    assert reason in said


MEANINGLESS = ["charset*=utf-8''utf-8", "version*=", "version*=x", "charset*0=utf", '="', "a=b"]


@pytest.mark.parametrize("parameter", MEANINGLESS)
def test_parameters_that_mean_nothing_are_passed_over(matcher, parameter):
    data = base64.b64encode(GOOD).decode()
    enclosed = cloud_event(datacontenttype=f"text/turtle; {parameter}", data_base64=data)
    events = table((f"text/turtle; {parameter}", GOOD), ("application/cloudevents+json", enclosed))
    matches, rejects = matcher.match_batch(events)
    assert (len(matches), len(rejects)) == (3, 0)


def test_what_a_reader_does_not_foresee_is_a_reject_that_names_it(matcher, monkeypatch):
    def read(data, content_type, **options):
        if content_type == "text/turtle":
            return real(data, content_type, **options)
        raise KeyError("unforeseen")

    real = Event.read
    monkeypatch.setattr(Event, "read", read)
    assert reasons(matcher, table(("text/n3", b""))) == ["reading fails with KeyError: 'unforeseen'"]


def test_running_out_of_memory_is_no_reject():
    with pytest.raises(MemoryError):
        fault_of(MemoryError())


def test_a_reason_has_an_end(matcher):
    context = json.dumps({"@context": "x" * 1_000_000}).encode()
    (said,) = reasons(matcher, table(("application/ld+json", context)))
    assert len(said) == 10_000


def with_times(starts, unit="us"):
    count = len(starts)
    columns = {"event_id": [f"e{i}" for i in range(count)], "content_type": ["text/turtle"] * count}
    moments = pa.array(starts, pa.int64()).cast(pa.timestamp(unit))
    return pa.table({**columns, "payload": [GOOD] * count, "time_start": moments})


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_a_time_outside_of_the_calendar_is_a_reject(matcher, unit):
    said = reasons(matcher, with_times([2**63 - 1, -(2**63) + 1, 0], unit))
    assert all("outside of the years 1 to 9999" in reason for reason in said)


def test_times_of_all_units_are_moments():
    for unit, count in (("s", 1), ("ms", 1_000), ("us", 1_000_000), ("ns", 1_000_000_999)):
        assert Batch(with_times([count], unit)).interval(0).start == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)


def test_an_interval_that_ends_before_it_starts_is_a_reject(matcher):
    events = with_times([1, 0])
    ends = pa.array([0, 0], pa.int64()).cast(pa.timestamp("us"))
    assert "before it starts" in reasons(matcher, events.append_column("time_end", ends))[0]


@pytest.mark.parametrize("type", [pa.string(), pa.binary()])
def test_an_id_that_is_not_utf_8_spoils_no_other(matcher, type):
    data = [b"a\xff", b"b"]
    buffers = [None, pa.array([0, 2, 3], pa.int32()).buffers()[1], pa.py_buffer(b"".join(data))]
    ids = pa.Array.from_buffers(type, 2, buffers)
    events = pa.table([ids, ["text/turtle"] * 2, [GOOD] * 2], names=["event_id", "content_type", "payload"])
    assert matcher.match_batch(events).matches["event_id"].to_pylist() == ["a\ufffd", "b"]


def test_a_triple_term_stands_between_brackets():
    matcher = Matcher(algorithm="naive")
    matcher.subscribe(Subscription.parse("SELECT ?o { ?s <urn:p> ?o }", id="s"))
    term = "<<( <urn:a> <urn:b> <<( <urn:a> <urn:b> <urn:c> )>> )>>"
    events = table(("text/turtle", f"<urn:s> <urn:p> {term} .".encode()))
    assert matcher.match_batch(events).matches["bindings"][0].as_py() == [[("o", term)]]


texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
parameters = st.lists(
    st.tuples(st.sampled_from(["charset", "charset*", "charset*0*", "version", "", "x"]), texts), max_size=3
)
TYPES = """text/turtle application/json application/ld+json text/xml text/csv application/x-jelly-rdf text/n3 nt
application/rdf+xml application/cloudevents+json application/x-ndjson"""
types = st.sampled_from(TYPES.split())


@settings(max_examples=300, deadline=None)
@given(types | texts, parameters, st.binary(max_size=30) | st.just(GOOD))
def test_any_content_type_gives_an_event_or_an_error_of_ours(essence, given, payload):
    content_type = ";".join([essence, *(f"{name}={value}" for name, value in given)])
    with suppress(OntosubError):
        Event.read(payload, content_type, vocab="urn:")


ATTRIBUTES = "id source type specversion time datacontenttype data data_base64 subject"
VALUES = ["text/turtle; charset*=''", "2026-01-01T23:59:60Z", "9999-12-31T23:59:59-14:00"]
attributes = st.dictionaries(
    st.sampled_from(ATTRIBUTES.split()), texts | st.sampled_from(VALUES) | st.none(), max_size=6
)


@settings(max_examples=300, deadline=None)
@given(attributes)
def test_any_envelope_gives_an_event_or_an_error_of_ours(given):
    structured, headers = cloud_event(**given), {f"ce-{name}": value for name, value in given.items() if value}
    for data, options in ((structured, {"format": "application/cloudevents+json"}), (GOOD, {"headers": headers})):
        with suppress(OntosubError):
            Event.read(data, **options)
