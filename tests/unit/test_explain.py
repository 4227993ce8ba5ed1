import pickle
import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators import events, ontologies, ops_patterns, patterns
from ontosub import Event, Matcher, Ontology, Subscription
from ontosub.languages.sparql import query_of
from ontosub.matching.constraints import constraints_of, restricted
from ontosub.matching.definition import mappings
from ontosub.matching.explain import BUDGET, explain
from ontosub.matching.explained_query import explain_query
from ontosub.matching.naive import Evaluation
from ontosub.matching.nearest_part import CONSTRAINTS_MAX
from ontosub.matching.showing import telling_apart
from ontosub.matching.solutions import Solutions
from ontosub.model.errors import OntosubWarning
from ontosub.model.terms import Literal, NamedNode
from ontosub.semantics import Entailment
from ontosub.semantics.budget import Budget
from ontosub.semantics.context import Context
from ontosub.semantics.wording import term_text

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
        assert [reason.constraint for reason in explanation.held] == [
            "?x <q> <x>",
            "{ ?x <p> <x> } UNION { ?x <q> <x> }",
            "MINUS { ?x <p> ?y }",
        ]

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
        (failed,) = explained("SELECT ?x { ?x :price ?p FILTER NOT EXISTS { ?x :at :room5 } }", "sparql").failed
        assert str(failed) == "FILTER NOT EXISTS { ?x <at> <room5> }: it is there with ?x = _:H"

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

        def counted(pattern, graph, context):
            tried.append(context.budget.steps)
            return mappings(pattern, graph, context)

        monkeypatch.setattr("ontosub.matching.nearest_part.mappings", counted)
        self.explained(budget=20_000)
        assert 0 < sum(tried) <= 20_000

    def test_a_pattern_of_very_many_constraints_is_explained_in_part(self):
        arcs = " . ".join(f"?a{number} :price ?b{number}" for number in range(CONSTRAINTS_MAX + 1))
        explanation = self.explained(BUDGET, f"SELECT * {{ {arcs} . ?a0 a :Selling }}")
        assert (len(explanation.held), len(explanation.undecided)) == (CONSTRAINTS_MAX, 2)


QUERIED = Event.read(
    """@prefix : <urn:> . :a a :N ; :v 5 ; :q :c ; :next :b . :b :next :d . :c :name "see" . :d :w 1, 2 .
    :g { :a :inside 1 }""",
    "trig",
    id="e",
    dataset=True,
)


def queried(text: str, **options):
    matcher = Matcher()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OntosubWarning)
        matcher.subscribe(Subscription.parse(text, id="s", prefixes={"": "urn:"}, **options))
    return matcher.explain(QUERIED, "s")


class TestQueryMiss:
    """The part of a query after which no solution is left is named, with the values that decided."""

    @pytest.mark.parametrize(
        ("text", "failed"),
        [
            (
                "ASK { ?x a :N MINUS { ?x :q ?y } }",
                "MINUS { ?x <q> ?y }: takes away the only solution, ?x = <a>: it finds ?x = <a>, ?y = <c>",
            ),
            (
                "ASK { ?x :w ?w MINUS { ?x :w ?z FILTER(?z = 1) } }",
                "MINUS { ?x <w> ?z FILTER(?z = 1) }: takes away each of 2 solutions, for example "
                "?x = <d>, ?w = [12]: it finds ?x = <d>, ?z = 1",
            ),
            ("ASK { ?x a :N FILTER NOT EXISTS { ?x :q ?z } }", "FILTER NOT EXISTS { ?x <q> ?z }: found: ?z = <c>"),
            (
                "ASK { ?x a :N FILTER EXISTS { ?x :next ?y . ?y :v ?w } }",
                "FILTER EXISTS { ?x <next> ?y . ?y <v> ?w }: nothing is found with ?x = <a>",
            ),
            (
                "ASK { ?x :v ?v FILTER(EXISTS { ?x :w ?w } || ?v > 7) }",
                "FILTER(EXISTS { ?x <w> ?w } || ?v > 7): EXISTS { ?x <w> ?w } is not true, and ?v = 5 is not > 7",
            ),
            ("ASK { ?x :v ?v BIND(?v - 2 AS ?total) FILTER(?total > 5) }", "FILTER(?total > 5): ?total = 3 is not > 5"),
            (
                "ASK { ?x :w ?w OPTIONAL { ?x :v ?v } FILTER(?v > 5) }",
                "FILTER(?v > 5): ?v is not bound, nor does it hold for 1 other solution",
            ),
            (
                "SELECT ?x (COUNT(?y) AS ?n) { ?x :q ?y } GROUP BY ?x HAVING (COUNT(?y) > 1)",
                "HAVING(COUNT(?y) > 1): COUNT(?y) = 1 is not > 1 in the group ?x = <a>",
            ),
            (
                "SELECT ?x { ?x :q ?y } GROUP BY ?x (STR(?y)) HAVING (SUM(DISTINCT ?y) > 1)",
                'HAVING(SUM(DISTINCT ?y) > 1): SUM(DISTINCT ?y) is not bound in the group ?x = <a>, STR(?y) = "urn:c"',
            ),
            ("ASK { ?x a :N VALUES ?x { :b :c } }", "VALUES ?x { <b> <c> }: no row agrees with ?x = <a>"),
            ("ASK { ?x a :N VALUES (?x ?y) { } }", "VALUES (?x ?y) {  }: no row agrees with ?x = <a>"),
            ("ASK { VALUES ?x { } }", "VALUES ?x {  }: has no row"),
            ("ASK { ?x a :N . ?x :next+ :a }", "?x <next>+ <a>: there is no such path with ?x = <a>"),
            ("ASK { :a (^:next|!(:q|^:v))+ :c }", "<a> (^<next>|!(<q>|^<v>))+ <c>: nothing like this is found"),
            ("ASK { ?x a :N { SELECT ?x { ?x :v ?v FILTER(?v > 9) } } }", "FILTER(?v > 9): ?v = 5 is not > 9"),
            (
                "ASK { ?x a :N { SELECT ?x { ?x :w ?v } ORDER BY ?v LIMIT 1 } }",
                "{ SELECT ?x { ?x <w> ?v } LIMIT 1 }: nothing agrees with ?x = <a>; it finds ?x = <d>",
            ),
            ("SELECT ?x { ?x a :N } LIMIT 0", "LIMIT 0: lets no solution pass"),
            ("SELECT DISTINCT ?x { ?x :w ?w } OFFSET 1", "OFFSET 1: there is only 1 solution"),
            ("ASK { ?x a :N GRAPH :h { ?x :inside 1 } }", "GRAPH <h> { ?x <inside> 1 }: the event has no graph <h>"),
            (
                "ASK { GRAPH ?g { ?x :q ?y } }",
                "GRAPH ?g { ?x <q> ?y }: none of the event's 1 named graphs has it",
            ),
            (
                "ASK { ?x :q ?t . ?x :q <<( ?s ?p ?o )>> OPTIONAL { ?x :z ?z } }",
                "_:step1 = <<( ?s ?p ?o )>>: the term is not like this",
            ),
        ],
    )
    def test_names_what_decided(self, text, failed):
        explanation = queried(text)
        assert explanation.matched is False
        (reason,) = explanation.failed
        assert re.fullmatch(re.escape(failed).replace(re.escape("[12]"), "[12]"), str(reason))
        assert not explanation.undecided

    def test_of_a_union_names_what_fails_in_each_branch(self):
        explanation = queried("ASK { { ?x :v ?v OPTIONAL { ?x :z ?z } FILTER(?z > 1) } UNION { ?x :w 3 } }")
        assert [str(reason) for reason in explanation.failed] == [
            "{ ?x <v> ?v OPTIONAL { ?x <z> ?z } FILTER(?z > 1) } UNION { ?x <w> 3 }: "
            "none of its 2 branches has a solution",
            "FILTER(?z > 1): ?z is not bound",
            "?x <w> 3: <d> <w> leads to 1, 2",
        ]

    def test_of_a_named_graph_names_what_fails_in_it(self):
        explanation = queried("ASK { ?x a :N GRAPH :g { ?x :inside 2 } }")
        assert [str(reason) for reason in explanation.failed] == [
            "GRAPH <g> { ?x <inside> 2 }: not found in <g>",
            "?x <inside> 2: <a> <inside> leads to 1",
        ]

    def test_of_an_aggregate_of_nothing_names_what_left_nothing(self):
        explanation = queried("SELECT (COUNT(*) AS ?n) { ?x :v ?v FILTER(?v > 9) } HAVING (COUNT(*) > 0)")
        assert [str(reason) for reason in explanation.failed] == [
            "FILTER(?v > 9): ?v = 5 is not > 9",
            "HAVING(COUNT(*) > 0): COUNT(*) = 0 is not > 0",
        ]

    def test_speaks_of_the_solution_that_came_nearest(self):
        explanation = queried(
            "ASK { ?x :next ?y FILTER NOT EXISTS { ?x :v ?v } MINUS { ?y :next :d } "
            "OPTIONAL { ?y :w ?w } FILTER(?w > 2) }"
        )
        assert explanation.mapping["?x"] == NamedNode("urn:b")
        (failed,) = explanation.failed
        assert failed.constraint == "FILTER(?w > 2)"
        assert {str(reason) for reason in explanation.held} >= {
            "MINUS { ?y <next> <d> }: nothing agrees with ?y = <d>",
            "FILTER NOT EXISTS { ?x <v> ?v }: nothing is found with ?x = <b>",
        }

    def test_says_where_the_part_stands(self):
        text = "PREFIX : <urn:>\nASK {\n  ?x a :N\n  MINUS { ?x :q :c }\n}"
        explanation = queried(text)
        (failed,) = explanation.to_dict()["failed"]
        assert (failed["line"], failed["column"]) == (4, 11)
        assert "  - MINUS { ?x <q> <c> } (line 4, column 11): takes away" in str(explanation)

    def test_has_no_position_in_a_text_that_cannot_be_read_by_itself(self):
        (failed,) = queried("ASK { ?x a :N MINUS { ?x :q :c } }").to_dict()["failed"]
        assert failed["line"] is None

    def test_of_a_failing_core_says_nothing_of_the_rest(self):
        (failed,) = queried("ASK { ?x a :M MINUS { ?x :q :c } }").failed
        assert failed.constraint == "?x is a <M>"


class TestQueryMatch:
    """What each part of a query did for the first answer is told."""

    @pytest.mark.parametrize(
        ("text", "held"),
        [
            ("ASK { ?x a :N OPTIONAL { ?x :next ?y } }", ["OPTIONAL { ?x <next> ?y }: found: ?y = <b>"]),
            ("ASK { ?x a :N OPTIONAL { ?x :next :b } }", ["OPTIONAL { ?x <next> <b> }: found"]),
            (
                "ASK { ?x :v ?v OPTIONAL { ?x :q ?y FILTER(?v > 5) } }",
                ["OPTIONAL { ?x <q> ?y FILTER(?v > 5) }: nothing is found"],
            ),
            ("ASK { ?x a :N MINUS { ?x :q :d } }", ["MINUS { ?x <q> <d> }: nothing agrees with ?x = <a>"]),
            (
                "ASK { ?x a :N MINUS { ?y :q :c } }",
                ["MINUS { ?y <q> <c> }: shares no variable, and takes nothing away"],
            ),
            (
                "ASK { ?x a :N FILTER NOT EXISTS { ?x :q :d } }",
                ["FILTER NOT EXISTS { ?x <q> <d> }: nothing is found with ?x = <a>"],
            ),
            ("ASK { ?x a :N FILTER EXISTS { ?x :q ?z } }", ["FILTER EXISTS { ?x <q> ?z }: found: ?z = <c>"]),
            (
                "ASK { { ?x :zz ?z } UNION { ?x :v ?v OPTIONAL { ?x :z ?z } } }",
                [
                    "{ ?x <zz> ?z } UNION { ?x <v> ?v OPTIONAL { ?x <z> ?z } }: "
                    "branch 2 of 2 answers: { ?x <v> ?v OPTIONAL { ?x <z> ?z } }",
                    "OPTIONAL { ?x <z> ?z }: nothing is found",
                ],
            ),
            ("SELECT (?v + 1 AS ?n) { ?x :v ?v }", ["(?v + 1 AS ?n): ?n = 6"]),
            (
                "ASK { ?x :v ?v BIND(?x + 1 AS ?n) FILTER(!BOUND(?n)) }",
                ["(?x + 1 AS ?n): has no value", "FILTER(!BOUND(?n)): is true"],
            ),
            (
                "SELECT ?x (MAX(?w) AS ?n) { ?x :w ?w } GROUP BY ?x HAVING (COUNT(*) > 1)",
                [
                    "GROUP BY ?x: ?x = <d>, COUNT(*) = 2, MAX(?w) = 2",
                    "HAVING(COUNT(*) > 1): COUNT(*) = 2",
                    "(MAX(?w) AS ?n): ?n = 2",
                ],
            ),
            (
                "SELECT (COUNT(?x) AS ?n) { ?x :zz ?w }",
                ["all solutions are one group: COUNT(?x) = 0", "(COUNT(?x) AS ?n): ?n = 0"],
            ),
            ("ASK { :a :next* ?y . ?y :w 2 }", ["<a> <next>* ?y: ?y = <d>"]),
            ("ASK { ?x :v ?v VALUES ?v { 4 5 6 7 } }", ["VALUES ?v { 4 5 6 … }: ?v = 5"]),
            ("SELECT ?w { ?x :w ?w } ORDER BY ?w LIMIT 1", ["LIMIT 1: leaves this solution"]),
            (
                "ASK { ?x a :N GRAPH ?g { ?x :inside ?i } }",
                ["GRAPH ?g { ?x <inside> ?i }: found in <g>", "?x <inside> ?i: <a> <inside> 1"],
            ),
            (
                "ASK { ?x a :N { SELECT ?x (SUM(?v) AS ?n) { ?x :v ?v } GROUP BY ?x } FILTER(?n > 1) }",
                [
                    "?x <v> ?v: <a> <v> 5  [<a> <v> 5]",
                    "GROUP BY ?x: ?x = <a>, SUM(?v) = 5",
                    "(SUM(?v) AS ?n): ?n = 5",
                    "FILTER(?n > 1): ?n = 5",
                ],
            ),
        ],
    )
    def test_tells_what_each_part_did(self, text, held):
        explanation = queried(text)
        assert explanation.matched
        assert [str(reason) for reason in explanation.held][-len(held) :] == held
        assert not explanation.failed
        assert not explanation.undecided

    def test_follows_the_solution_that_became_the_answer(self):
        """The other branch has a solution, too, that is a part of the answer; it does not become it."""
        explanation = queried(
            "ASK { { ?x :v ?v } UNION { ?x :v ?v . ?x :q ?y } OPTIONAL { ?x :zz ?y } FILTER(BOUND(?y)) }"
        )
        (union,) = [reason for reason in explanation.held if "UNION" in reason.constraint]
        assert union.detail.startswith("branch 2 of 2 answers")

    def test_shows_what_the_query_binds_besides_its_core(self):
        mapping = queried("SELECT ?y { ?x a :N OPTIONAL { ?x :next ?y } BIND(1 AS ?n) }").mapping
        assert {name: str(term) for name, term in mapping.items()} == {
            "?x": "<urn:a>",
            "?y": "<urn:b>",
            "?n": str(Literal(1)),
        }

    def test_shows_one_line_for_each_reason_whatever_literals_hold(self):
        explanation = queried('ASK { ?x a :N OPTIONAL { ?x :name "a\\nb" } }')
        assert len(str(explanation).splitlines()) == len(explanation.mapping) + len(explanation.held) + 1

    def test_can_be_sent_elsewhere(self):
        explanation = queried("ASK { ?x a :N OPTIONAL { ?x :next ?y } }")
        assert pickle.loads(pickle.dumps(explanation)) == explanation


class TestQueryBudget:
    """A query that costs too much is said to be undecided."""

    def test_of_the_explanation(self):
        subscription = Subscription.parse("ASK { ?x <urn:next> ?y MINUS { ?y <urn:w> ?w } OPTIONAL { ?x <urn:v> ?v } }")
        graph = Entailment(Ontology()).event_graph(QUERIED)
        match = Evaluation(subscription).match(graph)
        for steps in range(40):
            explanation = explain(subscription, graph, match, steps=steps)
            assert explanation.matched
            assert [reason.constraint for reason in explanation.undecided] in ([], ["the rest of the query"])
        assert explain(subscription, graph, match, steps=0).undecided
        assert not explain(subscription, graph, match).undecided

    def test_is_spent_by_the_searches_for_parts_of_patterns(self, monkeypatch):
        searches = []

        def counted(pattern, graph, context):
            searches.append((context.budget.steps, context.budget))
            return mappings(pattern, graph, context)

        monkeypatch.setattr("ontosub.matching.nearest_part.mappings", counted)
        arcs = "?x <urn:next> ?y . ?y <urn:next> ?z . ?z <urn:next> ?w"
        query = query_of(f"ASK {{ {' UNION '.join(f'{{ {arcs}{number} }}' for number in range(20))} }}")
        budget = Budget()
        graph = Entailment(Ontology()).event_graph(QUERIED)
        found, _ = explain_query(query, graph, budget, term_text, {})
        assert len(found.failed) == 21
        evaluating = Budget()
        for _ in range(2):  # the branches together, and each by itself
            assert not list(Solutions(graph, Context(evaluating)).of(query.selection))
        taken = sum(before - after.steps for before, after in searches)
        assert budget.steps <= evaluating.steps - taken < evaluating.steps

    def test_of_the_query_itself(self):
        arcs = " ".join(f"OPTIONAL {{ ?a{number} :next|:v|:q ?b{number} }}" for number in range(12))
        explanation = queried(f"SELECT (COUNT(*) AS ?n) {{ {arcs} }}")
        assert explanation.matched is None
        (reason,) = explanation.undecided
        assert "more steps" in reason.detail or "more memory" in reason.detail
        assert str(explanation).startswith("s: event e takes too long to decide\n  ? the subscription as a whole: ")
        assert explanation.to_dict()["matched"] is None


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
