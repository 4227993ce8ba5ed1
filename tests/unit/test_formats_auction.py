"""The same little auction event, in every format that can say it."""

import json
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, Literal, NamedNode, Quad, Triple

from ontosub.formats import write
from ontosub.model import Event
from ontosub.model.errors import FormatError, UsageError

A = "http://auction.example/"
XSD = "http://www.w3.org/2001/XMLSchema#"

TURTLE = f"""
PREFIX : <{A}>
PREFIX xsd: <{XSD}>
_:H a :Selling ; :seller :anna ; :item [ a :Camera ; :name "Leica"@de ; :price "350.5"^^xsd:decimal ] .
"""
N_TRIPLES = f"""
_:H <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{A}Selling> .
_:H <{A}seller> <{A}anna> .
_:H <{A}item> _:i .
_:i <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{A}Camera> .
_:i <{A}name> "Leica"@de .
_:i <{A}price> "350.5"^^<{XSD}decimal> .
"""
RDF_XML = f"""<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY xsd "{XSD}"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="{A}">
  <Selling rdf:nodeID="H">
    <seller rdf:resource="{A}anna"/>
    <item><Camera><name xml:lang="de">Leica</name><price rdf:datatype="&xsd;decimal">350.5</price></Camera></item>
  </Selling>
</rdf:RDF>"""
CONTEXT = {
    "@vocab": A,
    "id": "@id",
    "kind": "@type",
    "seller": {"@type": "@id"},
    "name": {"@language": "de"},
    "price": {"@type": f"{XSD}decimal"},
}
PLAIN = {
    "id": "_:H",
    "kind": "Selling",
    "seller": f"{A}anna",
    "item": {"kind": "Camera", "name": "Leica", "price": "350.5"},
}
JSON_LD = json.dumps({"@context": CONTEXT, **PLAIN})
MAPPING = {
    "prefixes": {"": A},
    "subject": "_:H",
    "class": ":Selling",
    "properties": [
        {"property": ":seller", "iri": A + "{seller}"},
        {
            "property": ":item",
            "object": {
                "class": ":Camera",
                "properties": [
                    {"property": ":name", "from": "name", "language": "de"},
                    {"property": ":price", "from": "price", "datatype": "xsd:decimal"},
                ],
            },
        },
    ],
}
XML = """<selling seller="anna"><camera><name>Leica</name><price> 350.5 </price></camera></selling>"""
XML_MAPPING = json.loads(json.dumps(MAPPING).replace("{seller}", "{@seller}"))
XML_MAPPING["properties"][1]["from"] = "camera"
CSV = "seller,name,price\nanna,Leica,350.5\n"

EXPECTED = Event.read(N_TRIPLES, "nt")

SAME = {
    "turtle": (TURTLE, "text/turtle; charset=utf-8", {}),
    "trig": (TURTLE, "application/trig", {}),
    "n3": (TURTLE, "n3", {}),
    "n-triples": (N_TRIPLES, "application/n-triples", {}),
    "n-quads": (N_TRIPLES, "nq", {}),
    "rdf/xml": (RDF_XML, "application/rdf+xml", {}),
    "json-ld": (JSON_LD, "application/ld+json", {}),
    "jelly": (write(EXPECTED.graph, "jelly"), "jelly", {}),
    "json": (json.dumps(PLAIN), "application/json", {"context": CONTEXT}),
    "json, context as text": (json.dumps(PLAIN), "json", {"context": json.dumps({"@context": CONTEXT})}),
    "json lines": (json.dumps(PLAIN), "application/x-ndjson", {"context": CONTEXT}),
    "vendor json": (json.dumps(PLAIN), "application/vnd.acme+json", {"context": CONTEXT}),
    "xml": (XML, "application/xml", {"mapping": XML_MAPPING}),
    "csv": (CSV, "text/csv", {"mapping": MAPPING}),
    "tsv": (CSV.replace(",", "\t"), "tsv", {"mapping": json.dumps(MAPPING)}),
    "csv, semicolons": (CSV.replace(",", ";"), "csv", {"mapping": MAPPING, "delimiter": ";"}),
    "byte order mark": (b"\xef\xbb\xbf" + TURTLE.encode(), "ttl", {}),
    "utf-16 xml": (RDF_XML.encode("utf-16"), "rdf", {}),
}


def canonical(triples):
    dataset = Dataset(Quad(t.subject, t.predicate, t.object) for t in triples)
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return {str(quad) for quad in dataset}


@pytest.mark.parametrize("name", SAME)
def test_every_format_says_the_same(name):
    data, syntax, options = SAME[name]
    event = Event.read(data, syntax, **options)
    assert canonical(event.graph) == canonical(EXPECTED.graph)
    assert event.home == BlankNode("H")


@pytest.mark.parametrize("name", SAME)
def test_reading_twice_gives_equal_events(name):
    data, syntax, options = SAME[name]
    assert Event.read(data, syntax, **options) == Event.read(data, syntax, **options)


@pytest.mark.parametrize("name", SAME)
def test_a_stream_of_one_is_the_event(name):
    data, syntax, options = SAME[name]
    event = Event.read(data, syntax, **options)
    (streamed,) = Event.read_stream(data, syntax, **options)
    assert streamed == event


def test_text_and_bytes_are_the_same_payload():
    assert Event.read(TURTLE, "ttl") == Event.read(TURTLE.encode(), "ttl")


def test_a_file_is_read_by_its_extension(tmp_path: Path):
    file = tmp_path / "selling.ttl"
    file.write_text(TURTLE)
    assert Event.read(file) == Event.read(TURTLE, "ttl")
    file.write_text("oops")
    with pytest.raises(FormatError, match=r"selling\.ttl, line 1, column 1: "):
        Event.read(file)
    with pytest.raises(UsageError, match="no extension"):
        Event.read(tmp_path / "selling")


def test_context_and_mapping_may_be_files(tmp_path: Path):
    (tmp_path / "context.json").write_text(json.dumps(CONTEXT))
    (tmp_path / "mapping.json").write_text(json.dumps(MAPPING))
    event = Event.read(json.dumps(PLAIN), "json", context=tmp_path / "context.json")
    assert canonical(event.graph) == canonical(EXPECTED.graph)
    event = Event.read(CSV, "csv", mapping=tmp_path / "mapping.json")
    assert canonical(event.graph) == canonical(EXPECTED.graph)


def test_anonymous_blank_nodes_do_not_collide_with_written_ones():
    event = Event.read("_:b0 <urn:p> [ <urn:q> _:b2, [] ] .", "ttl")
    b = [BlankNode(f"b{i}") for i in range(4)]
    p, q = NamedNode("urn:p"), NamedNode("urn:q")
    assert event.graph == {Triple(b[0], p, b[1]), Triple(b[1], q, b[2]), Triple(b[1], q, b[3])}


def test_anonymous_blank_nodes_inside_triple_terms_are_labelled_alike_on_every_reading():
    texts = ("<urn:a> <urn:p> <<( [] <urn:q> <<( [] <urn:q> 1 )>> )>> .", "<urn:a> <urn:p> 1 {| <urn:q> [] |} .")
    for text in texts:
        event = Event.read(text, "ttl")
        assert event == Event.read(text, "ttl")
        assert "_:b0 " in "".join(f"{triple} ." for triple in event.graph)


def test_written_labels_that_look_random_are_kept():
    label = "abcdef0123456789abcdef0123456789"
    event = Event.read(f'_:{label} <urn:p> [], "_:{label} " .', "ttl")
    p = NamedNode("urn:p")
    assert event.graph == {
        Triple(BlankNode(label), p, BlankNode("b0")),
        Triple(BlankNode(label), p, Literal(f"_:{label} ")),
    }


def test_labels_that_only_some_syntaxes_allow_are_changed():
    p = NamedNode("urn:p")
    json_ld = Event.read('{"@id": "_:a:b", "urn:p": ["_:c:d ", {"@id": "_:a:b"}, {}]}', "jsonld")
    (node,) = {triple.subject for triple in json_ld.graph}
    assert node == BlankNode("x" + b"a:b".hex())
    assert {triple.object for triple in json_ld.graph} == {node, Literal("_:c:d "), BlankNode("b0")}
    jelly = Event.read(write([Triple(BlankNode("a:b"), p, Literal("1"))], "jelly"), "jelly")
    assert jelly.graph == {Triple(node, p, Literal("1"))}


def test_maps_and_trees_become_rdf_without_a_mapping():
    home, rdf = BlankNode("H"), "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    row = Event.read("seller,price,note\nanna,350.5,\n", "csv", vocab=A)
    assert row.graph == {
        Triple(home, NamedNode(A + "seller"), Literal("anna")),
        Triple(home, NamedNode(A + "price"), Literal("350.5")),
    }
    tree = Event.read(
        '<sale id="7" xmlns:x="urn:x"><x:item new="yes">Leica <b>M3</b></x:item><t xml:lang="de">ja</t></sale>',
        "xml",
        vocab=A,
    )
    b0 = BlankNode("b0")
    assert tree.graph == {
        Triple(home, NamedNode(rdf + "type"), NamedNode(A + "sale")),
        Triple(home, NamedNode(A + "id"), Literal("7")),
        Triple(home, NamedNode("urn:x#item"), b0),
        Triple(b0, NamedNode("urn:x#new"), Literal("yes")),
        Triple(b0, NamedNode(rdf + "value"), Literal("Leica")),
        Triple(b0, NamedNode(A + "b"), Literal("M3")),
        Triple(home, NamedNode(A + "t"), Literal("ja", language="de")),
    }
    assert tree.home == home
    lifted = Event.read('{"seller": "anna", "price": 350.5, "count": 350, "sold": true, "note": null}', "json", vocab=A)
    b0 = lifted.home
    assert lifted.graph == {
        Triple(b0, NamedNode(A + "seller"), Literal("anna")),
        Triple(b0, NamedNode(A + "price"), Literal("3.505E2", datatype=NamedNode(XSD + "double"))),
        Triple(b0, NamedNode(A + "count"), Literal(350)),
        Triple(b0, NamedNode(A + "sold"), Literal(True)),
    }
