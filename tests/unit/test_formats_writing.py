"""What is written is read again, in every RDF syntax."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from ontosub.formats import RDF_FORMATS, read_triples, write, write_event
from ontosub.model import Event
from ontosub.model.errors import UsageError

SYNTAXES = [syntax.name for syntax in RDF_FORMATS]
XSD = "http://www.w3.org/2001/XMLSchema#"

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
xml_texts = st.text(
    st.one_of(
        st.sampled_from("\t\n\r <&>\"'"),
        st.characters(min_codepoint=32, max_codepoint=0xFFFD, exclude_categories=["Cs"]),
    ),
    max_size=12,
)
names = st.sampled_from(["p", "straße", "a.b-c", "名"])
iris = st.builds(
    lambda scheme, name: NamedNode(scheme + name),
    st.sampled_from(["http://example.org/", "urn:x:", "http://example.org/a?b=c#"]),
    names,
)
blanks = st.sampled_from(["H", "b0", "0", "a.b", "é-1"]).map(BlankNode)
datatypes = st.sampled_from(["decimal", "integer", "dateTime", "string"]).map(lambda name: NamedNode(XSD + name))


def literals(text):
    return st.one_of(
        text.map(Literal),
        st.builds(lambda value, language: Literal(value, language=language), text, st.sampled_from(["en", "de-AT"])),
        st.builds(lambda value, datatype: Literal(value, datatype=datatype), text, datatypes),
    )


def graphs(text):
    return st.lists(st.builds(Triple, iris | blanks, iris, iris | blanks | literals(text)), max_size=6)


@pytest.mark.parametrize("format", [name for name in SYNTAXES if name != "rdfxml"])
@settings(max_examples=60, deadline=None)
@given(graph=graphs(texts))
def test_round_trip(format, graph):
    assert set(read_triples(write(graph, format), format)) == set(graph)


def without_labels(graph):
    """A graph with its blank nodes made alike: enough to tell what RDF/XML, which renames some, has changed."""

    def shown(term):
        return "_" if isinstance(term, BlankNode) else str(term)

    return sorted((shown(t.subject), shown(t.predicate), shown(t.object)) for t in set(graph))


@settings(max_examples=100, deadline=None)
@given(graph=graphs(xml_texts))
def test_round_trip_rdf_xml(graph):
    again = read_triples(write(graph, "rdfxml"), "rdfxml")
    assert without_labels(again) == without_labels(graph)
    legal = {t for t in graph if not any(BlankNode(bad) in (t.subject, t.object) for bad in ("0", "é-1"))}
    assert legal <= set(again)


@pytest.mark.parametrize("format", ["turtle", "trig", "ntriples", "nquads", "rdfxml", "jelly"])
def test_triple_terms(format):
    a, p = NamedNode("urn:a"), NamedNode("urn:x#p")
    graph = [Triple(a, p, Triple(BlankNode("x"), p, Literal("1")))]
    assert read_triples(write(graph, format), format) == graph


def test_rdf_xml_renames_a_blank_node_inside_a_triple_term_as_outside():
    a, p, node = NamedNode("urn:a"), NamedNode("urn:x#p"), BlankNode("0")
    again = read_triples(write([Triple(a, p, node), Triple(a, p, Triple(node, p, node))], "rdfxml"), "rdfxml")
    (renamed,) = [triple.object for triple in again if isinstance(triple.object, BlankNode)]
    assert Triple(a, p, Triple(renamed, p, renamed)) in again


def test_what_a_syntax_cannot_say_is_refused():
    a, p = NamedNode("urn:a"), NamedNode("urn:x#p")
    for triple, syntax in [
        (Triple(a, NamedNode("urn:x#"), a), "rdfxml"),
        (Triple(a, NamedNode("urn:x#1"), a), "rdfxml"),
        (Triple(a, p, Literal("\x00")), "rdfxml"),
        (Triple(a, p, Triple(a, p, Literal("\x00"))), "rdfxml"),
        (Triple(a, p, Triple(a, NamedNode("urn:x#1"), a)), "rdfxml"),
        (Triple(a, p, Triple(a, p, a)), "jsonld"),
        (Triple(a, p, a), "csv"),
    ]:
        with pytest.raises(UsageError, match="cannot"):
            write([triple], syntax)


def test_prefixes():
    graph = [Triple(NamedNode("urn:a"), NamedNode("urn:p"), Literal("1"))]
    assert write(graph, "ttl", prefixes={"u": "urn:"}) == b'@prefix u: <urn:> .\nu:a u:p "1" .\n'


@pytest.mark.parametrize("format", SYNTAXES)
def test_events(format):
    event = Event.read('_:H <urn:p> "1", "2" .', "ttl", id="urn:event:1")
    written = write_event(event, format)
    assert written == write_event(event, format)
    again = Event.read(written, format)
    assert (again.graph, again.home) == (event.graph, event.home)
    assert (again.id == event.id) == (format in ("trig", "nquads", "jsonld", "jelly"))


@pytest.mark.parametrize("format", SYNTAXES)
def test_an_event_without_triples(format):
    assert Event.read(write_event(Event("e", frozenset()), format), format).graph == set()
