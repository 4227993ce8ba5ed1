import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

from generators import events, ontologies, ops_patterns, patterns
from ontosub import Event, Matcher, Ontology, Subscription
from ontosub.matching.constraints import constraints_of, restricted
from ontosub.matching.definition import mappings
from ontosub.matching.explain import BUDGET, CONSTRAINTS_MAX, explain
from ontosub.matching.naive import Evaluation
from ontosub.matching.showing import telling_apart
from ontosub.semantics import Entailment

ONTOLOGY = Ontology.read(
    """@prefix : <urn:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    :Notebook rdfs:subClassOf :Computer . :Computer rdfs:subClassOf :Product . :cell rdfs:subPropertyOf :phone .
    :Selling rdfs:subClassOf :Offer . :partOf a owl:TransitiveProperty . :room5 :partOf :wing1 . :wing1 :partOf :house .
    :target rdfs:range :Product . :price rdfs:domain :Offer .""",
    format="text/turtle",
)
EVENT = Event.read(
    "@prefix : <urn:> . _:H a :Selling ; :target _:t ; :price 450 ; :at :room5 . _:t a :Notebook .", "ttl", id="e"
)


def explained(text: str, language: str = "ops", event: Event = EVENT):
    matcher = Matcher(ONTOLOGY)
    matcher.subscribe(Subscription.parse("PREFIX : <urn:>\n" + text, language, id="s"))
    return matcher.explain(event, "s")


class TestMatch:
    def test_shows_the_mapping_and_the_axioms_used(self):
        explanation = explained("(_:H, ?1, (:Offer, :target, :Product))")
        assert explanation.matched
        assert str(explanation.mapping["?1"]) == "_:t"
        (product,) = [reason for reason in explanation.held if reason.constraint == "?1 is a <Product>"]
        assert [str(axiom) for axiom in product.axioms]
        assert all(fact in EVENT.graph for fact in product.facts)
        assert not explanation.failed

    def test_names_background_facts_and_transitivity(self):
        explanation = explained("SELECT ?o { ?o :at ?r . ?r :partOf :house }", "sparql")
        (arc,) = [reason for reason in explanation.held if "partOf" in reason.constraint]
        assert {str(fact) for fact in arc.facts} == {
            "<urn:room5> <urn:partOf> <urn:wing1>",
            "<urn:wing1> <urn:partOf> <urn:house>",
        }
        assert "TransitiveProperty" in str(arc.axioms[0])

    def test_of_a_residual_shows_a_mapping_of_its_answer(self):
        event = Event.read("@prefix : <urn:> . :a a :N ; :v 5 . :b a :N ; :v 5 . :c a :N .", "ttl")
        explanation = explained("SELECT ?x { ?x a :N MINUS { ?x :v 5 } }", "sparql", event)
        assert explanation.matched
        assert str(explanation.mapping["?x"]) == "<urn:c>"

    def test_of_a_residual_with_alternatives_shows_the_one_that_answers(self):
        event = Event.read("@prefix : <urn:> . :a :p :x . :b :q :x .", "ttl")
        explanation = explained("SELECT ?x { { ?x :p :x } UNION { ?x :q :x } MINUS { ?x :p ?y } }", "sparql", event)
        assert explanation.matched
        assert str(explanation.mapping["?x"]) == "<urn:b>"
        assert [reason.constraint for reason in explanation.held] == ["?x <q> <x>", "the rest of the query"]

    def test_reads_well(self):
        assert "matches" in str(explained("(_:H, ?1, (:Offer, :target, :Product))")).splitlines()[0]


class TestNearestMiss:
    def test_names_the_offending_value(self):
        explanation = explained(
            "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
            "(_:H, ?1, (:Offer, :target, :Computer)) (_:H, ?2, (:Offer, :price, xsd:decimal), ?2 < 400)"
        )
        assert not explanation.matched
        (failed,) = explanation.failed
        assert failed.detail == "?2 = 450 is not < 400"
        assert "5 of 6" in str(explanation) or len(explanation.held) > 4

    def test_names_the_classes_that_there_are(self):
        explanation = explained("(_:H, ?1, (:Offer, :target, :Selling))")
        (failed,) = explanation.failed
        assert failed.constraint == "?1 is a <Selling>"
        assert "<Notebook>" in failed.detail

    def test_names_the_missing_arc(self):
        (failed,) = explained("(_:H, ?1, (:Offer, :phone, owl:Thing)) (_:H, ?2, (:Offer, :target, :Product))").failed
        assert failed.detail == "_:H has no <phone>"

    def test_names_where_an_arc_leads_instead(self):
        (failed,) = explained("SELECT ?x { ?x :at :room6 }", "sparql").failed
        assert "leads to <room5>" in failed.detail

    def test_of_injectivity(self):
        (failed,) = explained("(_:H, ?1, (:Offer, :target, :Product)) (_:H, ?2, (:Offer, :target, :Product))").failed
        assert failed.constraint == "no two vertices are the same"
        assert "are both _:t" in failed.detail

    def test_of_an_event_without_home(self):
        event = Event.read("@prefix : <urn:> . :a :p :b . :c :p :b .", "ttl")
        assert "no home vertex" in str(explained("(_:H, ?1, (:Offer, :target, :Product))", event=event))

    def test_of_the_residual(self):
        explanation = explained("SELECT ?x { ?x :price ?p FILTER NOT EXISTS { ?x :at :room5 } }", "sparql")
        assert [reason.constraint for reason in explanation.failed] == ["the rest of the query"]

    def test_can_be_had_as_plain_values(self):
        plain = explained("(_:H, ?1, (:Offer, :target, :Selling))").to_dict()
        assert plain["matched"] is False
        assert plain["failed"][0]["constraint"] == "?1 is a <Selling>"


class TestBudget:
    """The searches for an explanation are bounded together, and what they leave open is said."""

    PRICES = Event.read(
        "@prefix : <urn:> . " + " ".join(f":a{n} :price {n} ." for n in range(60)) + " :a1 a :Product .", "ttl", id="e"
    )
    ARCS = " . ".join(f"?a{number} :price ?b{number}" for number in range(4))
    COSTLY = f"SELECT * {{ {ARCS} . ?a0 a :Selling FILTER (?b0 + ?b1 + ?b2 + ?b3 > 1000) }}"

    def explained(self, budget: int, text: str = COSTLY):
        subscription = Subscription.parse("PREFIX : <urn:>\n" + text, id="s")
        return explain(subscription, Entailment(ONTOLOGY).event_graph(self.PRICES), None, budget)

    def test_what_it_does_not_reach_is_undecided(self):
        explanation = self.explained(budget=2000)
        assert [reason.constraint for reason in explanation.undecided] == ["?b0 + ?b1 + ?b2 + ?b3 > 1000"]
        assert [reason.constraint for reason in explanation.failed] == ["?a0 is a <Selling>"]
        assert len(explanation.held) == 4
        assert "\n  ? ?b0 + ?b1 + ?b2 + ?b3 > 1000: the search was given up" in str(explanation)
        assert explanation.to_dict()["undecided"][0]["constraint"].startswith("?b0")

    def test_what_it_reaches_is_decided(self):
        explanation = self.explained(1, "SELECT * { ?a :price ?b FILTER (?b > 100) }")
        assert [reason.detail.split()[-3:] for reason in explanation.failed] == [["not", ">", "100"]]
        assert not explanation.undecided

    def test_all_searches_together_stay_within_it(self, monkeypatch):
        tried = []

        def counted(pattern, graph, budget=None):
            tried.append(budget)
            return mappings(pattern, graph, budget)

        monkeypatch.setattr("ontosub.matching.explain.mappings", counted)
        self.explained(budget=20_000)
        assert 0 < sum(tried) <= 20_000

    def test_a_pattern_of_very_many_constraints_is_explained_in_part(self):
        arcs = " . ".join(f"?a{number} :price ?b{number}" for number in range(CONSTRAINTS_MAX + 1))
        explanation = self.explained(BUDGET, f"SELECT * {{ {arcs} . ?a0 a :Selling }}")
        assert (len(explanation.held), len(explanation.undecided)) == (CONSTRAINTS_MAX, 2)


class TestNames:
    """Two vertices never look alike."""

    EVENT = Event.read(
        "@prefix a: <http://a.example/> . @prefix b: <http://b.example/> . @prefix : <urn:> . "
        "a:x :target b:x . b:x a :Notebook ; :name 'only' .",
        "ttl",
        id="e",
    )

    def test_of_different_vertices_differ(self):
        shown = str(explained("SELECT * { ?s :target ?o }", "sparql", self.EVENT))
        assert "  ?s = <http://a.example/x>\n  ?o = <http://b.example/x>\n" in shown
        assert "?s <target> ?o: <http://a.example/x> <target> <http://b.example/x>  [" in shown

    def test_are_brief_where_that_is_enough(self):
        shown = str(explained("SELECT * { ?o :name ?n }", "sparql", self.EVENT))
        assert '?o <name> ?n: <http://b.example/x> <name> "only"' in shown

    def test_of_failing_arcs_differ(self):
        (failed,) = explained("SELECT * { ?s :target <http://a.example/x> }", "sparql", self.EVENT).failed
        assert str(failed) == (
            "?s <target> <http://a.example/x>: <http://a.example/x> <target> leads to <http://b.example/x>"
        )

    def test_are_not_listed_without_end(self):
        event = Event.read("@prefix : <urn:> . :a :price " + ", ".join(map(str, range(100))) + " .", "ttl", id="e")
        (failed,) = explained("SELECT * { ?s :price :none }", "sparql", event).failed
        assert failed.detail == "<a> <price> leads to 0, 1, 10, 11, 12 and 95 more"

    def test_that_are_very_long_are_cut(self):
        texts = ", ".join(f"'{'x' * 1000}{number}'" for number in range(2))
        event = Event.read(f"@prefix : <urn:> . :a :name {texts} .", "ttl", id="e")
        assert len(str(explained("SELECT * { ?s :name ?n }", "sparql", event))) < 1500


@settings(max_examples=150, deadline=None)
@given(ontologies, st.one_of(patterns(), ops_patterns()), events)
def test_an_explanation_tells_the_truth(ontology, pattern, event):
    """What it says holds does hold together; nothing that it says fails could be added; all facts are given."""
    graph = Entailment(ontology).event_graph(event)
    subscription = Subscription("s", (pattern,))
    match = Evaluation(subscription).match(graph)
    matched = match is not None
    explanation = explain(subscription, graph, match)
    show = telling_apart([pattern], graph)
    assert matched == (not explanation.failed)
    held = {reason.constraint for reason in explanation.held}
    kept = [constraint for constraint in constraints_of(pattern) if constraint.text(show) in held]
    assert next(mappings(restricted(pattern, kept), graph), None) is not None
    for constraint in constraints_of(pattern):
        if constraint.text(show) not in held:
            assert next(mappings(restricted(pattern, [*kept, constraint]), graph), None) is None
    for reason in explanation.held:
        assert all(fact in event.graph | ontology.background for fact in reason.facts)


def test_an_explanation_can_be_sent_elsewhere():
    explanation = explained("(_:H, ?1, (:Offer, :target, :Product))")
    assert pickle.loads(pickle.dumps(explanation)) == explanation


def test_str_of_every_reason_is_one_line():
    for reason in explained("(_:H, ?1, (:Offer, :target, :Product))").held:
        assert "\n" not in str(reason)
