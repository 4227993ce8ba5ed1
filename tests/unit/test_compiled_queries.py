"""Queries in numbers: what operators that continue rows give, and what it means to be answered together."""

import pyarrow as pa
import pytest

from ontosub import Event, Matcher, Ontology, Subscription
from ontosub.languages.sparql import parse_query, residuals
from ontosub.languages.sparql.algebra import translate
from ontosub.matching.compiled.queries.continuation import continues
from ontosub.matching.compiled.queries.plan import Plan, Plans
from ontosub.model.algebra import LeftJoin
from ontosub.model.errors import SubscriptionFault
from ontosub.model.terms import Variable

EVENT = Event.read(
    "@prefix : <urn:> . :a :p :b, :c ; :q 1, 2 ; :r :c . :b :q 2 ; :r :a . :c :q 3 ; :p :c .", "text/turtle", id="e"
)

QUERIES = [
    "SELECT * { ?x :p ?y OPTIONAL { ?y :q ?n OPTIONAL { ?y :r ?z } } }",
    "SELECT * { ?x :p ?y OPTIONAL { ?y :q ?n OPTIONAL { ?z :r ?x } } }",
    "SELECT * { ?x :p ?y OPTIONAL { ?z :r ?w OPTIONAL { ?w :p ?y } } }",
    "SELECT * { ?x :p ?y OPTIONAL { ?y :q ?n FILTER(?n > 2) } FILTER(!BOUND(?n)) }",
    "SELECT * { ?x :p ?y OPTIONAL { { ?y :q ?n FILTER(?x = :a) } } }",
    "SELECT * { ?x :p ?y OPTIONAL { ?y :q ?n BIND(?n + 1 AS ?m) } }",
    "SELECT * { ?x :p ?y MINUS { ?y :q ?n FILTER(?n = 3) } }",
    "SELECT * { ?x :p ?y MINUS { ?y :q ?n FILTER(?x = :a) } }",
    "SELECT * { ?x :p ?y MINUS { ?x :p ?y OPTIONAL { ?y :r ?z } } }",
    "SELECT * { ?x :p ?y OPTIONAL { ?y :r ?z } MINUS { ?z :q ?n } }",
    "SELECT * { ?x :p ?y FILTER NOT EXISTS { ?y :q ?n FILTER(?x = :a && ?n = 3) } }",
    "SELECT * { ?x :p ?y FILTER EXISTS { ?z :r ?y MINUS { ?z :p ?x } } }",
    "SELECT * { ?x :p ?y FILTER EXISTS { VALUES (?x ?y) { (:a UNDEF) (UNDEF :c) } ?y :q ?n FILTER(?n > 2) } }",
    "SELECT * { VALUES ?y { :b :c :c :none } ?x :p ?y . ?x :q ?n }",
    "SELECT * { ?x :p ?y OPTIONAL { ?y :r ?z } VALUES ?z { :a :b } }",
    "SELECT * { ?x ?y ?z OPTIONAL { ?z :q ?n } VALUES ?y { :p :p :r } }",
    "SELECT ?x { ?x :p ?y OPTIONAL { ?y :q ?n } } ORDER BY ?n LIMIT 999999999999999999 OFFSET 1",
]


def answers(algorithm: str, text: str) -> list[frozenset]:
    matcher = Matcher(Ontology(), algorithm=algorithm)
    matcher.subscribe(Subscription.parse("PREFIX : <urn:> " + text, id="s"))
    found = [frozenset(each.items()) for match in matcher.match(EVENT) for each in match.bindings]
    assert matcher.match_ids(EVENT) == (["s"] if found else [])
    return sorted(found, key=lambda answer: sorted(map(str, answer)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", QUERIES)
def test_answers_are_those_of_the_definition(text):
    assert answers("compiled", text) == answers("naive", text)


def pattern(text: str):
    return residuals.query_of(text).selection.pattern


def test_what_is_unbound_inside_may_not_be_bound_outside():
    optional = pattern("SELECT * { ?y <urn:q> ?n OPTIONAL { ?y <urn:r> ?z } }")
    assert isinstance(optional, LeftJoin)
    assert continues(optional, frozenset({Variable("y")}))
    assert not continues(optional, frozenset({Variable("y"), Variable("z")}))


def test_residuals_that_differ_in_constants_have_one_form(monkeypatch):
    monkeypatch.setattr(residuals, "_forms", {})
    texts = [f"ASK {{ ?x <urn:p{each}> 'a' OPTIONAL {{ ?x a <urn:C{each}> }} }}" for each in range(3)]
    found = [residuals.query_of(text) for text in texts]
    assert len(residuals._forms) == 1
    assert found == [translate(parse_query(text)) for text in texts]


def test_the_forms_that_are_remembered_are_bounded(monkeypatch):
    monkeypatch.setattr(residuals, "FORMS_MAX", 200)
    monkeypatch.setattr(residuals, "_forms", {})
    monkeypatch.setattr(residuals, "_remembered", 0)
    for number in range(50):
        residuals.query_of(f"ASK {{ ?x{number} <urn:p> <urn:o> }}")
    assert sum(map(len, residuals._forms)) <= 200


FORM = "PREFIX : <urn:> SELECT * {{ {core} OPTIONAL {{ ?x :{optional} ?more FILTER(?more > {least}) }} }}"


def of_one_form(count: int) -> Matcher:
    """Return a matcher with queries that differ in their constants and cores only."""
    matcher = Matcher(Ontology(), algorithm="compiled")
    for number in range(count):
        core = ("?x :p ?y .", "?x :p :b .", "?z :p ?y . ?x :p ?y .")[number % 3]
        text = FORM.format(core=core, optional="qr"[number % 2], least=number)
        matcher.subscribe(Subscription.parse(text, id=f"s{number}"))
    return matcher


def table(count: int) -> pa.Table:
    payload = b"".join(b"%s .\n" % str(triple).encode() for triple in EVENT.graph)
    kinds = ["application/n-triples"] * count
    ids = [f"e{number}" for number in range(count)]
    return pa.table({"event_id": ids, "content_type": kinds, "payload": [payload] * count})


class Asked:
    """Counts how often plans are asked, and for how many owners."""

    def __init__(self, monkeypatch) -> None:
        self.owners: list[int] = []
        answers = Plan.answers

        def counted(plan, facts, context, queries, *rest):
            self.owners.append(len(queries))
            return answers(plan, facts, context, queries, *rest)

        monkeypatch.setattr(Plan, "answers", counted)


@pytest.mark.filterwarnings("ignore")
class TestTogether:
    def test_queries_of_one_form_on_many_events_are_asked_once(self, monkeypatch):
        matcher, asked = of_one_form(12), Asked(monkeypatch)
        assert len(list(matcher.match(EVENT))) == 12
        assert asked.owners == [12]
        matched = matcher.match_batch(table(40)).matches
        assert matched.num_rows == 480
        assert asked.owners == [12, 480]

    def test_a_batch_has_the_answers_of_each_event(self):
        matcher = of_one_form(12)
        matched = matcher.match_batch(table(3)).matches.to_pylist()
        for number in range(3):
            alone = matcher.match_batch(table(3).slice(number, 1)).matches.to_pylist()
            assert [row for row in matched if row["event_id"] == f"e{number}"] == alone

    def test_who_needs_too_much_goes_without_an_answer_alone(self, monkeypatch):
        """What they cost together is more than one may cost, and what each of them costs is less, but for one."""
        monkeypatch.setattr("ontosub.semantics.budget.Budget.__init__.__defaults__", (300, 10_000_000))
        matcher = of_one_form(30)
        arcs = " ".join(f":a{n} :v :b{n} ." for n in range(20))
        event = Event.read(f"@prefix : <urn:> . :a :p :b ; :q 50 . {arcs}", "text/turtle", id="e")
        hostile = "SELECT * { ?x :p ?y OPTIONAL { ?a :v ?b . ?c :v ?d FILTER(?a != ?c) } }"
        matcher.subscribe(Subscription.parse("PREFIX : <urn:> " + hostile, id="hostile"))
        assert [match.subscription_id for match in matcher.match(event)] == [f"s{n}" for n in range(30)]
        assert matcher.over_budget == {"hostile"}

    @pytest.mark.parametrize(
        "text", ["?a :v+ ?b", "?x :p ?y FILTER NOT EXISTS { ?a :v ?b . ?c :v ?d FILTER(?a = ?y) }"]
    )
    def test_who_has_no_memory_left_is_given_up_and_not_answered_with_nothing(self, text, monkeypatch):
        """Steps may be left when there is no memory for more rows."""
        monkeypatch.setattr("ontosub.semantics.budget.Budget.__init__.__defaults__", (10_000_000, 10_000))
        arcs = " ".join(f":a{n} :v :a{n + 1} ." for n in range(60))
        matcher = Matcher(Ontology(), algorithm="compiled")
        matcher.subscribe(Subscription.parse(f"PREFIX : <urn:> SELECT * {{ {text} }}", id="hostile"))
        event = Event.read(f"@prefix : <urn:> . :a :p :b . {arcs}", "text/turtle", id="e")
        for ask in (matcher.match_ids, lambda each: list(matcher.match(each))):
            assert ask(event) == []
            assert matcher.over_budget == {"hostile"}

    def test_a_query_that_cannot_be_prepared_harms_no_other(self, monkeypatch):
        prepare = Plans.of_core

        def broken(plans, id, *query):
            if id == "s1":
                raise ZeroDivisionError("a fault of ours")
            return prepare(plans, id, *query)

        monkeypatch.setattr(Plans, "of_core", broken)
        matcher = of_one_form(3)
        with pytest.warns(SubscriptionFault, match="'s1' failed on event 'e': ZeroDivisionError"):
            assert [match.subscription_id for match in matcher.match(EVENT)] == ["s0", "s2"]
        assert matcher.over_budget == {"s1"}

    def test_plans_are_shared_by_form(self):
        matcher = of_one_form(12)
        list(matcher.match(EVENT))
        assert len(matcher._algorithm._plans._plans) == 1
