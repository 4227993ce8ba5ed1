"""What follows from an event: within limits, with reasons, and never at the expense of other events."""

import pyarrow as pa
import pytest

from ontosub import Event, Matcher, Ontology, Subscription
from ontosub.model.errors import LimitError
from ontosub.model.terms import OWL, RDF, RDFS, TYPE, Literal, NamedNode, Triple
from ontosub.semantics import Entailment
from ontosub.semantics.closure import Closure, Derivation, Limits

P = NamedNode("urn:p")
TRANSITIVE = Ontology(transitive=frozenset({P}))
PREFIXES = "@prefix : <urn:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "


def node(number: int) -> NamedNode:
    return NamedNode(f"urn:{number}")


def chain(length: int) -> dict:
    return dict.fromkeys(Triple(node(i), P, node(i + 1)) for i in range(length))


def everywhere(count: int) -> dict:
    return dict.fromkeys(Triple(node(i), P, node(j)) for i in range(count) for j in range(count))


class TestLimits:
    def test_conclusions_are_counted(self):
        rules = Entailment(TRANSITIVE)
        assert len(Closure(rules, chain(10), Limits(45, 1_000))) == 55
        with pytest.raises(LimitError, match="more than 44 triples follow"):
            Closure(rules, chain(10), Limits(44, 1_000))

    def test_conclusions_that_are_known_are_steps(self):
        rules = Entailment(TRANSITIVE)
        assert len(Closure(rules, everywhere(10), Limits(0, 2_000))) == 100
        with pytest.raises(LimitError, match="more than 500 steps"):
            Closure(rules, everywhere(10), Limits(0, 500))

    def test_work_is_that_of_the_conclusions(self):
        # Each of the 4,950 conclusions is drawn once.
        assert len(Closure(Entailment(TRANSITIVE), chain(100), Limits(4_950, 4_950))) == 5_050


class TestDerivations:
    def test_are_objects_for_who_asks(self):
        closure = Entailment(TRANSITIVE).close(chain(2))
        first, second = chain(2)
        axiom = Triple(P, TYPE, OWL["TransitiveProperty"])
        assert closure[Triple(node(0), P, node(2))] == Derivation(axiom, (first, second))
        assert closure[first] is None
        assert list(closure) == [first, second, Triple(node(0), P, node(2))]

    def test_are_there_for_what_follows_only(self):
        closure = Entailment(TRANSITIVE).close(chain(2))
        for absent in (Triple(node(2), P, node(0)), Triple(node(7), P, node(8))):
            assert absent not in closure
            with pytest.raises(KeyError):
                closure[absent]
        assert "no triple" not in closure

    def test_of_the_background_are_kept(self):
        ontology = Ontology(transitive=frozenset({P}), background=frozenset(chain(3)))
        event = Event("e", frozenset({Triple(node(9), P, node(0))}))
        graph = Entailment(ontology).event_graph(event)
        assert graph.derivations[Triple(node(0), P, node(3))].premises
        assert Triple(node(9), P, node(3)) in graph.triples


class TestAnEventThatTooMuchFollowsFrom:
    CHAIN = "".join(f"{triple} .\n" for triple in chain(900)).encode()

    @pytest.fixture
    def matcher(self):
        matcher = Matcher(TRANSITIVE, "naive")
        matcher.subscribe(Subscription.parse("ASK { <urn:0> <urn:p> ?x }", id="s"))
        return matcher

    def test_is_a_reject_among_others(self, matcher):
        small = b"<urn:0> <urn:p> <urn:1> ."
        columns = [["large", "small"], ["application/n-triples"] * 2, [self.CHAIN, small]]
        matches, rejects = matcher.match_batch(pa.table(columns, names=["event_id", "content_type", "payload"]))
        assert matches["event_id"].to_pylist() == ["small"]
        assert rejects["reason"].to_pylist() == ["more than 400,000 triples follow from the event"]

    def test_is_an_error_with_a_message(self, matcher):
        event = Event.read(self.CHAIN, "application/n-triples")
        with pytest.raises(LimitError, match="400,000 triples follow"):
            matcher.match(event)
        with pytest.raises(LimitError, match="400,000 triples follow"):
            matcher.explain(event, "s")


class TestRdf12:
    def holds(self, object_, class_):
        event = Event("e", frozenset({Triple(node(0), P, object_)}))
        return class_ in Entailment(Ontology()).event_graph(event).classes(object_)

    def test_a_string_with_a_direction_has_a_datatype_of_its_own(self):
        (quoted,) = (triple.object for triple in Event.read('<urn:a> <urn:p> "x"@ar--rtl .', "ttl").graph)
        assert self.holds(quoted, RDF["dirLangString"])
        assert self.holds(quoted, RDFS["Literal"])
        assert not self.holds(quoted, RDF["langString"])
        assert not self.holds(Literal("x", language="ar"), RDF["dirLangString"])

    def test_its_datatype_is_a_class_that_can_be_asked_for_and_is_never_bound(self):
        assert Entailment(Ontology()).is_implied(RDF["dirLangString"])

    def test_a_triple_term_is_a_resource_and_nothing_else(self):
        term = Triple(node(0), P, node(1))
        assert self.holds(term, RDFS["Resource"])
        assert self.holds(term, OWL["Thing"])
        assert not self.holds(term, RDFS["Literal"])

    def test_nothing_follows_from_inside_a_triple_term(self):
        ontology = Ontology.read(PREFIXES + ":p rdfs:range :C ; rdfs:domain :D .", format="ttl")
        term = Triple(node(0), P, node(1))
        graph = Entailment(ontology).event_graph(Event("e", frozenset({Triple(node(2), NamedNode("urn:q"), term)})))
        assert graph.vertices == {node(2), term}
        assert graph.types == {}
