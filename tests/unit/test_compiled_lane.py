"""The byte lane says of a payload what reading it and encoding the triples says, or nothing."""

import math

import numpy as np
import pyoxigraph
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyoxigraph import BaseDirection, RdfFormat

from generators import CLASSES, INDIVIDUALS, PROPERTIES, events, ontologies, rdf_12_events, rdf_12_ontologies
from ontosub.formats.limits import DEFAULT
from ontosub.matching.compiled.events import encoded, literals
from ontosub.matching.compiled.events.concepts import Concepts
from ontosub.matching.compiled.events.dictionary import UNKNOWN, Dictionary
from ontosub.matching.compiled.events.encoded import EncodedEvent
from ontosub.matching.compiled.events.graph import (
    ALONG,
    END,
    IS_VERTEX,
    OWN,
    OWN_KIND,
    SPELLED_KIND,
    SPELLED_NUMBER,
    TERM,
)
from ontosub.matching.compiled.events.scanner import PROBES_MAX, scan
from ontosub.model import Event, Ontology
from ontosub.model.errors import FormatError, LimitError
from ontosub.model.terms import HOME, OWL, RDF, RDFS, TYPE, XSD, BlankNode, Literal, NamedNode, Triple, written
from ontosub.semantics import Entailment
from ontosub.semantics.comparison import equal, order
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.values import value_of

# One worker compiles the kernels for all of these tests.
pytestmark = pytest.mark.xdist_group("compiled")

quick = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])

ASKED = [*CLASSES, OWL["Thing"], RDFS["Literal"], XSD["decimal"], XSD["string"]]


class Lane:
    """A dictionary and concepts, as an index has them, and both ways of encoding an event."""

    def __init__(
        self,
        ontology: Ontology | None = None,
        *,
        asked=ASKED,
        named=PROPERTIES,
        types: bool = True,
        unknown: bool = True,
    ):
        self.entailment = Entailment(ontology or Ontology())
        self.dictionary = Dictionary()
        self.concepts = Concepts(self.entailment, self.dictionary)
        self.asked = {class_: self.concepts.bit_of_class(class_) for class_ in asked}
        for property_ in named:
            self.concepts.property_number(property_)
        self.concepts.keep(types=types, unknown=unknown)

    def of_event(self, event: Event) -> EncodedEvent:
        return EncodedEvent(event.graph, event.home, self.dictionary, self.concepts)

    def of_payload(self, data: bytes, *, quads: bool = False) -> EncodedEvent | None:
        return EncodedEvent.of_payload(data, quads=quads, dictionary=self.dictionary, concepts=self.concepts)

    def classes(self, encoded: EncodedEvent, vertex: int) -> set[NamedNode]:
        bits = encoded.graph.bits[vertex]
        return {class_ for class_, bit in self.asked.items() if int(bits[bit // 64]) >> bit % 64 & 1}


def canonical(event: Event) -> bytes:
    return pyoxigraph.serialize(event.graph, format=RdfFormat.N_TRIPLES) or b""


def arcs_of(encoded: EncodedEvent, starts, arcs, mask) -> set[tuple]:
    """Return the arcs by the terms of their ends, and check what is promised about their order and the masks."""
    found = []
    for vertex in range(len(encoded.graph.vertices)):
        rows = [tuple(row) for row in arcs[starts[vertex] : starts[vertex + 1]].tolist()]
        assert rows == sorted(set(rows))
        assert int(mask[vertex]) == sum(1 << bit for bit in {along & 63 for along, _ in rows})
        term = str(encoded.term(vertex))
        found += [(term, str(encoded.property(row[ALONG])), str(encoded.term(row[END]))) for row in rows]
    assert len(found) == len(arcs) == len(set(found))
    return set(found)


def picture(encoded: EncodedEvent) -> dict:
    """Return all that an encoded event says, by terms instead of numbers."""
    graph = encoded.graph
    terms = [str(encoded.term(vertex)) for vertex in range(len(graph.vertices))]
    assert len(terms) == len(set(terms))
    assert graph.atoms_from.tolist() == [0] * (len(terms) + 1)
    assert len(graph.atoms) == 0
    leaving = arcs_of(encoded, graph.out_from, graph.out, graph.out_mask)
    entering = arcs_of(encoded, graph.in_from, graph.into, graph.in_mask)
    assert leaving == {(first, property_, second) for second, property_, first in entering}
    return {
        "vertices": {
            term: (row.tolist(), values.tolist(), bits.tolist())
            for term, row, values, bits in zip(terms, graph.vertices, graph.values, graph.bits, strict=True)
        },
        "arcs": leaving,
        "home": terms[graph.home] if graph.home >= 0 else None,
    }


def assert_agrees(lane: Lane, data: bytes, *, quads: bool = False) -> bool:
    """Compare both ways; return whether the lane was taken."""
    encoded = lane.of_payload(data, quads=quads)
    if encoded is None:
        return False
    event = Event.read(data, "application/n-quads" if quads else "application/n-triples")
    assert picture(encoded) == picture(lane.of_event(event))
    return True


@quick
@given(ontologies, events, st.booleans(), st.booleans(), st.integers(0, len(PROPERTIES)))
def test_canonical_payloads(ontology, event, types, unknown, named):
    lane = Lane(ontology, named=PROPERTIES[:named], types=types, unknown=unknown)
    assert assert_agrees(lane, canonical(event))
    assert assert_agrees(lane, canonical(event), quads=True)


@quick
@given(ontologies, events)
def test_the_graph_is_the_event_graph(ontology, event):
    lane = Lane(ontology)
    assert_is_event_graph(lane, lane.of_payload(canonical(event)), event)


@quick
@given(rdf_12_ontologies, rdf_12_events)
def test_the_graph_of_an_event_with_triple_terms_is_the_event_graph(ontology, event):
    lane = Lane(ontology, asked=[*ASKED, RDF["langString"], RDF["dirLangString"]])
    assert_is_event_graph(lane, lane.of_event(event), event)


def assert_is_event_graph(lane: Lane, encoded: EncodedEvent, event: Event) -> None:
    expected = lane.entailment.event_graph(event)
    graph = encoded.graph
    terms = [encoded.term(vertex) for vertex in range(len(graph.vertices))]
    assert {term for term, row in zip(terms, graph.vertices, strict=True) if row[IS_VERTEX]} == expected.vertices
    assert picture(encoded)["arcs"] == {(str(t.subject), str(t.predicate), str(t.object)) for t in expected.triples}
    assert (terms[graph.home] if graph.home >= 0 else None) == event.home
    for vertex, term in enumerate(terms):
        assert lane.dictionary.find(written(term)) == graph.vertices[vertex, TERM]
        if term in expected.vertices:
            assert lane.classes(encoded, vertex) == expected.classes(term) & lane.asked.keys()


def test_a_home_that_was_named():
    triples = frozenset({Triple(INDIVIDUALS[0], PROPERTIES[0], INDIVIDUALS[1])})
    lane = Lane()
    for home in INDIVIDUALS[:2]:
        encoded = lane.of_event(Event("e", triples, home))
        assert encoded.term(encoded.graph.home) == home


def test_chains_of_a_transitive_property():
    """Chains through a narrower, an inverse and a symmetric property, into a literal, and around in a circle."""
    part, has, near, whole = PROPERTIES[:4]
    ontology = Ontology(
        properties=frozenset(PROPERTIES),
        transitive=frozenset({part, near}),
        subproperties=frozenset({(near, part), (part, whole)}),
        inverses=frozenset({(part, has)}),
        symmetric=frozenset({near}),
    )
    names = [NamedNode(f"urn:n{i}") for i in range(12)]
    triples = {Triple(names[i], part, names[i + 1]) for i in range(6)}
    triples |= {Triple(names[i + 1], has, names[i]) for i in range(6, 9)}
    triples |= {
        Triple(names[9], near, names[10]),
        Triple(names[11], part, Literal(1)),
        Triple(names[10], part, names[11]),
    }
    lane = Lane(ontology)
    event = Event("e", frozenset(triples))
    expected = {(str(t.subject), str(t.predicate), str(t.object)) for t in lane.entailment.event_graph(event).triples}
    assert picture(lane.of_event(event))["arcs"] == expected
    assert (str(names[0]), str(whole), str(Literal(1))) in expected


def test_a_chain_without_end_is_refused():
    lane = Lane(Ontology(properties=frozenset(PROPERTIES), transitive=frozenset(PROPERTIES[:1])))
    data = b"".join(b"<urn:n%d> <urn:p0> <urn:n%d> .\n" % (i, i + 1) for i in range(3000))
    with pytest.raises(LimitError):
        lane.of_payload(data)


# What the lane takes, and what it leaves to others.

S = b"<http://example.org:80/a?b#c> <urn:p0> "
TAKEN = {
    "nothing": b"",
    "blank lines": b"\n  \r\n\t\n",
    "no final newline": S + b"<urn:i0> .",
    "two newlines": S + b"<urn:i0> .\n\n" + S + b"<urn:i1> .\n",
    "CRLF": S + b"<urn:i0> .\r\n" + S + b'"a" .\r\n',
    "CR": S + b"<urn:i0> .\r" + S + b"<urn:i1> .\r",
    "tabs and spaces": b"\t<urn:i0>\t<urn:p0>  <urn:i1>\t . \t\n",
    "twice": (S + b'"a" .\n') * 2,
    "xsd:string": S + b'"a"^^<http://www.w3.org/2001/XMLSchema#string> .\n' + S + b'"a" .\n',
    "languages": S + b'"a"@en .\n' + S + b'"a"@en-us .\n' + S + b'"a"@gsw .\n',
    "escapes": S + rb'"a\"b\\c\nd\re\tf\bg\f" .' + b"\n" + S + rb'"\\" .' + b"\n" + S + rb'"\\\"" .',
    "beyond ASCII": S + '"Zürich \u0085 東京 🗼 \ufffd"@de .\n'.encode(),
    "percent": b"<http://h/%41%c3%bc> <urn:p0> <urn:%2f> .\n",
    "labels": b"_:0a_b-c <urn:p0> _:H .\n_:00 <urn:p1> _:A .\n",
    "types": b"_:a <%s> <urn:C0> .\n_:a <%s> <urn:nobody> .\n" % ((TYPE.value.encode(),) * 2),
    "a loop": b"_:a <urn:p0> _:a .\n",
    "a class with arcs": b"_:a <%s> <urn:C0> .\n<urn:C0> <urn:p0> _:b .\n" % TYPE.value.encode(),
    "unknown datatype": S + b'"a"^^<urn:datatype> .\n',
    "message": b'_:message <urn:message> "@message ." .\n<urn:x#@message> <urn:p0> "# @message" .\n',
}
LEFT = {
    "comment": S + b"<urn:i0> . # a comment\n",
    "comment line": b"# a comment\n" + S + b"<urn:i0> .\n",
    "message": S + b"<urn:i0> .\n# @message\n" + S + b"<urn:i1> .\n",
    "version": b'VERSION "1.2"\n' + S + b"<urn:i0> .\n",
    "byte order mark": b"\xef\xbb\xbf" + S + b"<urn:i0> .\n",
    "bad UTF-8": S + b'"\xff" .\n',
    "half a surrogate": S + b'"\xed\xa0\x80" .\n',
    "overlong": S + b'"\xc0\xaf" .\n',
    "no character": S + b'"\xef\xbf\xbf" .\n',
    "escaped code point": S + rb'"\u0041" .',
    "escaped IRI": rb"<urn:\u0041> <urn:p0> <urn:i0> .",
    "needless escape": S + rb'"\'" .',
    "bad escape": S + rb'"\x" .',
    "escape at the end": S + b'"\\',
    "raw tab": S + b'"\t" .\n',
    "raw newline": S + b'"\n" .\n',
    "control": S + b'"\x7f" .\n',
    "large language": S + b'"a"@en-US .\n',
    "direction": S + b'"a"@en--ltr .\n',
    "short language": S + b'"a"@a .\n',
    "apart language": S + b'"a" @en .\n',
    "langString": S + b'"a"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .\n',
    "dirLangString": S + b'"a"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString> .\n',
    "relative IRI": b"<i0> <urn:p0> <urn:i0> .\n",
    "IRI with space": b"<urn:a b> <urn:p0> <urn:i0> .\n",
    "IRI beyond ASCII": "<urn:ü> <urn:p0> <urn:i0> .\n".encode(),
    "two fragments": b"<urn:a#b#c> <urn:p0> <urn:i0> .\n",
    "bad percent": b"<urn:%4> <urn:p0> <urn:i0> .\n",
    "bad port": b"<http://h:8x/> <urn:p0> <urn:i0> .\n",
    "user": b"<http://u@h/> <urn:p0> <urn:i0> .\n",
    "label with dot": b"_:a.b <urn:p0> <urn:i0> .\n",
    "label with hyphen": b"_:-a <urn:p0> <urn:i0> .\n",
    "empty label": b"_: <urn:p0> <urn:i0> .\n",
    "label with colon": b"_:a:b <urn:p0> <urn:i0> .\n",
    "literal subject": b'"a" <urn:p0> <urn:i0> .\n',
    "blank predicate": b"_:a _:b <urn:i0> .\n",
    "no space": b"<urn:i0><urn:p0><urn:i1>.\n",
    "no dot": S + b"<urn:i0>\n",
    "two in a line": S + b"<urn:i0> . " + S + b"<urn:i1> .\n",
    "line break inside": b"<urn:i0>\n<urn:p0> <urn:i1> .\n",
    "triple term": S + b"<<( <urn:i0> <urn:p0> <urn:i1> )>> .\n",
    "Turtle": b"@prefix : <urn:> . :a :b :c .\n",
    "a fourth term": S + b"<urn:i0> <urn:g> .\n",
    "zero": S + b"<urn:i0> .\n\0",
    "garbage": bytes(range(256)),
}


@pytest.fixture(scope="module")
def lane() -> Lane:
    return Lane()


@pytest.mark.parametrize("name", TAKEN)
def test_taken(lane, name):
    assert assert_agrees(lane, TAKEN[name])


@pytest.mark.parametrize("name", LEFT)
def test_left_to_a_parser(lane, name):
    assert lane.of_payload(LEFT[name]) is None


def test_terms_that_the_dictionary_knows_are_judged_where_syntaxes_differ(lane):
    """JSON-LD allows a colon in a label, N-Triples does not."""
    lane.dictionary.number(["_:c:d", "<urn:ü>"])
    assert lane.of_payload(b"_:c:d <urn:p0> <urn:i0> .\n") is None
    assert assert_agrees(lane, "<urn:ü> <urn:p0> <urn:i0> .\n".encode())


class TestLimits:
    """What a reader refuses, the lane leaves to it."""

    def test_size(self, lane, monkeypatch):
        monkeypatch.setattr(encoded, "LANE_BYTES_MAX", len(WHOLE))
        assert lane.of_payload(WHOLE) is not None
        assert lane.of_payload(WHOLE + b"\n") is None

    def test_literals(self, lane):
        longest = b"a" * (DEFAULT.literal_chars - 2)
        assert lane.of_payload(S + b'"%s" .\n' % longest) is not None
        assert lane.of_payload(S + b'"%s" .\n' % (longest + b"aaa")) is None

    def test_statements(self, lane):
        line = b"_:a <urn:p0> _:b .\n"
        assert len(lane.of_payload(line * DEFAULT.triples).graph.vertices) == 2
        assert lane.of_payload(line * (DEFAULT.triples + 1)) is None


class TestQuads:
    PLAIN = b"_:a <urn:p0> <urn:i0> .\n_:a <urn:p1> _:b .\n"
    NAMED = b"_:a <urn:p0> <urn:i0> <urn:g> .\n_:a <urn:p1> _:b <urn:g> .\n"

    def test_one_graph(self, lane):
        assert assert_agrees(lane, self.PLAIN, quads=True)
        assert assert_agrees(lane, self.NAMED, quads=True)
        assert assert_agrees(lane, self.NAMED.replace(b"<urn:g>", b"_:g"), quads=True)
        assert picture(lane.of_payload(self.NAMED, quads=True)) == picture(lane.of_payload(self.PLAIN, quads=True))

    @pytest.mark.parametrize(
        "data",
        [
            NAMED + PLAIN,
            PLAIN + NAMED,
            NAMED + b"<urn:g> <urn:p0> <urn:i1> .\n",
            NAMED + b"_:a <urn:p0> <urn:i0> <urn:h> .\n",
            b'_:a <urn:p0> <urn:i0> "g" .\n',
            b"_:a <urn:p0> <urn:i0> <g> .\n",
            b"_:a <urn:p0> <urn:i0> <urn:g> <urn:h> .\n",
        ],
    )
    def test_several_graphs_or_no_name(self, lane, data):
        assert lane.of_payload(data, quads=True) is None


# Whatever the bytes are.

WHOLE = b"".join(
    [
        b"_:H <urn:p0> <http://example.org:8080/a%20b?c=d#e> .\n",
        b'<urn:i0> <urn:p1> "a \\"b\\" \\\\ c"@en-us .\r\n',
        b'_:x <urn:p1> "3.0"^^<http://www.w3.org/2001/XMLSchema#decimal> .\n',
        b'\t_:x  <urn:p2> "red"^^<http://www.w3.org/2001/XMLSchema#string> .\n',
        '_:x <urn:other> "Grüße \u2028 🗼" .\n'.encode(),
        b"_:x <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:C0> .\n",
        b"<urn:i0> <urn:p0> _:b .\n",
    ]
)


def judge(lane: Lane, data: bytes, *, quads: bool = False) -> None:
    """Demand that the lane declines, or says what a reading says; what cannot be read, it must decline."""
    try:
        assert_agrees(lane, data, quads=quads)
    except FormatError as error:
        raise AssertionError(f"the lane took what cannot be read: {data!r}") from error


def test_truncated_anywhere(lane):
    """What lies behind the end makes no difference."""
    dictionary = lane.dictionary
    known = dictionary.slots, dictionary.hashes, dictionary.offsets, dictionary.text
    buffer = np.frombuffer(WHOLE, np.uint8)
    for end in range(len(WHOLE) + 1):
        judge(lane, WHOLE[:end])
        for strict in (True, False):
            status, statements, count, terms, term_count = scan(buffer[:end], strict, False, *known)
            alone = scan(np.frombuffer(WHOLE[:end], np.uint8), strict, False, *known)
            assert (status, count, term_count) == (alone[0], alone[2], alone[4])
            assert np.array_equal(statements[:count], alone[1][:count])
            assert np.array_equal(terms[:term_count], alone[3][:term_count])


INTERESTING = b' \t\r\n.<>"_:\\^@#%-/abtuHe0\x00\x7f\x80\xc3\xbc\xef\xbf\xbe'


@st.composite
def mutated(draw) -> bytes:
    """Return the payload with a few bytes exchanged, put in, left out or moved."""
    data = bytearray(WHOLE)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data) - 1))
        size = draw(st.integers(0, 3))
        new = draw(st.one_of(st.sampled_from(INTERESTING).map(lambda byte: bytes([byte])), st.binary(max_size=2)))
        if draw(st.booleans()):
            start = draw(st.integers(0, len(data) - 1))
            new = bytes(data[start : start + draw(st.integers(0, 40))])
        data[at : at + size] = new
    return bytes(data)


@settings(quick, max_examples=600)
@given(mutated(), st.booleans())
def test_mutated_anyhow(lane, data, quads):
    judge(lane, data, quads=quads)


def test_every_byte_everywhere(lane):
    """One byte exchanged: in every place, one of every kind of character."""
    for place in range(len(WHOLE)):
        byte = INTERESTING[place % len(INTERESTING)]
        judge(lane, WHOLE[:place] + bytes([byte]) + WHOLE[place + 1 :])


@quick
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.text("ab-zAZ09.~!@:/?#[]%{}|ü ", max_size=12))
@example("\ufffe", "")
def test_any_text_and_any_iri(lane, text, rest):
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    judge(lane, f'<urn:s> <urn:p0> "{quoted}" .\n'.encode())
    judge(lane, f"<http://{rest}> <urn:p0> <urn:{rest}> .\n".encode())


def test_colliding_terms_are_refused(lane):
    """Literals with the same hash, as only ill will makes them: three words, of which the second undoes the first."""
    multiplier, half = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)

    def mixed(value, word):
        value = (value ^ word) * multiplier
        return value ^ value >> half

    random = np.random.default_rng(1)
    words = random.integers(97, 123, (8_000_000, 8), np.uint8)
    words[:, 0] = ord('"')
    first = words.view(np.uint64)[:, 0]
    seconds = (
        (mixed(mixed(np.zeros(1, np.uint64), np.uint64(24)), first) ^ np.uint64(12345)).view(np.uint8).reshape(-1, 8)
    )
    plain = ((seconds >= 32) & (seconds < 127) & (seconds != 34) & (seconds != 92)).all(axis=1)
    colliding = [
        first.tobytes() + second.tobytes() + b'abcdefg"'
        for first, second in zip(words[plain], seconds[plain], strict=True)
    ]
    assert len(set(colliding)) > PROBES_MAX + 1
    data = b"".join(b"<urn:s> <urn:p0> %s .\n" % literal for literal in colliding)
    with pytest.raises(LimitError):
        lane.of_payload(data)
    assert assert_agrees(lane, data[: 200 * 45].rpartition(b"\n")[0])


# Values.

DIGITS = "0123456789"
NUMERALS = st.from_regex(r"[+-]?[0-9]{0,17}(\.[0-9]{0,6})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
CLOCKS = st.from_regex(r"(0[0-9]|1[0-9]|2[0-4]):(00|59|60):(00|01|59)(\.[0-9]{0,8})?", fullmatch=True)
DATES = st.from_regex(
    r"(1699|1700|1972|2024|2100|2250|2251|0001|-0004)-(02-(28|29|30)|12-31|01-01|06-15|13-01)", fullmatch=True
)
ZONES = st.sampled_from(["", "", "Z", "+00:00", "+14:00", "-13:59", "+05:30", "+15:00", "z"])
SPELLINGS = st.one_of(
    st.tuples(st.sampled_from(["decimal", "double", "integer", "byte", "long", "float", "string"]), NUMERALS),
    st.tuples(st.just("boolean"), st.sampled_from(["true", "false", "1", "0", "TRUE", "01", "", "2", "truefalse"])),
    st.tuples(st.just("dateTime"), st.builds("{}T{}{}".format, DATES, CLOCKS, ZONES)),
    st.tuples(st.just("date"), st.builds("{}{}".format, DATES, ZONES)),
    st.tuples(st.sampled_from(["time", "gYear", "dateTimeStamp"]), st.sampled_from(["12:00:00", "2024", "x"])),
)
TYPED = st.builds(
    lambda spelling, before, after: Literal(before + spelling[1] + after, datatype=XSD[spelling[0]]),
    SPELLINGS,
    st.sampled_from(["", "", "", " ", "\t", "\n", "0" * 1001]),
    st.sampled_from(["", "", "", " ", "\r"]),
)


def kind_and_value(literal: Literal) -> tuple[int, float]:
    data = np.frombuffer(str(literal).encode(), np.uint8)
    kind, value, _, _ = literals.value_of(data, 0, len(data))
    return kind, value


@settings(quick, max_examples=500)
@given(TYPED, TYPED)
@example(Literal("2024-02-28", datatype=XSD["date"]), Literal("2024-02-29", datatype=XSD["date"]))
@example(Literal("true", datatype=XSD["boolean"]), Literal("0", datatype=XSD["boolean"]))
@example(Literal("\t5", datatype=XSD["integer"]), Literal("5", datatype=XSD["integer"]))
@example(Literal("0" * 1000 + "5", datatype=XSD["integer"]), Literal("5", datatype=XSD["integer"]))
def test_the_order_of_floats_is_the_order_of_values(first, second):
    (kind, left), (other, right) = kind_and_value(first), kind_and_value(second)
    for literal, each in ((first, kind), (second, other)):
        if each == literals.NO_VALUE:
            assert value_of(literal) is None or isinstance(value_of(literal), str)
        elif each != literals.UNSURE:
            assert value_of(literal) is not None
    decided = {literals.NUMBER, literals.MOMENT, literals.BOOLEAN, literals.LOCAL_MOMENT, literals.DATE}
    if kind == other and kind in decided:
        assert order(first, second) == (left > right) - (left < right)
        assert equal(first, second) == (left == right)
    elif {kind, other} <= decided and {kind, other} != {literals.MOMENT, literals.LOCAL_MOMENT}:
        with pytest.raises(ExpressionError):
            order(first, second)
        assert not equal(first, second)


@pytest.mark.parametrize(
    ("text", "datatype", "kind", "value"),
    [
        ("true", "boolean", literals.BOOLEAN, 1.0),
        ("0", "boolean", literals.BOOLEAN, 0.0),
        ("1970-01-02T00:00:00.5", "dateTime", literals.LOCAL_MOMENT, 86_400_500_000.0),
        ("1970-01-02T00:00:00.5Z", "dateTime", literals.MOMENT, 86_400_500_000.0),
        ("1970-01-02T01:00:00+01:00", "dateTime", literals.MOMENT, 86_400_000_000.0),
        ("1970-01-02", "date", literals.DATE, 1.0),
        ("1970-01-02Z", "date", literals.UNSURE, 0.0),
        ("1970-01-02T24:00:00", "dateTime", literals.UNSURE, 0.0),
        ("1", "float", literals.UNSURE, 0.0),
        ("12", "string", literals.NO_VALUE, 0.0),
    ],
)
def test_kinds(lane, text, datatype, kind, value):
    literal = Literal(text, datatype=XSD[datatype])
    assert kind_and_value(literal) == (kind, value)
    graph = lane.of_payload(b"<urn:s> <urn:p0> %s .\n" % str(literal).encode()).graph
    assert graph.vertices[:, OWN_KIND].tolist() == [literals.RESOURCE, kind]
    assert graph.values[1, OWN] == value


def test_numbers_that_strings_spell(lane):
    graph = lane.of_payload(b'<urn:s> <urn:p0> "4.5e1" .\n').graph
    assert graph.vertices[1, SPELLED_KIND] == literals.NUMBER
    assert graph.values[1, SPELLED_NUMBER] == 45.0
    assert math.isclose(graph.values[1, OWN], 0.0)


# The dictionary.


@quick
@given(st.lists(st.lists(st.text(max_size=40), max_size=20), max_size=5))
def test_numbers_stay(batches):
    dictionary, expected = Dictionary(), {}
    for batch in batches:
        numbers = dictionary.number(batch).tolist()
        for term in batch:
            expected.setdefault(term, len(expected))
        assert numbers == [expected[term] for term in batch]
    assert len(dictionary) == len(expected)
    for term, number in expected.items():
        assert dictionary.find(term) == number
        assert dictionary.term(number) == term


def test_growth_and_reopening():
    terms = [f"<http://example.org/a/long/path/{i}>" for i in range(5000)]
    dictionary = Dictionary()
    for start in range(0, len(terms), 700):
        dictionary.number(terms[start : start + 700])
    saved = {name: array.copy() for name, array in dictionary.arrays()}
    for array in saved.values():
        array.flags.writeable = False
    before = {name: array.copy() for name, array in saved.items()}
    reopened = Dictionary(saved)
    assert len(reopened) == len(terms)
    assert [reopened.find(term) for term in terms] == list(range(len(terms)))
    assert reopened.find("<http://example.org/other>") == UNKNOWN
    assert reopened.number(["<urn:new>", terms[7]]).tolist() == [len(terms), 7]
    assert reopened.find("<urn:new>") == len(terms)
    assert all(np.array_equal(saved[name], before[name]) for name in saved)


def test_pieces_make_a_whole():
    dictionary = Dictionary()
    first = dictionary.number(["<urn:a>", '"b"'])
    piece = dictionary.since(0)
    dictionary.number(["<urn:c>", "_:d"])
    whole = Dictionary.of_pieces([piece, dictionary.since(len(first))])
    assert [whole.term(number) for number in range(len(whole))] == ["<urn:a>", '"b"', "<urn:c>", "_:d"]
    assert whole.number(["_:d", "_:e"]).tolist() == [3, 4]


@quick
@given(events)
def test_terms_that_came_later(event):
    """Constants of new subscriptions are terms of the dictionary before the tables know of them."""
    lane = Lane()
    data = canonical(event)
    assert assert_agrees(lane, data)
    lane.dictionary.number([f"<urn:more{i}>" for i in range(3000)])
    lane.dictionary.number([str(term) for triple in event.graph for term in (triple.subject, triple.object)])
    encoded = lane.of_payload(data)
    assert assert_agrees(lane, data)
    assert (encoded.graph.vertices[:, TERM] >= 0).all()


@quick
@given(ontologies, events)
def test_texts_lead_back_to_terms(ontology, event):
    encoded = Lane(ontology).of_event(event)
    data, starts, ends = encoded.texts()
    for vertex in range(len(encoded.graph.vertices)):
        if starts[vertex] >= 0:
            assert data[starts[vertex] : ends[vertex]].tobytes().decode() == str(encoded.term(vertex))
        else:
            assert encoded.graph.vertices[vertex, TERM] >= 0


def test_triple_terms_are_vertices_and_lead_back_to_terms(lane):
    """Whatever a literal inside has that looks like an end: what stands in a triple term is no vertex by itself."""
    texts = [Literal(text) for text in ("", ")>>", '" )>> .\n<<( ', "\\", "<urn:x> )>>")]
    inner = [Triple(HOME, PROPERTIES[0], text) for text in texts]
    values = [*inner, *(Triple(BlankNode("b"), TYPE, each) for each in inner)]
    encoded = lane.of_event(Event("e", frozenset(Triple(HOME, PROPERTIES[1], each) for each in values)))
    assert {encoded.term(vertex) for vertex in range(len(encoded.graph.vertices))} == {HOME, *values}


@pytest.mark.parametrize(
    ("value", "class_"),
    [
        (Literal("a", language="ar"), RDF["langString"]),
        (Literal("a", language="ar-eg", direction=BaseDirection.RTL), RDF["dirLangString"]),
        (Literal("a--rtl", language="en"), RDF["langString"]),
        (Triple(HOME, TYPE, Literal("a", language="ar", direction=BaseDirection.LTR)), OWL["Thing"]),
    ],
)
def test_classes_of_values_of_rdf_12(value, class_):
    lane = Lane(asked=[RDF["langString"], RDF["dirLangString"], OWL["Thing"]])
    encoded = lane.of_event(Event("e", frozenset({Triple(HOME, PROPERTIES[0], value)})))
    (vertex,) = [each for each in range(2) if encoded.term(each) == value]
    assert lane.classes(encoded, vertex) == {class_}


def test_a_triple_term_that_the_dictionary_knows_is_left_to_a_parser(lane):
    lane.dictionary.number([written(Triple(INDIVIDUALS[0], PROPERTIES[0], INDIVIDUALS[1]))])
    assert lane.of_payload(LEFT["triple term"]) is None


def test_blank_labels_are_kept(lane):
    encoded = lane.of_payload(b"_:f00dfeedf00dfeed <urn:p0> _:b0 .\n")
    assert [encoded.term(0), encoded.term(1)] == [BlankNode("f00dfeedf00dfeed"), BlankNode("b0")]
