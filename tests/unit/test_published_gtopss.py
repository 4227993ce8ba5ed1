"""G-ToPSS as the iBroker paper describes it: pairs with wildcards, and a class taxonomy."""

from __future__ import annotations

import pytest

from ontosub.matching.published import GToPSS
from ontosub.model import Arc, Event, GraphPattern, Ontology, Subscription, Vertex
from ontosub.model.terms import NamedNode, Variable
from ontosub.semantics import Entailment


def n(name: str) -> NamedNode:
    return NamedNode("urn:" + name)


def v(name: str) -> Variable:
    return Variable(name)


def gtopss(*arcs: Arc, vertices: tuple[Vertex, ...] = (), ontology: Ontology | None = None) -> GToPSS:
    made = GToPSS(Entailment(ontology or Ontology()))
    for number, arc in enumerate(arcs):
        made.subscribe(Subscription(f"s{number}", (GraphPattern(vertices, (arc,)),)))
    return made


def matched(algorithm: GToPSS, text: str) -> list[str]:
    event = Event.read("@prefix : <urn:> . " + text, "text/turtle")
    return [match.subscription_id for match in algorithm.match(event)]


ENDS = [(n("a"), n("b")), (n("a"), v("o")), (v("s"), n("b")), (v("s"), v("o"))]


def test_a_statement_looks_at_four_pairs():
    algorithm = gtopss(*(Arc(subject, n("p"), object_) for subject, object_ in ENDS))
    assert matched(algorithm, ":a :p :b .") == ["s0", "s1", "s2", "s3"]
    assert (algorithm.stats.statements, algorithm.stats.entries, algorithm.stats.edge_matches) == (1, 4, 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [(":a :p :c .", ["s1", "s3"]), (":c :p :b .", ["s2", "s3"]), (":c :p :d .", ["s3"]), (":a :q :b .", [])],
)
def test_wildcards_stand_for_what_differs(text, expected):
    assert matched(gtopss(*(Arc(subject, n("p"), object_) for subject, object_ in ENDS)), text) == expected


def test_a_property_may_be_a_wildcard_too():
    assert matched(gtopss(Arc(n("a"), v("p"), n("b"))), ":a :q :b .") == ["s0"]


def test_the_class_taxonomy_is_climbed_for_joined_individuals_only():
    taxonomy = Ontology(subclasses=frozenset({(n("Columnist"), n("Writer")), (n("Writer"), n("Person"))}))
    writer = (Vertex(v("x"), frozenset({n("Person")})),)
    algorithm = gtopss(Arc(v("x"), n("Writes"), v("y")), vertices=writer, ontology=taxonomy)
    assert matched(algorithm, ":ann a :Columnist ; :Writes :a1 . :bob a :Columnist .") == ["s0"]
    assert algorithm.stats.class_checks == 1
    assert matched(algorithm, ":robot a :Machine ; :Writes :a1 .") == []


def test_what_is_unsubscribed_leaves_no_trace():
    algorithm = gtopss(Arc(v("x"), n("p"), v("y")))
    algorithm.unsubscribe("s0")
    assert not matched(algorithm, ":a :p :b .")
    assert not algorithm._edges._entries
