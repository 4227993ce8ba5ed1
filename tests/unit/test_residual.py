"""What Oxigraph decides: in the event's own spelling, from one store for each event, and within limits."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ontosub.matching.spread import Relations, Spread, _combinations
from pyoxigraph import Store

from generators import events, ontologies
from ontosub import Event, Matcher, Subscription
from ontosub.languages.sparql import parse_query
from ontosub.matching import event_store
from ontosub.matching.residual import COMBINATIONS_MAX, Residual
from ontosub.model import Match, Ontology
from ontosub.model.errors import LimitError
from ontosub.model.terms import XSD, Literal, NamedNode, Triple
from ontosub.semantics import Entailment, EventGraph

PREFIX = "PREFIX : <urn:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
ENTAILMENT = Entailment(Ontology())


def graph_of(text: str) -> EventGraph:
    return ENTAILMENT.event_graph(
        Event.read(f"{PREFIX.replace('PREFIX', '@prefix').replace('> ', '> . ')}{text}", "ttl")
    )


def answers(query: str, event: str) -> Match | None:
    return Residual(PREFIX + query, ENTAILMENT.is_implied).match("s", graph_of(event))


def found(query: str, event: str) -> list[dict[str, str]]:
    """Return the answers, with terms in short."""
    match = answers(query, event)
    return [{name: shown(term) for name, term in binding.items()} for binding in (match.bindings if match else ())]


def shown(term: object) -> str:
    return str(term).replace("http://www.w3.org/2001/XMLSchema#", "").replace("urn:", "")


PRICE = ':x :p "3.50"^^xsd:decimal . :y :p "07"^^xsd:int .'


class TestSpelling:
    """Answers speak in the event's own terms, wherever the event has only one way to say it."""

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT ?w { :x :p ?w OPTIONAL { ?w :q ?z } }",
            "SELECT ?w { :x :p ?v BIND(?v AS ?w) }",
            "SELECT ?w { :x :p ?v BIND(?v AS ?u) BIND(?u AS ?w) }",
            "SELECT (?v AS ?w) { :x :p ?v }",
            "SELECT (MAX(?v) AS ?w) { :x :p ?v }",
            "SELECT ?w (COUNT(*) AS ?n) { :x :p ?v } GROUP BY (?v AS ?w)",
            "SELECT (COALESCE(?z, ?v) AS ?w) { :x :p ?v OPTIONAL { :x :q ?z } }",
            "SELECT (IF(true, ?v, ?v) AS ?w) { :x :p ?v }",
        ],
    )
    def test_of_a_value_that_is_only_handed_on(self, query):
        ((answer),) = found(query, PRICE)
        assert answer["w"] == '"3.50"^^<decimal>'

    @pytest.mark.parametrize(
        ("query", "value"),
        [
            ("SELECT (?v + 0 AS ?w) { :x :p ?v }", '"3.5"^^<decimal>'),
            ("SELECT ?w { :x :p ?v BIND(?v + 0 AS ?u) BIND(?u AS ?w) }", '"3.5"^^<decimal>'),
            ("SELECT (COALESCE(?z, 3.5) AS ?w) { :x :p ?v OPTIONAL { :x :q ?z } }", '"3.5"^^<decimal>'),
            ("SELECT ?w { VALUES ?w { 3.5 } :x :p ?v }", '"3.5"^^<decimal>'),
        ],
    )
    def test_of_a_value_that_the_query_makes_is_its_own(self, query, value):
        assert found(query, PRICE) == [{"w": value}]

    @pytest.mark.parametrize(
        "condition",
        ["STR(?v) = '07'", "DATATYPE(?v) = xsd:int", "STRLEN(STR(?v)) = 2", "STR(?s) = 'urn:y' && ?v = 7"],
    )
    def test_is_what_functions_see(self, condition):
        query = f"SELECT ?s ?v {{ ?s :p ?v FILTER({condition}) OPTIONAL {{ ?v :q ?z }} }}"
        assert found(query, PRICE) == [{"s": "<y>", "v": '"07"^^<int>'}]

    def test_of_what_is_computed_is_that_of_the_engine(self):
        query = "SELECT ?x { :x :p ?v BIND(?v + 0 AS ?w) BIND(STR(?w) AS ?x) }"
        assert found(query, PRICE) == [{"x": '"3.5"'}]

    def test_functions_fail_where_sparql_lets_them_fail(self):
        query = "SELECT ?v { ?s :p ?v OPTIONAL { ?v :q ?z } FILTER(STR(?v) != 'a' && DATATYPE(?v) != xsd:date) }"
        assert found(query, ":x :p [] , :a .") == []

    def test_of_two_literals_with_one_value_counts_for_classes(self):
        query = "SELECT ?s { ?s :p ?v OPTIONAL { ?v :q ?z } ?v a xsd:int }"
        assert found(query, ":x :p 7 . :x :q '07'^^xsd:int .") == [{"s": "<x>"}]


class TestAnswers:
    """One answer for each solution, whatever is in it."""

    @pytest.mark.parametrize("algorithm", ["naive", "compiled", "ibroker"])
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("SELECT * { _:x :p _:y }", [{}, {}]),
            ("SELECT DISTINCT * { _:x :p _:y }", [{}]),
            ("ASK { _:x :p _:y }", [{}]),
            ("ASK { { ?x :p ?y } UNION { ?x :p ?z } }", [{}]),
            ("SELECT ?x { { ?x :p ?y } UNION { ?x :p ?z } }", [{"x": "<x>"}, {"x": "<x>"}, {"x": "<y>"}, {"x": "<y>"}]),
            ("SELECT DISTINCT ?x { { ?x :p ?y } UNION { ?x :p ?z } }", [{"x": "<x>"}, {"x": "<y>"}]),
            ("SELECT ?y ?z { { :x :p ?y } UNION { :y :p ?z } }", [{"y": '"3.50"^^<decimal>'}, {"z": '"07"^^<int>'}]),
        ],
    )  # fmt: skip
    @pytest.mark.xdist_group("compiled")
    def test_are_counted(self, query, expected, algorithm):
        matcher = Matcher(algorithm=algorithm)
        matcher.subscribe(Subscription.parse(PREFIX + query, id="s"))
        (match,) = matcher.match(graph_of(PRICE).event)
        rows = [tuple((name, shown(term)) for name, term in binding.items()) for binding in match.bindings]
        assert Counter(rows) == Counter(tuple(row.items()) for row in expected)

    def test_of_construct_without_a_template_is_an_empty_graph(self):
        matcher = Matcher()
        matcher.subscribe(Subscription.parse(PREFIX + "CONSTRUCT {} { ?x :p ?y }", id="s"))
        (match,) = matcher.match(graph_of(PRICE).event)
        assert match.graph == frozenset()

    def test_of_construct_leave_out_what_an_alternative_does_not_bind(self):
        matcher = Matcher()
        query = "CONSTRUCT { ?x :has ?y . ?x :of [] } { { ?x :p ?y FILTER(?y > 5) } UNION { ?y :p 3.50 } }"
        matcher.subscribe(Subscription.parse(PREFIX + query, id="s"))
        (match,) = matcher.match(graph_of(PRICE).event)
        assert sorted(triple.predicate.value for triple in match.graph or ()) == ["urn:has", "urn:of"]

    def test_are_explained_by_the_alternative_that_gave_them(self):
        matcher = Matcher()
        matcher.subscribe(Subscription.parse(PREFIX + "SELECT ?x ?y { { ?x :q ?y } UNION { :y :p ?x } }", id="s"))
        explanation = matcher.explain(graph_of(PRICE).event, "s")
        assert explanation.matched
        assert shown(explanation.mapping["?x"]) == '"07"^^<int>'


class TestStore:
    """An event is put into one store, for all the queries that are asked about it."""

    def test_is_filled_once(self, monkeypatch):
        made = []

        def counted() -> Store:
            made.append(Store())
            return made[-1]

        residuals = [
            Residual(f"{PREFIX} SELECT * {{ ?x :p ?y OPTIONAL {{ ?y :q{n} ?z }} }}", ENTAILMENT.is_implied)
            for n in range(20)
        ]
        graph = graph_of(":x :p 'a' .")
        monkeypatch.setattr(event_store, "Store", counted)
        assert all(residual.match("s", graph) for residual in residuals)
        assert len(made) == 1

    def test_is_not_filled_when_the_query_is_given_up(self, monkeypatch):
        monkeypatch.setattr(event_store, "Store", lambda: pytest.fail("a store was made"))
        graph = EventGraphs.of(Triple(NamedNode(f"urn:{n}"), NamedNode("urn:p"), Literal(n)) for n in range(400))
        residual = object.__new__(Residual)
        residual._spread = Spread(parse_query("SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"), ENTAILMENT.is_implied)
        with pytest.raises(LimitError, match="too many triples"):
            residual.match("s", graph)


class EventGraphs:
    """Events of some thousand triples."""

    P, Q, TYPE = (NamedNode(f"urn:{name}") for name in ("p", "q", "type"))

    @staticmethod
    def of(triples) -> EventGraph:
        return ENTAILMENT.event_graph(Event("e", frozenset(triples)))

    @classmethod
    def readings(cls, count: int = 600) -> EventGraph:
        """Return readings of sensors: five triples each, all in one room, in a chain of places."""
        triples = []
        for n in range(count):
            one = NamedNode(f"urn:reading{n}")
            triples += [
                Triple(one, cls.P, Literal(n)),
                Triple(one, cls.Q, Literal(f"{n}.50", datatype=XSD["decimal"])),
                Triple(one, cls.TYPE, NamedNode("urn:Reading")),
                Triple(NamedNode("urn:room"), NamedNode("urn:has"), one),
                Triple(NamedNode(f"urn:place{n}"), NamedNode("urn:within"), NamedNode(f"urn:place{n // 2 - 1}")),
            ]
        return cls.of(triples)


SENSIBLE = [
    "SELECT * { ?x :p ?v ; :q ?w ; :type ?t OPTIONAL { ?r :has ?x } }",
    "SELECT * { ?r :has ?x , ?y . ?x :p ?v . ?y :p ?v }",
    "SELECT * { :reading1 :p ?a . :reading2 :p ?b . :reading3 :p ?c . :reading4 ?p ?d }",
    "SELECT * { :room :has ?x . :reading5 :q ?v . :place9 :within+ ?p }",
    "SELECT * { { ?a :p ?x } UNION { ?b :q ?y } UNION { ?c :within ?z } OPTIONAL { ?d :nothing ?e } }",
    "SELECT * { ?x :within* ?y . ?y :within* :place0 }",
    "SELECT * { ?x :within/:within/:within/:within ?y MINUS { ?x :p ?y } }",
    "SELECT ?r (COUNT(*) AS ?n) { ?r :has/:p ?v } GROUP BY ?r",
    "SELECT * { ?x :p ?v FILTER NOT EXISTS { ?x :within ?y . ?y :p ?w FILTER(?w > ?v) } }",
    "SELECT * { ?x a <http://www.w3.org/2002/07/owl#Thing> . ?x :p ?v OPTIONAL { ?x :nothing ?y } }",
    "SELECT * { ?x :p ?v OPTIONAL { ?r :has ?x OPTIONAL { ?r :in ?a } } OPTIONAL { ?x :q ?w OPTIONAL { ?w :q ?u } } }",
    "SELECT * { ?x ?p ?y . ?y ?q ?z . ?z ?r ?w OPTIONAL { ?w ?s ?v } }",
    "SELECT * { VALUES ?v { 1 2 3 4 5 6 7 8 9 10 } ?x :p ?v OPTIONAL { ?x :q ?w } }",
    "SELECT * { { SELECT (COUNT(*) AS ?n) { ?x :p ?y } } { SELECT (SUM(?y) AS ?m) { ?x :p ?y } } ?r :has ?x }",
]
HOSTILE = [
    "SELECT (COUNT(*) AS ?n) { ?r :has ?a , ?b , ?c }",
    "SELECT (COUNT(*) AS ?n) { ?r :has ?a , ?b , ?c . ?r :nothing ?d }",
    "SELECT * { ?a :p ?b OPTIONAL { ?a :no ?x } ?c :p ?d OPTIONAL { ?c :no ?y } ?e :p ?f OPTIONAL { ?e :no ?z } }",
    "SELECT * { OPTIONAL { ?a :p ?b } OPTIONAL { ?b :no ?x } ?c :p ?d . ?e :p ?f }",
    "SELECT * { ?a :p ?b OPTIONAL { ?a :no ?x } OPTIONAL { ?x :p ?y } OPTIONAL { ?a :no ?u } OPTIONAL { ?u :p ?w } }",
    "SELECT * { ?a :p ?b . ?c :p ?d . ?e :p ?f OPTIONAL { ?b :q ?d . ?d :q ?f } }",
    "ASK { ?r :has ?a , ?b , ?c FILTER(?a = ?b + ?c) }",
    "SELECT * { ?a :p ?b . ?c :p ?d . ?e :p ?f OPTIONAL { ?a :q ?g } }",
    "SELECT * { ?a :p ?b . ?c :p ?d . ?e :p ?f . :nothing :p ?g OPTIONAL { ?a :q ?h } }",
    "SELECT * { ?a :within* ?b . ?b :within* ?c . ?c :within* ?d }",
    "SELECT * { ?a (:p|!:q)* ?b . ?c ?d ?e OPTIONAL { ?e :p ?f } }",
    "SELECT * { ?a :p ?b FILTER EXISTS { ?c :p ?d . ?e :p ?f } }",
    "SELECT * { ?a :p ?b MINUS { ?c :p ?d . ?e :p ?f . ?g :q ?h } }",
    "SELECT * { { SELECT ?a ?c { ?a :p ?b . ?c :p ?d } } ?e :p ?f . ?g :q ?h }",
    "SELECT (1 AS ?one) { ?x a <http://www.w3.org/2002/07/owl#Thing> . ?y a <http://www.w3.org/2002/07/owl#Thing> . "
    "?z a <http://www.w3.org/2002/07/owl#Thing> }",
    f"SELECT * {{ VALUES ?a {{ {'1 ' * 900} }} VALUES ?b {{ {'1 ' * 900} }} VALUES ?c {{ {'1 ' * 900} }} }}",
]


@pytest.fixture(scope="module")
def readings() -> EventGraph:
    return EventGraphs.readings()


class TestSpread:
    """What would multiply beyond reason is given up, and nothing else."""

    def spread(self, query: str) -> Spread:
        return Spread(parse_query(PREFIX + query), ENTAILMENT.is_implied)

    @pytest.mark.parametrize("query", SENSIBLE)
    def test_lets_sensible_queries_pass(self, query, readings):
        assert not self.spread(query).exceeds(COMBINATIONS_MAX, readings)

    @pytest.mark.parametrize("query", HOSTILE)
    def test_gives_up_what_explodes(self, query, readings):
        assert self.spread(query).exceeds(COMBINATIONS_MAX, readings)

    def test_takes_only_its_own_subscription(self, readings):
        matcher = Matcher()
        matcher.subscribe(Subscription.parse(PREFIX + HOSTILE[0], id="hostile"))
        matcher.subscribe(Subscription.parse(PREFIX + SENSIBLE[0], id="sensible"))
        assert [match.subscription_id for match in matcher.match(readings.event)] == ["sensible"]
        assert matcher.over_budget == {"hostile"}

    @pytest.mark.parametrize(
        ("query", "combinations"),
        [
            ("SELECT * { ?a :p ?b }", 4),
            ("SELECT * { :a :p ?b . :b :p ?c }", 3),
            ("SELECT * { ?a :p ?b , ?c }", 10),
            ("SELECT * { ?a :p ?b . ?b :p ?c . ?c :p ?a }", 4),
            ("SELECT * { ?a :p ?b . ?c :p ?d }", 16),
            ("SELECT * { { ?a :p ?b } UNION { ?c :p ?d } }", 8),
        ],
    )
    def test_counts_combinations(self, query, combinations):
        relations = Relations(graph_of(":a :p :b , :c , :d . :b :p :a . :d :q :e ; :r 1 ; :s :f , :g ."))
        assert sum(_combinations(each, relations) for each in self.spread(query)._graphs) == combinations

    @settings(max_examples=150, deadline=None)
    @given(ontologies, events, st.data())
    def test_is_never_less_than_the_solutions(self, ontology, event, data):
        ends = st.sampled_from(["?a", "?b", "?c", "?d", ":i0", ":i1"])
        verbs = st.sampled_from(
            [":p0", ":p1", "?p", "a", "^:p2", ":p0/:p1", ":p0|:p1", ":p0*", "(:p0/:p1)+", "!:p0", ":p2?"]
        )
        triples = data.draw(st.lists(st.tuples(ends, verbs, ends), min_size=1, max_size=4))
        joined = [f"{s} {v} {o} ." for s, v, o in triples]
        forms = [
            "{}",
            "{}",
            "OPTIONAL {{ {} }}",
            "OPTIONAL {{ {} OPTIONAL {{ ?a ?q ?e }} }}",
            "{{ {} }} UNION {{ ?a ?q ?e }}",
        ]
        parts = [data.draw(st.sampled_from(forms)).format(each) for each in joined]
        query = f"{PREFIX} SELECT * {{ {' '.join(parts)} }}"
        entailment = Entailment(ontology)
        graph = entailment.event_graph(event)
        store = event_store._Contents(graph).store
        count = sum(1 for _ in store.query(query))
        spread = Spread(parse_query(query), entailment.is_implied)
        if count:
            assert spread.exceeds(count - 1, graph)
