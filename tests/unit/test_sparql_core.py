"""What a query becomes: an exact pattern, or a necessary one with a residual."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from test_sparql_texts import answers, queries

from ontosub.languages.sparql import parse_query, print_query, read_in_full
from ontosub.languages.sparql.printer import from_model, print_expression
from ontosub.model import Arc, Call, Filter, Function, GraphPattern, Span, Subscription, Vertex
from ontosub.model.errors import LimitError
from ontosub.model.terms import TYPE, BlankNode, Literal, NamedNode, Variable

PREFIX = "PREFIX : <http://e/>\n"


def read(text: str) -> Subscription:
    return read_in_full(PREFIX + text, "x")


def pattern(text: str) -> GraphPattern:
    (found,) = read(text).patterns
    return found


def iri(name: str) -> NamedNode:
    return NamedNode(f"http://e/{name}")


def integer(value: int) -> Literal:
    return Literal(value)


X, Y, Z = map(Variable, "xyz")


def test_a_conjunctive_query_is_its_pattern() -> None:
    subscription = read("SELECT ?x { ?x a :C , :D ; :p ?y . { ?y :q 5 } FILTER(?y > 3 && ?x != :a) }")
    assert subscription.residual is None
    assert subscription.patterns == (
        GraphPattern(
            vertices=(Vertex(X, frozenset({iri("C"), iri("D")})), Vertex(Y), Vertex(integer(5))),
            arcs=(Arc(X, iri("p"), Y), Arc(Y, iri("q"), integer(5))),
            filters=(
                Filter(Call(Function.GREATER, (Y, integer(3)))),
                Filter(Call(Function.NOT_EQUAL, (X, iri("a")))),
            ),
            projection=(X,),
        ),
    )


def test_positions_point_into_the_text_and_do_not_count() -> None:
    found = pattern("SELECT ?x { ?x a :C . ?x :p ?y FILTER(?y > 3) }")
    assert found.vertices[0].span == Span(2, 13, 2, 15)
    assert found.arcs[0].span == Span(2, 23, 2, 31)
    assert found.filters[0].span == Span(2, 39, 2, 45)
    assert found == pattern("SELECT ?x\n\n {   ?x a :C . ?x :p ?y FILTER (?y > 3) }")


def test_type_with_a_variable_and_a_variable_verb_are_arcs() -> None:
    found = pattern("SELECT * { ?x a ?y . ?x ?z ?x . :a a :C . [] a :D }")
    assert found.arcs == (Arc(X, TYPE, Y), Arc(X, Z, X))
    assert found.vertices[2:] == (
        Vertex(iri("a"), frozenset({iri("C")})),
        Vertex(BlankNode("anon1"), frozenset({iri("D")})),
    )
    assert found.projection == (X, Y, Z)


@pytest.mark.parametrize(
    ("text", "projection", "distinct"),
    [
        ("SELECT ?y ?x { ?x :p ?y }", (Y, X), False),
        ("SELECT REDUCED ?x { ?x :p ?y }", (X,), False),
        ("SELECT DISTINCT ?x { ?x :p ?y }", (X,), True),
        ("SELECT * { _:b :p ?y . ?x :q [] }", (Y, X), False),
        ("ASK { ?x :p ?y }", (), False),
        ("CONSTRUCT { ?x :q :a } { ?x :p ?y }", (X, Y), False),
    ],
)
def test_the_form_decides_the_projection(text: str, projection: tuple[Variable, ...], distinct: bool) -> None:
    subscription = read(text)
    assert subscription.residual is None
    assert subscription.patterns[0].projection == projection
    assert subscription.distinct is distinct


def test_construct_keeps_its_template() -> None:
    subscription = read("CONSTRUCT { ?x a :C ; :q [ :r ?y ] } { ?x :p ?y }")
    blank = BlankNode("anon1")
    assert subscription.template == (Arc(X, TYPE, iri("C")), Arc(X, iri("q"), blank), Arc(blank, iri("r"), Y))
    assert read("CONSTRUCT WHERE { ?x :p ?y }").template == (Arc(X, iri("p"), Y),)


def test_sequences_and_inverses_are_arcs_over_fresh_vertices() -> None:
    subscription = read("SELECT ?x { ?x :p/^:q/a :C . ?x ^:r _:step1 }")
    one, two = BlankNode("step2"), BlankNode("step3")
    assert subscription.residual is None
    assert subscription.patterns[0].arcs == (
        Arc(X, iri("p"), one),
        Arc(two, iri("q"), one),
        Arc(BlankNode("step1"), iri("r"), X),
    )
    assert Vertex(two, frozenset({iri("C")})) in subscription.patterns[0].vertices


def test_a_chain_of_alternatives_is_balanced() -> None:
    (found,) = pattern("ASK { ?x :p ?y FILTER(?y = 1 || ?y = 2 || ?y = 3 || ?y = 4) }").filters
    one, two, three, four = (Call(Function.EQUAL, (Y, integer(n))) for n in (1, 2, 3, 4))
    assert found.expression == Call(Function.OR, (Call(Function.OR, (one, two)), Call(Function.OR, (three, four))))


@pytest.mark.parametrize(
    ("written", "expression"),
    [
        ("?y IN (1, :a)", Call(Function.IN, (Y, integer(1), iri("a")))),
        ("?y NOT IN (1)", Call(Function.NOT_IN, (Y, integer(1)))),
        ("isURI(?y)", Call(Function.IS_IRI, (Y,))),
        ("-?y = -1", Call(Function.EQUAL, (Call(Function.NEGATE, (Y,)), integer(-1)))),
        ("?y -1 = 2", Call(Function.EQUAL, (Call(Function.ADD, (Y, integer(-1))), integer(2)))),
        ("REGEX(STR(?y), '^a', 'i')",
         Call(Function.REGEX, (Call(Function.STR, (Y,)), Literal("^a"), Literal("i")))),
        ("?y", Y),
    ],
)  # fmt: skip
def test_filters_that_a_pattern_can_hold(written: str, expression: object) -> None:
    subscription = read(f"ASK {{ ?x :p ?y FILTER({written}) }}")
    assert subscription.residual is None
    assert subscription.patterns[0].filters == (Filter(expression),)


@pytest.mark.parametrize(
    ("text", "arcs", "filters"),
    [
        ("SELECT ?x { ?x :p ?y OPTIONAL { ?x :q ?z } FILTER(?y > 1) FILTER(?z > 1) }", 1, 1),
        ("SELECT ?x { ?x :p ?y . { ?x :q ?z FILTER(?y > 1) } }", 2, 0),
        ("SELECT ?x { ?x :p ?y . { FILTER(?y > 1) } }", 1, 0),
        ("SELECT ?x { ?x :p ?y FILTER(?y > 1 && EXISTS { ?x :q ?z }) }", 1, 1),
        ("SELECT ?x { ?x :p ?y FILTER(?y > 1 || EXISTS { ?x :q ?z }) }", 1, 0),
        ("SELECT ?x { ?x :p ?y MINUS { ?x :q ?z } }", 1, 0),
        ("SELECT ?x { { ?x :p ?y } UNION { ?x :q ?y } ?x :r ?z }", 1, 0),
        ("SELECT ?x { ?x :p* ?y . ?x :q ?z FILTER(?y > 1) }", 1, 0),
        ("SELECT ?x { ?x :p ?y BIND(?y + 1 AS ?z) FILTER(?z > 1) }", 1, 0),
        ("SELECT ?x { ?x :p ?y VALUES ?y { 1 } FILTER(?y > 1) }", 1, 1),
        ("SELECT ?x { ?x :p ?y } VALUES ?y { 1 }", 1, 0),
        ("SELECT ?x { ?x :p ?y } LIMIT 1", 1, 0),
        ("SELECT ?x { ?x :p ?y } ORDER BY ?nowhere", 1, 0),
        ("SELECT (?y AS ?z) { ?x :p ?y }", 1, 0),
        ("SELECT ?x { ?x :p ?y FILTER(<http://www.w3.org/2001/XMLSchema#integer>(?y) > 1) }", 1, 0),
        ("SELECT ?x { ?x :p ?y FILTER(?nowhere > 1) }", 1, 0),
        ("SELECT ?x { GRAPH ?g { ?x :p ?y } }", 0, 0),
        ("SELECT ?x { { SELECT ?x { ?x :p ?y } } ?x :q ?z }", 1, 0),
        ("SELECT ?x { SELECT ?x { ?x :p ?y } }", 0, 0),
        ("SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x", 1, 0),
        ("SELECT (COUNT(*) AS ?n) { ?x :p ?y }", 0, 0),
        ("SELECT (1 AS ?n) { ?x :p ?y } HAVING(true)", 0, 0),
        ("SELECT (1 AS ?n) { ?x :p ?y } ORDER BY COUNT(*)", 0, 0),
        ("DESCRIBE ?x { ?x :p ?y }", 1, 0),
        ("DESCRIBE ?x :a { ?x :p ?y }", 0, 0),
        ("DESCRIBE :a", 0, 0),
        ("ASK { ?x ^:p 'x' }", 0, 0),
    ],
)
def test_anything_else_is_residual_over_a_necessary_core(text: str, arcs: int, filters: int) -> None:
    subscription = read(text)
    assert subscription.residual is not None
    (core,) = subscription.patterns
    assert (len(core.arcs), len(core.filters), core.projection) == (arcs, filters, ())


def test_a_residual_too_large_for_the_engine_is_refused() -> None:
    optionals = " ".join(f"OPTIONAL {{ ?x :p{n} ?y{n} }}" for n in range(60))
    with pytest.raises(LimitError, match="joins"):
        read(f"ASK {{ ?x :p ?y {optionals} }}")
    alternatives = " || ".join(f"?y = {n}" for n in range(1000))
    assert read(f"ASK {{ ?x :p ?y FILTER({alternatives}) }}").residual is None
    with pytest.raises(LimitError, match="operators"):
        read(f"ASK {{ ?x :p ?y FILTER({alternatives}) }} LIMIT 1")


@pytest.mark.parametrize(
    "text",
    [
        "ASK { VALUES ?x { " + "1 " * 15_000 + "} }",
        "ASK { ?x " + "(" * 98 + ":p?" + ")?" * 98 + " ?y }",
        f"PREFIX long: <http://e/{'x' * 10_000}/> ASK {{ VALUES ?y {{ {'long:a ' * 200} }} }}",
    ],
    ids=["tokens", "depth", "length"],
)
def test_a_residual_can_always_be_read_again(text: str) -> None:
    with pytest.raises(LimitError, match="written out in full"):
        read(text)


def as_query(found: GraphPattern) -> str:
    """Return the pattern as a query of its own, for an engine that knows nothing of patterns."""
    typed = [f"{vertex.term} a {asked} ." for vertex in found.vertices for asked in vertex.classes]
    arcs = [f"{arc.subject} {arc.property} {arc.object} ." for arc in found.arcs]
    filters = [f"FILTER({print_expression(from_model(each.expression))})" for each in found.filters]
    head = "SELECT " + " ".join(map(str, found.projected)) if found.projected else "ASK"
    return f"{head} {{ {' '.join(typed + arcs + filters)} }}"


@settings(max_examples=250, deadline=None)
@given(queries())
def test_the_core_is_necessary_and_without_residual_sufficient(text: str) -> None:
    subscription = read_in_full(text, "x")
    (core,) = subscription.patterns
    found = answers(print_query(parse_query(text)))
    if subscription.residual is None and not subscription.template:
        expected = answers(as_query(core))
        assert found == expected or set(found) == set(expected)
    elif found:
        assert answers(as_query(core))
