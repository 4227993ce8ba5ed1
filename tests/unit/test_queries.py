"""Queries beyond their core: what each operator of the algebra gives, by the definition and in numbers."""

from __future__ import annotations

from collections import Counter

import pytest

from ontosub import Event, Match, Matcher, Ontology, Subscription
from ontosub.languages.sparql.algebra import translate
from ontosub.languages.sparql.parser import parse_query
from ontosub.languages.sparql.printer import print_query
from ontosub.languages.sparql.residuals import query_of
from ontosub.model.errors import SubscriptionFault
from ontosub.model.terms import Term, Triple, written

pytestmark = [
    pytest.mark.xdist_group("compiled"),
    pytest.mark.filterwarnings("ignore::ontosub.OntosubWarning"),
]

PREFIX = "PREFIX : <urn:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
TURTLE = "@prefix : <urn:> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . "


@pytest.fixture(params=["naive", "compiled"])
def algorithm(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def match_of(query: str, event: str | Event, algorithm: str) -> Match | None:
    matcher = Matcher(Ontology(), algorithm)
    matcher.subscribe(Subscription.parse(PREFIX + query, id="s"))
    given = event if isinstance(event, Event) else Event.read(TURTLE + event, "ttl", id="e")
    matches = matcher.match(given)
    assert matcher.over_budget == frozenset()
    assert matcher.match_ids(given) == [match.subscription_id for match in matches]
    return matches[0] if matches else None


def found(query: str, event: str | Event, algorithm: str) -> list[str]:
    """Return the answers in short, sorted."""
    match = match_of(query, event, algorithm)
    return sorted(" ".join(f"{n}={shown(t)}" for n, t in sorted(b.items())) for b in (match.bindings if match else ()))


def shown(term: Term) -> str:
    text = written(term).replace("^^<http://www.w3.org/2001/XMLSchema#", "^").replace("urn:", "")
    return text if isinstance(term, Triple) else text.rstrip(">").lstrip("<")


PRICES = ":a :price 350.00 . :b :price 350.0 . :c :price 350 ; :name 'x'@en ."


class TestValues:
    """Patterns and joins compare terms, conditions compare values; answers are spelled as in the event."""

    @pytest.mark.parametrize(
        ("query", "answers"),
        [
            ("SELECT ?t { ?t :price ?p FILTER NOT EXISTS { ?t :price 350.0 } }", ["t=a", "t=c"]),
            ("SELECT ?t { ?t :price ?p MINUS { ?t :price 350.0 } }", ["t=a", "t=c"]),
            ("SELECT ?t { VALUES ?p { 350.0 } ?t :price ?p }", ["t=b"]),
            ("SELECT ?t ?u { ?t :price 350.00 OPTIONAL { :b :price ?q . ?u :price ?q } }", ["t=a u=b"]),
            ("SELECT (COUNT(DISTINCT ?p) AS ?n) { ?t :price ?p }", ['n="3"^integer']),
            ("SELECT ?t { ?t :price ?p FILTER(?p = 350) } ORDER BY ?p", ["t=a", "t=b", "t=c"]),
            ("SELECT ?w { :a :price ?v BIND(?v AS ?w) }", ['w="350.00"^decimal']),
            ("SELECT (MAX(?v) AS ?w) { :a :price ?v }", ['w="350.00"^decimal']),
            ("SELECT ?w (COUNT(*) AS ?n) { :a :price ?v } GROUP BY (?v AS ?w)", ['n="1"^integer w="350.00"^decimal']),
            ("SELECT (?v + 0 AS ?w) { :a :price ?v }", ['w="350"^decimal']),
            ("SELECT ?s { ?s :price ?v OPTIONAL { ?v :q ?z } ?v a xsd:integer }", ["s=c"]),
            ("SELECT (GROUP_CONCAT(?n) AS ?g) { ?t :name ?n }", ['g="x"']),
            ("SELECT (COUNT(?p) AS ?c) (?c + 1 AS ?d) { ?t :price ?p }", ['c="3"^integer d="4"^integer']),
        ],
    )
    def test_are_those_of_the_event(self, query, answers, algorithm):
        assert found(query, PRICES, algorithm) == answers

    def test_distinct_keeps_two_spellings_of_one_value(self, algorithm):
        query = "SELECT DISTINCT ?p { ?t :price ?p OPTIONAL { ?t :none ?z } }"
        assert found(query, PRICES, algorithm) == ['p="350"^integer', 'p="350.0"^decimal', 'p="350.00"^decimal']

    def test_a_blank_node_that_is_made_is_no_vertex_of_the_event(self, algorithm):
        query = "SELECT ?h ?b ?c { ?h :p ?x BIND(BNODE('H') AS ?b) BIND(BNODE('H') AS ?c) }"
        match = match_of(query, "_:H :p 1 .", algorithm)
        assert match is not None
        (answer,) = match.bindings
        assert answer["b"] == answer["c"] != answer["h"]


CHAIN = ":a :p :b . :b :p :c . :c :p :a . :d :q 1 ."


class TestPaths:
    @pytest.mark.parametrize(
        ("query", "answers"),
        [
            ("SELECT ?x { :a :p+ ?x }", ["x=a", "x=b", "x=c"]),
            ("SELECT ?x { :d :p* ?x }", ["x=d"]),
            ("SELECT ?x { :nowhere :p* ?x }", ["x=nowhere"]),
            ("SELECT ?x { ?x :p* :nowhere }", ["x=nowhere"]),
            ("SELECT ?x { :a :p? ?x }", ["x=a", "x=b"]),
            ("SELECT ?x { ?x (:p/:p)+ :a }", ["x=a", "x=b", "x=c"]),
            ("SELECT ?x { ?x !:p ?y }", ["x=d"]),
            ("SELECT ?x { ?x !(^:p) ?y FILTER(?y = :d) }", ['x="1"^integer']),
            ("SELECT * { :a (:p?|:q) :b }", [""]),
            ("SELECT * { <urn:x> (<urn:p>?|<urn:q>) <urn:y> }", []),
            ("SELECT ?x { :a (:p|:p)+ ?x FILTER(?x = :b) }", ["x=b"]),
            ("SELECT ?x { ?x :p* ?x . ?x :q ?y }", ["x=d"]),
        ],
    )
    def test_join_vertices(self, query, answers, algorithm):
        assert found(query, CHAIN, algorithm) == answers


PEOPLE = ":a :knows :b, :c ; :age 7 . :b :knows :c ; :age 9 . :c :age 8 ."


class TestOperators:
    @pytest.mark.parametrize(
        ("query", "answers"),
        [
            # A filter inside an OPTIONAL sees both sides; in a group inside it, it does not.
            ("SELECT ?x ?y { ?x :age ?n OPTIONAL { ?x :knows ?y FILTER(?n > 8) } }", ["x=a", "x=b y=c", "x=c"]),
            ("SELECT ?x ?y { ?x :age 9 OPTIONAL { { ?x :knows ?y FILTER(?n > 8) } } }", ["x=b"]),
            # MINUS takes nothing away where no variable is shared.
            ("SELECT ?x { ?x :age 7 MINUS { ?y :age 7 } }", ["x=a"]),
            ("SELECT ?x { ?x :age ?n MINUS { ?x :knows ?y } }", ["x=c"]),
            ("SELECT ?x { ?x :age ?n FILTER(?n > 7 && EXISTS { ?x :knows ?y FILTER(?n > 8) }) }", ["x=b"]),
            ("SELECT ?x (EXISTS { ?x :knows ?y } AS ?e) { ?x :age 8 }", ['e="false"^boolean x=c']),
            ("SELECT ?x { ?x :age ?n } GROUP BY ?x HAVING(NOT EXISTS { ?x :knows ?y })", ["x=c"]),
            ("SELECT ?x { { SELECT ?x { ?x :age ?n } ORDER BY ?n LIMIT 2 } ?x :knows ?y }", ["x=a", "x=a"]),
            ("SELECT ?x (SUM(?n) AS ?s) { ?x :knows/:age ?n } GROUP BY ?x", [
                's="17"^integer x=a', 's="8"^integer x=b']),
            ("SELECT ?x { { ?x :age 7 } UNION { ?x :age 8 BIND(1 AS ?k) } FILTER(BOUND(?k)) }", ["x=c"]),
            ("SELECT ?x ?v { ?x :age ?n } VALUES (?x ?v) { (:a 1) (UNDEF 2) }", [
                'v="1"^integer x=a', 'v="2"^integer x=a', 'v="2"^integer x=b', 'v="2"^integer x=c']),
            # EXISTS sees what its own group binds, not what the group stands beside.
            ("SELECT ?x { ?x :age ?n { ?x :knows ?y FILTER EXISTS { ?y :age ?n } } FILTER(?n = 9) }", ["x=b"]),
            ("SELECT ?x { ?x :age ?n BIND(?n / 0 AS ?e) FILTER(!BOUND(?e)) }", ["x=a", "x=b", "x=c"]),
            ("SELECT (COUNT(*) AS ?n) { ?x :age 99 }", ['n="0"^integer']),
            ("SELECT ?x (COUNT(*) AS ?n) { ?x :age 99 } GROUP BY ?x", []),
            ("SELECT ?x { ?x :age ?n OPTIONAL { ?x :none ?z } } LIMIT 1", ["x=a"]),
            ("SELECT ?x { ?x :age ?n } ORDER BY DESC(?n) OFFSET 1 LIMIT 1", ["x=c"]),
        ],
    )  # fmt: skip
    def test_give_what_the_specification_says(self, query, answers, algorithm):
        assert found(query, PEOPLE, algorithm) == answers

    @pytest.mark.parametrize(
        ("query", "answers"),
        [
            ("SELECT ?g { GRAPH ?g {} }", ["g=g1", "g=g2"]),
            ("SELECT ?g ?x { GRAPH ?g { ?x :p ?y } }", ["g=g1 x=a", "g=g2 x=b"]),
            ("SELECT ?x { GRAPH :g1 { ?x :p ?y } }", ["x=a"]),
            ("SELECT ?x { GRAPH :none { ?x :p ?y } }", []),
            ("SELECT ?g { GRAPH ?g { ?x :p ?y FILTER(?g = :g1) } }", []),
            ("SELECT ?g { GRAPH ?g { ?x :p ?y } FILTER(?g = :g1) }", ["g=g1"]),
            ("SELECT ?x { ?x :p ?y FILTER EXISTS { GRAPH ?g { ?x :p ?y } } }", []),
        ],
    )
    def test_graph_looks_into_named_graphs(self, query, answers, algorithm):
        data = "@prefix : <urn:> . :c :p 3 . :g1 { :a :p 1 } :g2 { :b :p 2 }"
        assert found(query, Event.read(data, "trig", id="e", dataset=True), algorithm) == answers

    @pytest.mark.parametrize(
        ("query", "answers"),
        [
            ("SELECT ?r { ?r :says ?t . ?t a ?x }", []),
            ("SELECT ?o { ?r :says <<( :a :p ?o )>> }", ['o="1"^integer']),
            ("SELECT ?t { ?r :says ?t FILTER(ISTRIPLE(?t) && OBJECT(?t) = 1) }", ['t=<<( <a> <p> "1"^integer> )>>']),
            ("SELECT ?r { ?r :says <<( :a :p 1 )>> OPTIONAL { ?r :none ?z } }", ["r=r"]),
        ],
    )
    def test_triple_terms_are_terms(self, query, answers, algorithm):
        assert found(query, ":r :says <<( :a :p 1 )>> .", algorithm) == answers


class TestAnswers:
    """One answer for each solution, whatever is in it."""

    DATA = ':x :p "3.50"^^xsd:decimal . :y :p "07"^^xsd:int .'

    @pytest.mark.parametrize("matching", ["naive", "compiled", "ibroker"])
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("SELECT * { _:x :p _:y }", [{}, {}]),
            ("SELECT DISTINCT * { _:x :p _:y }", [{}]),
            ("ASK { _:x :p _:y }", [{}]),
            ("ASK { { ?x :p ?y } UNION { ?x :p ?z } }", [{}]),
            ("SELECT ?x { { ?x :p ?y } UNION { ?x :p ?z } }", [{"x": "x"}, {"x": "x"}, {"x": "y"}, {"x": "y"}]),
            ("SELECT DISTINCT ?x { { ?x :p ?y } UNION { ?x :p ?z } }", [{"x": "x"}, {"x": "y"}]),
            ("SELECT ?y ?z { { :x :p ?y } UNION { :y :p ?z } }", [{"y": '"3.50"^decimal'}, {"z": '"07"^int'}]),
        ],
    )  # fmt: skip
    def test_are_counted(self, query, expected, matching):
        match = match_of(query, self.DATA, matching)
        assert match is not None
        rows = [tuple((name, shown(term)) for name, term in binding.items()) for binding in match.bindings]
        assert Counter(rows) == Counter(tuple(row.items()) for row in expected)

    def test_of_construct_without_a_template_is_an_empty_graph(self, algorithm):
        match = match_of("CONSTRUCT {} { ?x :p ?y }", self.DATA, algorithm)
        assert match is not None
        assert match.graph == frozenset()

    def test_of_construct_leave_out_what_is_not_bound(self, algorithm):
        query = "CONSTRUCT { ?x :has ?y . ?x :of [] } { { ?x :p ?y FILTER(?y > 5) } UNION { ?y :p 3.50 } }"
        match = match_of(query, self.DATA, algorithm)
        assert match is not None
        assert sorted(triple.predicate.value for triple in match.graph or ()) == ["urn:has", "urn:of"]

    def test_of_describe_are_what_is_said_of_a_resource_and_its_blank_nodes(self, algorithm):
        match = match_of("DESCRIBE ?x { ?x a :C }", ":x a :C ; :p [ :q [ :r 1 ] ] ; :s :y . :y :t 2 .", algorithm)
        assert match is not None
        assert sorted(t.predicate.value[4:] for t in match.graph or () if t.predicate.value.startswith("urn:")) == [
            "p", "q", "r", "s",
        ]  # fmt: skip

    def test_random_values_are_the_same_every_time(self, algorithm):
        query = "SELECT (RAND() AS ?r) (UUID() AS ?u) (STRUUID() AS ?s) { ?x :p 1 OPTIONAL { ?x :q ?z } }"
        assert found(query, ":a :p 1 .", algorithm) == found(query, ":a :p 1 .", "naive")


class TestResiduals:
    """A residual of a form that is known is filled in, not parsed."""

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT ?x { ?x :p 1 ; a :C OPTIONAL { ?x :q :a, 'b', 'c'@en FILTER(?x != :a) } }",
            "SELECT * { ?x :p+/!(:q|^:r) ?y VALUES (?y ?z) { (1 UNDEF) ('1' :a) } } ORDER BY ?x LIMIT 7",
            "SELECT (GROUP_CONCAT(?x; SEPARATOR=':q') AS ?g) { ?x :q 1 } GROUP BY ?y HAVING(COUNT(*) > 1)",
            "ASK { ?x :p ?y FILTER(REGEX(?y, 'a.c', 'i') && xsd:integer(?y) > 1) OPTIONAL { ?y :p ?z } }",
            "CONSTRUCT { ?x :made :b } { ?x :p :b MINUS { ?x :q :b } }",
        ],
    )
    def test_are_the_translation_of_their_text(self, query):
        for text in (query, query.replace(":q", ":other"), query.replace("1", "2")):
            printed = print_query(parse_query(PREFIX + text))
            assert query_of(printed) == translate(parse_query(printed))


def test_a_fault_of_one_subscription_harms_no_other(algorithm, monkeypatch):
    def broken(*_: object, **__: object) -> int:
        raise ZeroDivisionError("a fault of ours")

    matcher = Matcher(Ontology(), algorithm)
    matcher.subscribe(Subscription.parse(PREFIX + "SELECT (AVG(?n) AS ?s) { ?x :age ?n }", id="faulty"))
    matcher.subscribe(Subscription.parse(PREFIX + "SELECT ?x { ?x :age 7 }", id="sound"))
    module = "matching.solutions" if algorithm == "naive" else "matching.compiled.queries.operators"
    monkeypatch.setattr(f"ontosub.{module}.aggregate", broken)
    with pytest.warns(SubscriptionFault, match="'faulty' failed on event 'e': ZeroDivisionError"):
        matches = matcher.match(Event.read(TURTLE + PEOPLE, "ttl", id="e"))
    assert [match.subscription_id for match in matches] == ["sound"]
    assert matcher.over_budget == {"faulty"}


@pytest.mark.parametrize("length", [50, 100])
def test_a_path_takes_steps_in_proportion_to_its_arcs(length, algorithm, monkeypatch):
    """Each vertex is visited once from one start: within a budget that a walk of all pairs would exceed."""
    monkeypatch.setattr("ontosub.semantics.budget.Budget.__init__.__defaults__", (20 * length, 10_000_000))
    arcs = " ".join(f":n{i} :p :n{i + 1} ." for i in range(length))
    assert len(found("SELECT ?x { :n0 :p+ ?x }", arcs, algorithm)) == length
