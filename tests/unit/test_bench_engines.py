"""Engines: every one that is installed gives the answers of the reference."""

import pytest

from ontosub.bench import ENGINES
from ontosub.bench.engines.duckdb_join import join_text
from ontosub.bench.engines.shapes import Numbers, instance_of
from ontosub.bench.query_text import existence_query
from ontosub.bench.reference import Reference
from ontosub.bench.workload import Published, Workload
from ontosub.bench.workloads import lubm, mixed, ops, templates
from ontosub.model import Arc, Event, Filter, GraphPattern, Ontology, Subscription, Vertex
from ontosub.model.errors import LimitError, UsageError
from ontosub.model.expression import Call, Function
from ontosub.model.terms import HOME, Literal, NamedNode, Triple, Variable

A, B = Variable("a"), Variable("b")
P, Q = NamedNode("urn:p"), NamedNode("urn:q")
FEW = {"rdflib": 10, "duckdb": 15}
"""How many subscriptions slow engines get; the others get all."""


def workload_of(name: str) -> Workload:
    match name:
        case "ops":
            return ops.generate(40, 3, 1, classes=4)
        case "templates":
            return templates.generate(120, 3, 1)
        case "mixed":
            return mixed.generate(200, 4, 3)
        case _:
            return lubm.generate(60, 1, 1, triples=3000)


@pytest.fixture(scope="module", params=["ops", "templates", "mixed", "lubm"])
def reference(request: pytest.FixtureRequest) -> Reference:
    return Reference(workload_of(request.param))


def prepared(name: str, workload: Workload, most: int | None = None):
    engine = ENGINES[name]()
    reason = engine.missing()
    if reason is not None:
        pytest.skip(f"{name}: {reason}")
    try:
        taken = workload.subscriptions[: engine.capacity(workload)][:most]
        engine.prepare(taken, workload.ontology)
    except (UsageError, LimitError) as error:
        pytest.skip(f"{name} cannot take these subscriptions: {error}")
    return engine, frozenset(subscription.id for subscription in taken)


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_gives_the_answers_of_the_reference(name: str, reference: Reference):
    engine, taken = prepared(name, reference.workload, most=FEW.get(name))
    matched = 0
    for published in reference.events:
        decoded = engine.decode(published.event)
        found = set(engine.match(decoded))
        matched += len(found)
        reference.check(name, published, found, taken)
        assert set(engine.match(decoded)) == found, "an event leaves nothing behind"
    assert matched or name in ("rdflib", "duckdb"), "a workload on which nothing matches shows nothing"


@pytest.mark.parametrize("name", ENGINES)
def test_bindings_are_those_of_the_reference(name: str, reference: Reference):
    engine, _ = prepared(name, reference.workload, most=FEW.get(name))
    published = reference.events[0]
    decoded = engine.decode(published.event)
    bindings = engine.bindings(decoded)
    if bindings is None:
        pytest.skip(f"{name} tells only which subscriptions match")
    assert bindings.keys() == set(engine.match(decoded))
    reference.check_bindings(name, published, bindings)


@pytest.mark.parametrize("name", ENGINES)
def test_home_injectivity_and_limits_count(name: str):
    """The smallest patterns that need each of them, on events that differ in just that."""
    vertices = (Vertex(HOME, frozenset({NamedNode("urn:C")})),)
    limit = Filter(Call(Function.GREATER_OR_EQUAL, (B, Literal(7))))
    patterns = {
        "home": GraphPattern(vertices, (Arc(HOME, P, A),), home=HOME),
        "two": GraphPattern(vertices, (Arc(HOME, P, A), Arc(HOME, P, B)), home=HOME, injective=True),
        "limit": GraphPattern(vertices, (Arc(HOME, P, A), Arc(A, Q, B)), (limit,), home=HOME),
        "value": GraphPattern(vertices, (Arc(HOME, P, A), Arc(A, Q, Literal("red"))), home=HOME),
        "anywhere": GraphPattern((), (Arc(A, P, NamedNode("urn:x")),)),
    }
    if name == "ops":
        pytest.skip("ops takes only injective patterns")
    if name == "rdflib":
        # It enumerates before it compares vertices, and to it the string "red" is greater than the number 7.
        del patterns["two"], patterns["limit"]
    x, y, narrower = NamedNode("urn:x"), NamedNode("urn:y"), NamedNode("urn:D")
    typed = Triple(HOME, NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), narrower)
    graphs = [
        {typed, Triple(HOME, P, x)},
        {typed, Triple(HOME, P, x), Triple(HOME, P, y), Triple(x, Q, Literal(7))},
        {
            typed,
            Triple(HOME, P, y),
            Triple(y, Q, Literal("6.9", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#decimal"))),
        },
        {typed, Triple(HOME, P, y), Triple(y, Q, Literal("red"))},
        {Triple(HOME, P, x)},
        {Triple(y, P, x), Triple(x, P, y)},
    ]
    workload = Workload(
        "by hand",
        0,
        Ontology(subclasses=frozenset({(narrower, NamedNode("urn:C"))})),
        [Subscription(name, (pattern,)) for name, pattern in patterns.items()],
        [Published.of(Event(f"e{number}", frozenset(graph))) for number, graph in enumerate(graphs)],
    )
    engine, taken = prepared(name, workload)
    reference = Reference(workload, events=len(graphs))
    for published in reference.events:
        reference.check(name, published, set(engine.match(engine.decode(published.event))), taken)


class TestLanguages:
    def test_sparql_names_the_home_vertex_and_keeps_vertices_apart(self):
        pattern = GraphPattern((), (Arc(HOME, P, A), Arc(HOME, P, B)), home=HOME, injective=True)
        text = existence_query(Subscription("s", (pattern,)))
        assert text.startswith("ASK { { <urn:ontosub:bench:home> <urn:p> ?a .")
        assert text.count("!=") == 3

    def test_sql_joins_one_relation_of_subscriptions_with_the_triples(self):
        numbers = Numbers()
        limit = Filter(Call(Function.LESS, (B, Literal(5))))
        instance = instance_of(GraphPattern((), (Arc(A, P, NamedNode("urn:x")), Arc(A, Q, B)), (limit,)), numbers)
        assert join_text(instance.shape, 0, 99) == (
            "SELECT DISTINCT q.id FROM shape0 q, triple a0, triple a1 WHERE a0.p = 1 AND a0.o = q.c0 "
            "AND a1.p = 2 AND a1.s = a0.s AND a1.v < q.l0"
        )
        assert instance.limits == (5.0,)

    @pytest.mark.parametrize(
        "pattern",
        [
            GraphPattern((), (Arc(A, Variable("p"), B),)),
            GraphPattern((), (Arc(A, P, B),), (Filter(Call(Function.EQUAL, (B, Literal("red")))),)),
            GraphPattern((), (Arc(A, P, B),), (Filter(Call(Function.LESS, (A, Literal(3)))),)),
        ],
    )
    def test_what_a_shape_cannot_say_is_refused(self, pattern: GraphPattern):
        with pytest.raises(UsageError):
            instance_of(pattern, Numbers())
