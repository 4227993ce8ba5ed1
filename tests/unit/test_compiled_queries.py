"""Operators that continue rows must give what bottom-up evaluation gives."""

import pytest

from ontosub import Event, Matcher, Ontology, Subscription
from ontosub.languages.sparql import parse_query, residuals
from ontosub.languages.sparql.algebra import translate
from ontosub.matching.compiled.queries.operators import continues
from ontosub.model.algebra import LeftJoin
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
