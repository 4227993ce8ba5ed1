"""The compiled matcher gives the naive one's answers, bindings included, whatever came and went before."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generators import CLASSES, INDIVIDUALS, PROPERTIES, events, ontologies, ops_patterns, patterns
from ontosub.matching.compiled.algorithm import Compiled
from ontosub.matching.matcher import Naive
from ontosub.model import Arc, Event, GraphPattern, Ontology, Subscription, Vertex
from ontosub.model.terms import HOME, TYPE, NamedNode, Triple, Variable
from ontosub.semantics import Entailment

# One worker compiles the kernels for all of these tests.
pytestmark = pytest.mark.xdist_group("compiled")

any_pattern = st.one_of(patterns(), ops_patterns())
quick = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def subscriptions(found: list[GraphPattern]) -> list[Subscription]:
    return [Subscription(f"s{number}", (pattern,)) for number, pattern in enumerate(found)]


def answers(algorithm, event: Event) -> dict[str, Counter]:
    """Return, by subscription, how often each answer is given."""
    return {
        match.subscription_id: Counter(
            frozenset((name, str(term)) for name, term in binding.items()) for binding in match.bindings
        )
        for match in algorithm.match(event)
    }


def both(ontology: Ontology) -> tuple[Naive, Compiled]:
    entailment = Entailment(ontology)
    return Naive(entailment), Compiled(entailment)


def assert_alike(naive: Naive, compiled: Compiled, event: Event) -> None:
    expected = answers(naive, event)
    assert answers(compiled, event) == expected
    assert compiled.match_ids(event) == list(expected)
    assert compiled.over_budget == frozenset()


@quick
@given(ontologies, st.lists(any_pattern, min_size=1, max_size=4), events)
def test_answers_are_the_naive_ones(ontology, found, event):
    naive, compiled = both(ontology)
    for subscription in subscriptions(found):
        naive.subscribe(subscription)
        compiled.subscribe(subscription)
    assert_alike(naive, compiled, event)


@settings(quick, max_examples=100)
@given(ontologies, st.data())
def test_after_any_coming_and_going(ontology, data):
    naive, compiled = both(ontology)
    standing: list[str] = []
    for number in range(data.draw(st.integers(2, 8))):
        action = data.draw(st.sampled_from(["subscribe", "subscribe", "unsubscribe", "match"]))
        if action == "subscribe":
            subscription = Subscription(f"s{number}", (data.draw(any_pattern),))
            naive.subscribe(subscription)
            compiled.subscribe(subscription)
            standing.append(subscription.id)
        elif action == "unsubscribe" and standing:
            gone = standing.pop(data.draw(st.integers(0, len(standing) - 1)))
            naive.unsubscribe(gone)
            compiled.unsubscribe(gone)
        else:
            assert_alike(naive, compiled, data.draw(events))
    assert_alike(naive, compiled, data.draw(events))


@settings(quick, max_examples=60)
@given(
    ontologies,
    st.sampled_from(["subproperties", "inverses", "domains"]),
    st.sampled_from(PROPERTIES),
    st.lists(any_pattern, min_size=1, max_size=3),
    events,
)
def test_axioms_about_rdf_type_itself(ontology, kind, property_, found, event):
    pair = (TYPE, CLASSES[0]) if kind == "domains" else (property_, TYPE)
    naive, compiled = both(replace(ontology, **{kind: getattr(ontology, kind) | {pair}}))
    for subscription in subscriptions(found):
        naive.subscribe(subscription)
        compiled.subscribe(subscription)
    assert_alike(naive, compiled, event)


@settings(quick, max_examples=60)
@given(ontologies, st.lists(any_pattern, min_size=2, max_size=3), events)
def test_alternatives_of_one_subscription(ontology, found, event):
    projected = {variable for pattern in found for variable in pattern.variables}
    shared = tuple(sorted((v for v in projected if all(v in p.variables for p in found)), key=str))
    subscription = Subscription("s", tuple(replace(p, projection=shared) for p in found), distinct=True)
    naive, compiled = both(ontology)
    naive.subscribe(subscription)
    compiled.subscribe(subscription)
    assert_alike(naive, compiled, event)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?a ?d { ?a :p0 ?c OPTIONAL { ?c :p1 ?d } }",
        "SELECT ?a { { ?a :p0 :i0 } UNION { ?a :p1 :i1 } }",
        "SELECT (COUNT(*) AS ?n) { ?a :p0 ?c }",
        "CONSTRUCT { ?c :q ?a } { ?a :p0 ?c }",
        "ASK { ?a :p0 ?c . ?c a :C0 }",
        "SELECT ?a { ?a :p0 ?c FILTER(?c > 2 && ?c < 4) }",
        "SELECT ?a { ?a :p0 ?c FILTER(?c = 'red') }",
        "SELECT ?a { ?a :p0 ?c FILTER(?c = :i0) }",
        "SELECT ?a { ?a :p0 ?c FILTER(CONTAINS(STR(?c), 'e')) }",
    ],
)
@settings(quick, max_examples=15)
@given(ontologies, events)
def test_sparql(query, ontology, event):
    subscription = Subscription.parse("PREFIX : <urn:> " + query, id="s")
    naive, compiled = both(ontology)
    naive.subscribe(subscription)
    compiled.subscribe(subscription)
    assert_alike(naive, compiled, event)
    assert [m.graph for m in compiled.match(event)] == [m.graph for m in naive.match(event)]


class TestBudget:
    """What is too costly is reported for itself alone."""

    STAR = Event("star", frozenset(Triple(HOME, PROPERTIES[0], NamedNode(f"urn:n{i}")) for i in range(300)))

    def test_the_others_get_their_answers(self):
        compiled = Compiled(Entailment(Ontology()), budget=10_000)
        a, b, c = (Variable(name) for name in "abc")
        arcs = tuple(Arc(HOME, PROPERTIES[0], end) for end in (a, b, c))
        compiled.subscribe(Subscription("hostile", (GraphPattern(arcs=arcs, home=HOME),)))
        compiled.subscribe(Subscription("plain", (GraphPattern(arcs=arcs[:1], home=HOME),)))
        found = list(compiled.match(self.STAR))
        assert [match.subscription_id for match in found] == ["plain"]
        assert len(found[0].bindings) == 300
        assert compiled.over_budget == {"hostile"}

    def test_existence_alone_is_cheap(self):
        compiled = Compiled(Entailment(Ontology()), budget=10_000)
        arcs = tuple(Arc(HOME, PROPERTIES[0], Variable(name)) for name in "abc")
        compiled.subscribe(Subscription("hostile", (GraphPattern(arcs=arcs, home=HOME),)))
        assert compiled.match_ids(self.STAR) == ["hostile"]
        assert compiled.over_budget == frozenset()


def test_a_pattern_of_two_hundred_arcs():
    length = 200
    names = [NamedNode(f"urn:n{i}") for i in range(length + 1)]
    event = Event("chain", frozenset(Triple(names[i], PROPERTIES[0], names[i + 1]) for i in range(length)))
    variables = [Variable(f"v{i}") for i in range(length + 1)]
    arcs = tuple(Arc(variables[i], PROPERTIES[0], variables[i + 1]) for i in range(length))
    naive, compiled = both(Ontology())
    for algorithm in (naive, compiled):
        algorithm.subscribe(Subscription("s", (GraphPattern(arcs=arcs),)))
    assert_alike(naive, compiled, event)


def test_visits_follow_matches_not_subscriptions():
    """A thousand subscriptions that differ in their constant cost an event no more steps than one of them."""
    value = Variable("v")
    event = Event("e", frozenset({Triple(INDIVIDUALS[0], PROPERTIES[0], INDIVIDUALS[1])}))
    visits = []
    for size in (1, 1000):
        compiled = Compiled(Entailment(Ontology()))
        for number in range(size):
            constant = INDIVIDUALS[0] if number == 0 else NamedNode(f"urn:other{number}")
            pattern = GraphPattern((Vertex(constant), Vertex(value)), (Arc(constant, PROPERTIES[0], value),))
            compiled.subscribe(Subscription(f"s{number}", (pattern,)))
        assert compiled.match_ids(event) == ["s0"]
        visits.append(compiled.visits)
    assert 0 < visits[0] == visits[1]
