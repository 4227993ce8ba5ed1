"""The compiled matcher gives the naive one's answers, bindings included, whatever came and went before."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyoxigraph
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat

from amounts import at_most
from generators import (
    CLASSES,
    INDIVIDUALS,
    PROPERTIES,
    events,
    ontologies,
    ops_patterns,
    patterns,
    rdf_12_events,
    rdf_12_ontologies,
)
from ontosub.matching.batch import Batch
from ontosub.matching.compiled.algorithm import Compiled
from ontosub.matching.naive import Naive
from ontosub.model import Arc, Event, GraphPattern, Ontology, Subscription, Vertex
from ontosub.model.terms import HOME, TYPE, NamedNode, Triple, Variable
from ontosub.semantics import Entailment

# One worker compiles the kernels for all of these tests.
pytestmark = pytest.mark.xdist_group("compiled")

any_pattern = st.one_of(patterns(), ops_patterns())
rdf_12_pattern = st.one_of(patterns(rdf_12=True), patterns(rdf_12=True), ops_patterns())
quick = settings(max_examples=at_most(300, quick=150), deadline=None, suppress_health_check=[HealthCheck.too_slow])


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
    assert_answers_alike(ontology, found, event)


@quick
@given(rdf_12_ontologies, st.lists(rdf_12_pattern, min_size=1, max_size=4), rdf_12_events)
def test_answers_about_triple_terms_and_directions_are_the_naive_ones(ontology, found, event):
    assert_answers_alike(ontology, found, event)


@pytest.mark.full
@settings(quick, max_examples=5_000)
@given(ontologies, st.lists(any_pattern, min_size=1, max_size=12), events)
def test_answers_are_the_naive_ones_thousands_of_times(ontology, found, event):
    assert_answers_alike(ontology, found, event)


def assert_answers_alike(ontology: Ontology, found: list[GraphPattern], event: Event) -> None:
    naive, compiled = both(ontology)
    for subscription in subscriptions(found):
        naive.subscribe(subscription)
        compiled.subscribe(subscription)
    assert_alike(naive, compiled, event)


@settings(quick, max_examples=at_most(100, quick=60))
@given(
    rdf_12_ontologies,
    st.lists(st.one_of(any_pattern, rdf_12_pattern), min_size=1, max_size=4),
    st.lists(st.one_of(events, rdf_12_events), min_size=1, max_size=4),
)
def test_batches(ontology, found, batch):
    """A table of payloads gives what the events give one by one, whichever way the payloads take."""
    naive, compiled = both(ontology)
    for number, subscription in enumerate(subscriptions(found)):
        subscription = replace(subscription, distinct=number % 2 == 1)
        naive.subscribe(subscription)
        compiled.subscribe(subscription)
    formats = ["application/n-triples", "text/turtle"]
    rows = [
        (f"e{number}", formats[number % 2], pyoxigraph.serialize(event.graph, format=RdfFormat.N_TRIPLES))
        for number, event in enumerate(batch)
    ]
    table = Batch(pa.table([list(column) for column in zip(*rows, strict=True)], names=BATCH_COLUMNS))
    expected, got, told, encoded = (
        naive.match_batch(table, bindings=True).matches,
        compiled.match_batch(table, bindings=True).matches,
        compiled.match_batch(table, bindings=False).matches,
        compiled.match_batch(table, bindings=True, encoded=True).matches,
    )
    assert told.to_pylist() == expected.drop_columns("bindings").to_pylist()
    assert got.schema == expected.schema
    assert list(map(counted, got.to_pylist())) == list(map(counted, expected.to_pylist()))
    assert in_order(map(counted, encoded.to_pylist())) == in_order(map(counted, expected.to_pylist()))


def in_order(rows: Iterable[dict]) -> list[dict]:
    return sorted(rows, key=itemgetter("event_id", "subscription_id"))


BATCH_COLUMNS = ["event_id", "content_type", "payload"]


def counted(row: dict) -> dict:
    return {**row, "bindings": Counter(frozenset(binding) for binding in row["bindings"])}


@settings(quick, max_examples=at_most(150, quick=75))
@given(ontologies, st.data())
def test_after_any_coming_and_going(ontology, data):
    """Subscribing, unsubscribing, merging, saving and reopening, in any order, leave the answers what they are."""
    with TemporaryDirectory() as directory:
        come_and_go(ontology, data, Path(directory) / "index")


def come_and_go(ontology: Ontology, data: st.DataObject, directory: Path) -> None:
    naive, compiled = both(ontology)
    standing: list[str] = []
    actions = ["subscribe", "subscribe", "subscribe", "unsubscribe", "match", "merge", "save", "reopen"]
    for number in range(data.draw(st.integers(2, 12))):
        action = data.draw(st.sampled_from(actions))
        if action == "subscribe":
            subscription = Subscription(f"s{number}", (data.draw(any_pattern),))
            naive.subscribe(subscription)
            compiled.subscribe(subscription)
            standing.append(subscription.id)
        elif action == "unsubscribe" and standing:
            gone = standing.pop(data.draw(st.integers(0, len(standing) - 1)))
            naive.unsubscribe(gone)
            compiled.unsubscribe(gone)
        elif action == "match":
            assert_alike(naive, compiled, data.draw(events))
        elif action == "merge":
            compiled.merge()
        else:
            compiled.save(directory)
            if action == "reopen":
                compiled = Compiled.open(directory, Entailment(ontology))
    assert_alike(naive, compiled, data.draw(events))
    assert list(compiled.standing) == standing
    assert len(compiled.standing) == len(standing)
    assert compiled.costs()["subscription_id"].to_pylist() == standing


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


@pytest.mark.parametrize("bindings", [True, False])
def test_a_mapping_that_one_way_is_sure_of_and_another_leaves_open_holds_once(bindings):
    """A moment with a zone equals one member of the list; about the other, without a zone, Python decides."""
    moments = "'2024-05-01T10:00:00Z'^^xsd:dateTime, '2024-05-01T10:00:00'^^xsd:dateTime"
    prefixes = "PREFIX : <urn:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
    subscription = Subscription.parse(f"{prefixes} SELECT ?v {{ ?x :p0 ?v FILTER(?v IN ({moments})) }}", id="s")
    payload = b'<urn:x> <urn:p0> "2024-05-01T10:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .'
    naive, compiled = both(Ontology())
    naive.subscribe(subscription)
    compiled.subscribe(subscription)
    assert_alike(naive, compiled, Event.read(payload, "nt"))
    table = Batch(pa.table([["e"], ["application/n-triples"], [payload]], names=BATCH_COLUMNS))
    expected, got = (each.match_batch(table, bindings=bindings).matches for each in (naive, compiled))
    assert got.to_pylist() == expected.to_pylist()


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

    def test_who_asks_only_whether_gets_an_answer(self):
        compiled = Compiled(Entailment(Ontology()), budget=1_000)
        compiled.subscribe(Subscription.parse("ASK { ?s ?p ?a . ?t ?q ?b . ?u ?r ?c }", id="ask"))
        compiled.subscribe(Subscription.parse("SELECT * { ?s ?p ?a . ?t ?q ?b . ?u ?r ?c }", id="all"))
        assert [match.subscription_id for match in compiled.match(self.STAR)] == ["ask"]
        assert compiled.over_budget == {"all"}


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
