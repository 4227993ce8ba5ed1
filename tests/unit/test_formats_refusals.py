"""What is refused: malformed payloads with their place, dangerous ones with the limit that they break."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontosub.formats import FORMATS, Limits, media_of, read_quads, read_triples, write
from ontosub.model import Event
from ontosub.model.errors import FormatError, LimitError, OntosubError, UsageError

RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://x/"'

MALFORMED = [
    ("turtle", "<urn:a> <urn:b> .\n", 1, 17, "not a valid RDF object"),
    ("turtle", "<urn:a> <urn:b> <urn:c> .\n  <urn:a> x:b 3 .", 2, 11, "prefix x: has not been declared"),
    ("turtle", '<urn:a> <urn:b> "𝒳é" oops .', 1, 22, "oops"),
    ("turtle", "<urn:a> <urn:b> <c d> .", 1, 17, "invalid IRI"),
    ("turtle", "<a> <urn:b> 1 .", 1, 1, "no scheme found"),
    ("turtle", "<urn:a> <urn:b> 1", 1, 18, "unexpected end"),
    ("turtle", '<urn:a> <urn:b> "x\ny" .', 1, 19, "line jumps"),
    ("trig", "<urn:g> {\n<urn:a> foo 1 }", 2, 9, "not a valid predicate"),
    ("ntriples", "<urn:a> <urn:b> 1 .", 1, 17, ""),
    ("nquads", '<urn:a> <urn:b> "x" .\n<urn:a> foo "x" .', 2, 9, "predicate"),
    ("n3", "<urn:a> <urn:b> 1 .\n{ <urn:a> <urn:b> 1 } <urn:c> 2 .", 2, 1, "formulas"),
    ("n3", "<urn:a> <urn:b> 1 .\n<urn:a> <urn:b> ?x .", 2, 1, "variables"),
    ("rdfxml", f"<rdf:RDF {RDF}>\n<rdf:Description>\n</e:x></rdf:RDF>", 3, 3, "mismatched tag"),
    ("rdfxml", f"<rdf:RDF {RDF}>\n  <e:x rdf:about='a b'/></rdf:RDF>", 2, 19, "invalid IRI"),
    ("rdfxml", f"<rdf:RDF {RDF}>\n  <e:x rdf:nodeID='0'/>\n</rdf:RDF>", 2, 3, "nodeID"),
    ("rdfxml", f"<rdf:RDF {RDF}>&nbsp;</rdf:RDF>", 1, len(RDF) + 11, "undefined entity"),
    ("rdfxml", f"<!DOCTYPE a SYSTEM 'a.dtd'><rdf:RDF {RDF}>&x;</rdf:RDF>", 1, len(RDF) + 38, "not declared"),
    ("jsonld", '{"@id": "urn:a",\n "urn:p": }', 2, 11, "expecting value"),
    ("jsonld", '{"é": "𝒳", }', 1, 12, "property name"),
    ("jsonld", '{"urn:p": NaN}', 1, 11, "NaN is not JSON"),
    ("jsonld", '{"urn:p": 1} {}', 1, 14, "extra data"),
    ("jsonld", '{\n"urn:p": {"@value": 1, "@type": 5}}', 2, 24, "@type"),
    ("jsonld", '[{"@context":\n ["http://x/"]}]', 2, 3, "lies elsewhere"),
    ("jsonld", '{"@context": {"@import": "http://x/"}}', 1, 26, "lies elsewhere"),
    ("jsonld", '{"\\u0040context": "http://x/"}', 1, 19, "lies elsewhere"),
    ("jsonld", '{"@context": {"a": {"@id": "urn:a", "@context": "x.json"}}}', 1, 49, "lies elsewhere"),
    ("jsonld", "", 1, 1, "expecting value"),
    ("json", '{"p": 1}', 1, 1, "no meaning without a context"),
    ("xml", "<a>\n<b></a>", 2, 6, "mismatched tag"),
    ("xml", "<a x='1' x='2'/>", 1, 10, "duplicate attribute"),
    ("xml", "", 1, 1, "no element"),
    ("xml", "<a>\n <b/></a>", 1, 1, "no namespace"),
    ("xml", "<!DOCTYPE a [\n<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>", 2, 1, "outside of the document"),
    ("xml", "<!DOCTYPE a [\n<!ENTITY % x 'y'> %x;]><a/>", 2, 1, "parameter entity"),
    ("xml", "<!DOCTYPE a [<!ENTITY b '&c;'><!ENTITY c 'd'>]><a>&b;</a>", 1, 14, "not declared before it"),
    ("xml", "<!DOCTYPE a [<!ATTLIST a b CDATA 'c'>]><a/>", 1, 34, "default"),
    ("csv", "a,b\n3\n", 2, 1, "1 cells where the header has 2"),
    ("csv", "a,b\n1,2\n", 2, 1, "no meaning without a vocabulary"),
    ("csv", 'a,b\n1,"2', 2, 1, "unexpected end of data"),
    ("csv", "a,a\n1,2", 1, 1, "'a' twice"),
    ("csv", "a,\n1,2", 1, 1, "without a name"),
    ("cloudevents", "[]", 1, 1, "is a JSON object"),
    ("cloudevents-batch", "{}", 1, 1, "is a JSON array"),
]


@pytest.mark.parametrize(("format", "text", "line", "column", "message"), MALFORMED)
def test_malformed_payloads_are_placed(format, text, line, column, message):
    with pytest.raises(FormatError) as caught:
        Event.read(text, format)
    assert message.lower() in caught.value.message.lower()
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.diagnostic.text == text


@pytest.mark.parametrize("format", ["turtle", "jsonld", "rdfxml", "csv", "nq"])
def test_invalid_utf_8_is_placed(format):
    with pytest.raises(FormatError, match="0xff is not utf-8") as caught:
        Event.read(b"\xc3\xa9\n\xc3\xa9\xff", format)
    assert (caught.value.line, caught.value.column) == (2, 2)
    with pytest.raises(FormatError, match="lone surrogate"):
        Event.read("\ud800", format)


def test_a_charset_is_heard():
    assert len(Event.read(b"a\n\xe9\n", "text/csv; charset=ISO-8859-1", vocab="urn:").graph) == 1
    for charset in ("punycode", "nonsense", "zlib"):
        with pytest.raises(UsageError, match="unknown charset"):
            Event.read(b"a\n\xe9\n", f"text/csv; charset={charset}", vocab="urn:")


@pytest.mark.parametrize("format", ["ttl", "trig", "nt", "nq", "n3", "rdf", "jelly"])
def test_an_empty_payload_is_an_event_without_triples(format):
    assert Event.read(b"", format).graph == set()


def test_empty_json():
    assert Event.read("{}", "json").graph == set()
    assert Event.read("[]", "jsonld").graph == set()


@pytest.mark.parametrize("data", [b"\x00", b"oops", b"\n\x05oops", b"\x02\n\x00", b"\xff" * 20])
def test_malformed_jelly(data):
    with pytest.raises(FormatError, match="malformed Jelly in frame 1"):
        Event.read(data, "jelly")


def test_jelly_is_bytes():
    with pytest.raises(UsageError, match="binary"):
        read_triples("", "jelly")


def test_names_of_formats():
    assert media_of("TEXT/Turtle ; Charset=utf-8").parameters == {"charset": "utf-8"}
    assert media_of(".OWL").format.name == "rdfxml"
    assert media_of("application/soap+xml").format.name == "xml"
    for name in ("text/plain", "", "+json", "parquet"):
        with pytest.raises(UsageError, match=r"unknown format .*turtle, trig, ntriples"):
            Event.read("", name)
    with pytest.raises(UsageError, match="give the format"):
        Event.read("")
    with pytest.raises(UsageError, match="unknown option 'contxt'"):
        Event.read("", "ttl", contxt={})
    with pytest.raises(UsageError, match="csv is not an RDF syntax"):
        read_triples("", "csv")
    with pytest.raises(UsageError, match="not an absolute IRI"):
        read_triples("", "ttl", base="a b")


def test_one_graph_is_one_graph():
    assert len(read_triples("<urn:g> { <urn:a> <urn:b> 1, 2 }", "trig")) == 2
    assert len(read_quads("<urn:g> { <urn:a> <urn:b> 1 } <urn:a> <urn:b> 1 .", "trig")) == 2
    with pytest.raises(FormatError, match="2 graphs where one is expected"):
        read_triples("<urn:g> { <urn:a> <urn:b> 1 } <urn:a> <urn:b> 1 .", "trig")


def test_base():
    expected = read_triples("<http://x/a> <http://x/b> <http://x/c> .", "ttl")
    assert read_triples("<a> <b> <c> .", "ttl", base="http://x/") == expected
    context = {"b": {"@id": "http://x/b", "@type": "@id"}}
    assert Event.read('{"@id": "a", "b": "c"}', "json", context=context, base="http://x/").graph == set(expected)


def bomb(levels):
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, levels))
    return f'<!DOCTYPE d [<!ENTITY l0 "lol">{entities}]>'


NESTED = "<< <urn:a> <urn:b> ".replace("<<", "<<(") * 3000 + "1" + " )>>" * 3000
MANY_TERMS = {f"t{i}": f"urn:{i}" for i in range(3000)}
MANY_ATTRIBUTES = " ".join(f"e:a{i}='1'" for i in range(1001))
MANY_PREFIXES = [" ".join(f"xmlns:p{i}='urn:{i}'" for i in range(start, start + 500)) for start in (0, 500)]
COSTLY = {
    "xml entities": ("xml", bomb(9) + "<d>&l8;</d>", "entity_chars = 16,777,216"),
    "xml entities, wide": ("xml", bomb(5) + "<d>" + "&l4;" * 600 + "</d>", "entity_chars"),
    "rdf/xml entities": ("rdf", bomb(9) + f"<rdf:RDF {RDF}><e:a e:b='&l8;'/></rdf:RDF>", "entity_chars"),
    "long namespace": (
        "rdf",
        f'<!DOCTYPE d [<!ENTITY l "http://{"l" * 100000}">]><rdf:RDF {RDF} xmlns:l="&l;"/>',
        "a namespace has 100,007 characters",
    ),
    "long xml base": (
        "rdf",
        f'<!DOCTYPE d [<!ENTITY l "http://{"l" * 100000}/">]><rdf:RDF {RDF} xml:base="&l;">'
        + "<e:a rdf:about='b'/>" * 3000
        + "</rdf:RDF>",
        "term_chars = 268,435,456",
    ),
    "many attributes": (
        "rdf",
        f"<rdf:RDF {RDF}><e:a {MANY_ATTRIBUTES}/></rdf:RDF>",
        "an element has 1,001 attributes: the limit is 1,000",
    ),
    "many prefixes": (
        "rdf",
        f"<rdf:RDF {RDF} {MANY_PREFIXES[0]}><e:a {MANY_PREFIXES[1]}/></rdf:RDF>",
        "1,001 prefixes are declared at a time: the limit is 1,000",
    ),
    "deep xml": ("xml", "<a>" * 101 + "</a>" * 101, "depth = 100"),
    "deep rdf/xml": ("rdf", f"<rdf:RDF {RDF}>" + "<e:a>" * 200 + "</e:a>" * 200 + "</rdf:RDF>", "depth"),
    "deep json": ("json", '{"a":' * 3000 + "1" + "}" * 3000, "depth"),
    "deep json-ld": ("jsonld", '{"urn:a":' * 3000 + "1" + "}" * 3000, "depth"),
    "deep and unclosed": ("jsonl", "[" * 3000, "depth"),
    "deep triple terms": ("ttl", f"<urn:a> <urn:b> {NESTED} .", "depth"),
    "deep triple terms behind a quote": ("ttl", f"<urn:a> <urn:b> '\\'', {NESTED} . # '", "depth"),
    "deep triple terms in a log": ("ttl", f"# @message\n<urn:a> <urn:b> {NESTED} .", "depth"),
    "long prefix": (
        "ttl",
        f"PREFIX a: <urn:{'a' * 100000}> " + "a: a: a: ." * 2000,
        "term_chars",
    ),
    "long chain of terms": (
        "jsonld",
        json.dumps({"@context": {f"t{i}": f"t{i + 1}:x" for i in range(20000)}, "t0": 1}),
        "more than 500 terms",
    ),
    "large context, entered often": (
        "jsonld",
        json.dumps({"@context": MANY_TERMS, "@graph": [{"@context": {"a": "urn:a"}}] * 3000}),
        "context_work = 2,000,000",
    ),
    "large scoped context": (
        "jsonld",
        json.dumps({"@context": {"p": {"@id": "urn:p", "@context": MANY_TERMS}}, "@graph": [{"p": {"t1": 1}}] * 900}),
        "context_work",
    ),
    "a cell too long": ("csv", "a\n" + "x" * 140_000, "131,072"),
}


@pytest.mark.parametrize("name", COSTLY)
def test_costly_payloads_are_refused(name):
    syntax, text, limit = COSTLY[name]
    with pytest.raises(LimitError, match=limit):
        list(Event.read_stream(text, syntax, vocab="urn:"))


def test_what_only_looks_costly_is_read():
    shallow = "<urn:a> <urn:b> " + ", ".join(['"<<(<<("', "<<( <urn:a> <urn:b> 1 )>>", "'>>'"] * 200) + " ."
    assert len(Event.read(shallow, "ttl").graph) == 3
    each = {"@context": {"p": "urn:p"}, "@id": "urn:a", "p": 1}
    assert len(Event.read(json.dumps([each] * 3000), "jsonld").graph) == 1
    assert len(Event.read('{"@id":"urn:a","urn:p":["[[[", ' + "[1]," * 200 + '"]"]}', "jsonld").graph) == 3
    names = f'<!DOCTYPE rdf:RDF [<!ENTITY e "http://x/"><!ENTITY f "&e;f&#38;amp;">]><rdf:RDF {RDF}>'
    document = names + '<e:a rdf:about="&e;a"><e:p>&f;</e:p></e:a></rdf:RDF>'
    assert len(Event.read(document, "rdf").graph) == 2


def test_size_limits():
    huge = b'<urn:a> <urn:b> "' + b"x" * 100_000_000 + b'" .'
    with pytest.raises(LimitError, match="payload_bytes = 67,108,864"):
        Event.read(huge, "nt")
    literal = huge[:5_000_000] + b'" .'
    for syntax in ("nt", "ttl"):
        with pytest.raises(LimitError, match="literal_chars = 4,194,304"):
            Event.read(literal, syntax)
    assert Event.read(literal, "nt", limits=Limits(literal_chars=10_000_000)).graph
    with pytest.raises(LimitError, match="triples = 3"):
        Event.read("<urn:a> <urn:b> 1, 2, 3, 4 .", "ttl", limits=Limits(triples=3))
    with pytest.raises(LimitError, match="triples = 3"):
        list(Event.read_stream("<urn:a> <urn:b> 1, 2, 3, 4 .\n# @message", "ttl", limits=Limits(triples=3)))
    with pytest.raises(LimitError, match="triples = 3"):
        Event.read("<a><b/><c/><d/></a>", "xml", vocab="urn:", limits=Limits(triples=3))
    assert len(list(Event.read_stream("<urn:a> <urn:b> 1 .\n# @message\n" * 9, "ttl", limits=Limits(triples=3)))) == 9
    with pytest.raises(UsageError, match="depth must be at least 1"):
        Limits(depth=0)


def test_a_context_beside_is_not_fetched_either():
    for context in ({"@context": "http://x/"}, '{"@context": ["http://x/"]}', {"@context": {"@import": "http://x/"}}):
        with pytest.raises(FormatError, match=r"context, line 1, .*lies elsewhere"):
            Event.read('{"a": 1}', "json", context=context)
    with pytest.raises(FormatError, match="gives no member of the payload a meaning"):
        Event.read('{"a": 1}', "json", context={"b": "urn:b"})


MAPPINGS = [
    ([], "mapping must be an object"),
    ({}, "mapping says nothing"),
    ({"class": "urn:C", "propertys": []}, "unknown member 'propertys'"),
    ({"class": "x"}, "mapping.class 'x' is neither an IRI"),
    ({"class": 5}, "mapping.class must be a prefixed name"),
    ({"properties": {}}, "mapping.properties must be a list"),
    ({"properties": [{"from": "a"}]}, r"mapping.properties\[0\] lacks the property"),
    ({"properties": [{"property": "urn:p"}]}, r"properties\[0\] says not where its value is from"),
    ({"properties": [{"property": "urn:p", "from": "a", "iri": "{a}"}]}, "both from and iri"),
    ({"properties": [{"property": "urn:p", "iri": "{a}", "object": {"class": "urn:C"}}]}, "both iri and object"),
    ({"properties": [{"property": "urn:p", "iri": "{a}", "language": "en"}]}, "no literal"),
    ({"properties": [{"property": "urn:p", "from": "a", "language": "en", "datatype": "xsd:date"}]}, "both datatype"),
    ({"properties": [{"property": "urn:p", "from": "a", "language": "e n"}]}, "no language tag"),
    ({"properties": [{"property": "urn:p", "object": {}}]}, r"properties\[0\].object says nothing"),
    ({"properties": [{"property": "urn:p", "from": 3}]}, r"properties\[0\].from must be a text"),
    ({"class": "urn:C", "subject": "_: "}, "no blank node"),
    ({"class": "urn:C", "prefixes": {"a": 1}}, "prefixes must be an object of IRIs"),
    ({"properties": [{"property": "urn:p", "from": "a", "object": {"class": "urn:C"}}]}, "nothing nested"),
    (
        {"properties": [{"property": "urn:p", "from": "a", "datatype": "xsd:date", "default": "never"}]},
        r"properties\[0\].default: 'never' is no xsd:date",
    ),
]


@pytest.mark.parametrize(("mapping", "message"), MAPPINGS)
def test_bad_mappings(mapping, message):
    with pytest.raises(UsageError, match=message):
        Event.read("a\n1\n", "csv", mapping=json.dumps(mapping))


def test_a_mapping_that_is_not_json():
    with pytest.raises(FormatError, match="mapping, line 1, column 2"):
        Event.read("a\n1\n", "csv", mapping="{")


INTEGERS = {"properties": [{"property": "urn:p", "from": "b", "datatype": "xsd:integer"}]}
INTEGER_ATTRIBUTES = {"properties": [{"property": "urn:p", "from": "b/@c", "datatype": "xsd:integer"}]}


@pytest.mark.parametrize(
    ("format", "text", "mapping", "line", "column", "message"),
    [
        ("csv", "a,b\nx,<y\n", {"subject": "{+b}", "class": "urn:C"}, 2, 3, "not an IRI"),
        ("csv", "a,b\nx,<y\n", {"subject": "urn:{+b}", "class": "urn:C"}, 2, 1, "not an IRI"),
        ("csv", "a,b\n11,1\n", {"time": "b", "class": "urn:C"}, 2, 4, "'1' is not a time"),
        ("csv", 'a,b\n"1""2",y\n', {"time": "b", "class": "urn:C"}, 2, 8, "'y' is not a time"),
        ("csv", 'a,b\nx,"1""2"\n', {"time": "b", "class": "urn:C"}, 2, 1, "is not a time"),
        (
            "xml",
            "<a>\n<b>u:<x</b></a>".replace("<x", "&lt;x"),
            {"subject": "{+b}", "class": "urn:C"},
            1,
            1,
            "not an IRI",
        ),
        ("csv", "a,b\n7,7.5\n", INTEGERS, 2, 3, "'7.5' is no xsd:integer"),
        ("xml", "<a><b>1</b>\n<b>two</b></a>", INTEGERS, 2, 1, "'two' is no xsd:integer"),
        ("xml", "<a>\n<b c='1'/><b c='2.'/></a>", INTEGER_ATTRIBUTES, 2, 11, "'2.' is no xsd:integer"),
        ("csv", "b\n" + "x" * 100, INTEGERS, 2, 1, "'" + "x" * 59 + "…' is no"),
        ("csv", "a,b\nx,y\n", {"subject": "urn:{c}", "class": "urn:C"}, 1, 1, "no column 'c'"),
        ("csv", "a,b\nx,\n", {"subject": "urn:{b}", "class": "urn:C"}, 2, 1, "no value for {b}"),
        ("csv", "a,b\nx,y\n", {"time": "b", "class": "urn:C"}, 2, 3, "'y' is not a time"),
        ("xml", "<a>\n <b>x</b></a>", {"time": "b", "class": "urn:C"}, 2, 2, "'x' is not a time"),
        ("xml", "<a>\n <b/></a>", {"records": "/a/b", "subject": "urn:{@id}", "class": "urn:C"}, 2, 2, "{@id}"),
    ],
)
def test_values_that_a_mapping_cannot_use_are_placed(format, text, mapping, line, column, message):
    with pytest.raises(FormatError) as caught:
        Event.read(text, format, mapping=mapping)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)


CONTEXT = {
    "@vocab": "urn:",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "price": {"@type": "xsd:decimal"},
    "at": {"@type": "xsd:date"},
}


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ('{"price": "cheap"}', 11, "'cheap' is no xsd:decimal"),
        ('{"note": "3.5", "price": 3.5}', 26, "'3.5E0' is no xsd:decimal"),
        ('{"true": 1, "price": true}', 22, "'true' is no xsd:decimal"),
        ('{"soon": "x", "x": {"at": "so\\u006Fn"}}', 27, "'soon' is no xsd:date"),
    ],
)
def test_values_that_a_context_beside_misjudges_are_placed(text, column, message):
    with pytest.raises(FormatError) as caught:
        Event.read(text, "json", context=CONTEXT)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (1, column)


def test_a_publisher_of_rdf_may_send_what_has_no_value():
    ill_typed = '"cheap"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    assert len(Event.read(f"<urn:a> <urn:price> {ill_typed} .", "ttl").graph) == 1
    described = json.dumps({"@context": CONTEXT, "price": "cheap"})
    assert {str(triple.object) for triple in Event.read(described, "jsonld").graph} == {ill_typed}


@pytest.mark.parametrize("at", [9, 10])
@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("xml", "<a>\n{}\n</a>"),
        ("xml", "<a b='{}'/>"),
        ("csv", "a\n{}\n"),
        ("json", '{{"a": "{}"}}'),
        ("ttl", '<urn:a> <urn:b> "{}" .'),
    ],
)
def test_every_syntax_bounds_its_literals(format, text, at):
    limits = Limits(literal_chars=9)
    if at == 9:
        assert Event.read(text.format("x" * at), format, vocab="urn:", limits=limits).graph
    else:
        with pytest.raises(LimitError, match="literal_chars = 9"):
            Event.read(text.format("x" * at), format, vocab="urn:", limits=limits)


def test_a_long_cell_leaves_the_other_rows_readable():
    faults: list = []
    text = "a\n1\n12345678901\n3\n"
    events = list(Event.read_stream(text, "csv", vocab="urn:", limits=Limits(literal_chars=9), on_fault=faults.append))
    assert len(events) == 2
    assert "line 3: a cell has 11 characters" in str(faults[0])


@pytest.mark.parametrize(
    ("format", "text"),
    [("xml", f"<a xmlns='urn:{'n' * 900}'>" + "<b/>" * 2 + "</a>"), ("csv", "n" * 1000 + "\n1\n2\n3\n")],
)
def test_names_that_are_spelled_often_are_counted(format, text):
    with pytest.raises(LimitError, match="term_chars = 2,000"):
        list(Event.read_stream(text, format, vocab="urn:", limits=Limits(term_chars=2000)))


@pytest.mark.parametrize("name", ["missing.ttl", "folder.ttl", "nul\0.ttl"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, name):
    (tmp_path / "folder.ttl").mkdir()
    with pytest.raises(FormatError, match="cannot be read") as caught:
        Event.read(tmp_path / name)
    assert caught.value.diagnostic.source == str(tmp_path / name)
    with pytest.raises(FormatError, match="cannot be read"):
        Event.read("{}", "json", context=tmp_path / name)


def test_a_mapping_declares_its_prefixes():
    with pytest.raises(UsageError, match="prefix 'o'"):
        Event.read("<a/>", "xml", mapping={"class": "urn:C", "records": "/o:a"})


SAMPLES = [text.encode() for _, text, *_ in MALFORMED] + [
    write(Event.read("<urn:a> <urn:b> 1, _:c .", "ttl").graph, "jelly"),
    b'VERSION "1.2-messages"\n<urn:g> { [] <urn:p> ( 1 "x"@en ) } MESSAGE _:a <urn:p> <<( _:a <urn:p> 1 )>> .',
    b'{"specversion": "1.0", "id": "1", "source": "s", "type": "t", "data": {"a": [1, {"@id": "urn:x"}]}}',
]


@pytest.mark.parametrize("format", [syntax.name for syntax in FORMATS])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_anything_is_read_or_refused(format, data):
    """Whatever arrives, the reader gives events or one of its own errors."""
    sample = data.draw(st.sampled_from(SAMPLES))
    start = data.draw(st.integers(0, len(sample)))
    end = data.draw(st.integers(start, min(len(sample), start + 4)))
    payload = sample[:start] + data.draw(st.binary(max_size=4) | st.sampled_from(SAMPLES)) + sample[end:]
    events = []
    with suppress(OntosubError):  # any other error fails the test
        events = list(Event.read_stream(payload, format, vocab="urn:v:"))
    assert all(event.id for event in events)


KEYWORDS = """@context @id @type @value @language @direction @graph @list @set @reverse @index @nest @included @base
@vocab @version @import @propagate @protected @container @json @none @prefix a urn:p http://x/ _:b urn: :"""
MAPPING_WORDS = "prefixes records id time subject class properties property from datatype language iri object default"
any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
words = st.sampled_from([*KEYWORDS.split(), *MAPPING_WORDS.split()]) | any_text
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(json_values, json_values)
def test_any_context_and_any_mapping_is_used_or_refused(value, beside):
    lines = "\n".join(json.dumps(each) for each in ({"@context": beside}, value, {"a": value}))
    for data, syntax, options in (
        (json.dumps({"@context": beside, "urn:p": value}), "jsonld", {"base": "http://x/"}),
        (json.dumps(value), "json", {"context": json.dumps(beside)}),
        (lines, "jsonl", {"vocab": "urn:", "on_fault": str}),
        ("a,b\n1,2\n", "csv", {"mapping": json.dumps(beside)}),
        ("<a><b c='d'>e</b></a>", "xml", {"mapping": json.dumps({"class": "urn:C", "properties": beside})}),
    ):
        with suppress(OntosubError):  # any other error fails the test
            list(Event.read_stream(data, syntax, **options))


@pytest.mark.parametrize("format", ["turtle", "ntriples", "jsonld"])
def test_a_token_beyond_the_parsers_buffer_is_a_limit(format):
    long = "x" * 17_000_000
    text = f'{{"@id": "urn:a", "urn:p": "{long}"}}' if format == "jsonld" else f'<urn:a> <urn:p> "{long}" .'
    with pytest.raises(LimitError):
        Event.read(text, format)
