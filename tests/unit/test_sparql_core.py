"""What a query becomes: an exact pattern, or a necessary one with a residual."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given, settings
from test_sparql_texts import answers, queries

from ontosub.languages.sparql import parse_query, print_query, read_in_full
from ontosub.languages.sparql.printer import from_model, print_expression
from ontosub.languages.sparql.syntax import Ask, Select
from ontosub.model import Arc, Call, Filter, Function, GraphPattern, Span, Subscription, TemplateTriple, Vertex
from ontosub.model.errors import LimitError
from ontosub.model.terms import TYPE, BlankNode, Literal, NamedNode, PatternTerm, Variable, written

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
        ("ASK { ?x :p ?y }", (), True),
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
    made = [(X, TYPE, iri("C")), (X, iri("q"), blank), (blank, iri("r"), Y)]
    assert subscription.template == tuple(TemplateTriple(*each) for each in made)
    assert read("CONSTRUCT WHERE { ?x :p ?y }").template == (TemplateTriple(X, iri("p"), Y),)


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
        ("SELECT ?x { ?x :p ?y { SELECT ?x { ?x :q ?z } } UNION { ?x :r ?z } }", 1, 0),
        ("SELECT ?x { ?x :p* ?y . ?x :q ?z FILTER(?y > 1) }", 1, 0),
        ("SELECT ?x { ?x :p ?y BIND(?y + 1 AS ?z) FILTER(?z > 1) }", 1, 0),
        ("SELECT ?x { ?x :p ?y VALUES ?y { 1 } FILTER(?y > 1) }", 1, 1),
        ("SELECT ?x { ?x :p ?y } VALUES ?y { 1 }", 1, 0),
        ("SELECT ?x { ?x :p ?y } LIMIT 1", 1, 0),
        ("SELECT ?x { ?x :p ?y } ORDER BY ?nowhere", 1, 0),
        ("SELECT (?y AS ?z) { ?x :p ?y }", 1, 0),
        ("SELECT ?x { ?x :p ?y FILTER(?y < NOW()) }", 1, 0),
        ("SELECT ?x { ?x :p ?y FILTER(?y > 1 && RAND() < 1) }", 1, 1),
        ("SELECT ?x { ?x :p ?y FILTER(?x = IRI(?y)) }", 1, 0),
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
        ("ASK { 'x' ^:p/^:q ?x . 'x' (:p/:q) ?y }", 2, 0),
        ("CONSTRUCT {} { ?x :p ?y }", 1, 0),
    ],
)
def test_anything_else_is_residual_over_a_necessary_core(text: str, arcs: int, filters: int) -> None:
    subscription = read(text)
    assert subscription.residual is not None
    (core,) = subscription.patterns
    assert (len(core.arcs), len(core.filters), core.projection) == (arcs, filters, ())


def arcs_of(text: str) -> list[list[str]]:
    """Return the properties of each pattern, in short."""
    return [[arc.property.value.removeprefix("http://e/") for arc in found.arcs] for found in read(text).patterns]


@pytest.mark.parametrize(
    ("text", "arcs"),
    [
        ("SELECT ?x { { ?x :p ?y } UNION { ?x :q ?y } }", [["p"], ["q"]]),
        ("SELECT ?x { { ?x :p ?y } UNION { ?x :q ?y } UNION { ?x :r ?y } ?x :s ?y }",
         [["p", "s"], ["q", "s"], ["r", "s"]]),
        ("SELECT ?x { { ?x :p ?y } UNION { ?x :q ?y } { ?x :r ?y } UNION { ?x :s ?y } }",
         [["p", "r"], ["p", "s"], ["q", "r"], ["q", "s"]]),
        ("SELECT ?x { { { ?x :p ?y } UNION { ?x :q ?y } ?x :r ?z } UNION { ?x :s ?y } }",
         [["p", "r"], ["q", "r"], ["s"]]),
        ("SELECT ?x { { ?x :p ?y } UNION {} }", [["p"], []]),
        ("SELECT ?x { { ?x :p ?y } UNION { ?x :p ?y } }", [["p"], ["p"]]),
        ("SELECT ?x { ?x :p|:q ?y }", [["p"], ["q"]]),
        ("SELECT ?x { ?x (:p|^:q)/:r ?y . ?x :s ?y }", [["p", "r", "s"], ["q", "r", "s"]]),
        ("SELECT ?x { { ?x :p ?y FILTER(?z > 1) } UNION { ?x :q ?z FILTER(?z > 1) } }", [["q"]]),
        ("SELECT ?x { { ?x :p ?y } UNION { ?x :q ?z } FILTER(?z > 1) }", [["q"]]),
        ("SELECT ?x { { ?x :p ?y } UNION { ?x :q ?z } FILTER(!(?z = 1)) }", [["q"]]),
        ("SELECT ?x { { ?x :p ?y } UNION { ?x :q ?z } FILTER(?y = 1 || ?y = ?z) }", []),
    ],
)  # fmt: skip
def test_unions_are_distributed(text: str, arcs: list[list[str]]) -> None:
    if arcs:
        assert read(text).residual is None
        assert arcs_of(text) == arcs
    else:
        assert read(text).residual is not None


def test_an_alternative_projects_what_it_binds() -> None:
    subscription = read("SELECT ?y ?x ?z { { ?x :p ?y } UNION { ?z :q ?x } }")
    assert [found.projection for found in subscription.patterns] == [(Y, X), (X, Z)]


def test_a_filter_belongs_to_the_alternatives_of_its_group() -> None:
    text = "SELECT ?x { { ?x :p ?y FILTER(?y > 1) } UNION { ?x :q ?y } FILTER(?y > 2) }"
    assert [len(found.filters) for found in read(text).patterns] == [2, 1]


@pytest.mark.parametrize(
    ("condition", "exact"),
    [
        ("BOUND(?z)", False),
        ("!BOUND(?z)", False),
        ("?z = 1 || ?y = 1", False),
        ("?y IN (?z, 1)", False),
        ("?z IN ()", False),
        ("?z NOT IN (1)", True),
        ("?z = 1 || ?z = 2", True),
        ("?z = 1 && ?y = 1", True),
        ("COALESCE(?z, 1) = 1", False),
        ("IF(?y = 1, ?z, 1) = 1", False),
        ("isIRI(?z)", True),
    ],
)
def test_a_filter_that_could_hold_without_a_variable_stays_in_the_residual(condition: str, exact: bool) -> None:
    subscription = read(f"SELECT ?x {{ {{ ?x :p ?y }} UNION {{ ?x :q ?y ; :r ?z }} FILTER({condition}) }}")
    assert (subscription.residual is None) is exact
    assert len(subscription.patterns) == (1 if exact else 2)


def test_alternatives_are_counted_before_they_are_built() -> None:
    unions = " ".join(f"{{ ?x :p{n} ?y }} UNION {{ ?x :q{n} ?y }}" for n in range(4))
    assert (len(read(f"ASK {{ {unions} }}").patterns), read(f"ASK {{ {unions} }}").residual) == (16, None)
    more = read(f"ASK {{ {unions} {{ ?x :p ?y }} UNION {{ ?x :q ?y }} }}")
    assert len(more.patterns) == 16
    assert more.residual is not None
    assert not more.core_decides
    assert len(read(f"ASK {{ ?x {'/'.join(['(:p|:q)'] * 30)} ?y }}").patterns) == 1
    wide = " UNION ".join(f"{{ ?x :p{n} ?y }}" for n in range(40))
    assert len(read(f"ASK {{ {wide} }}").patterns) == 1


def test_many_groups_and_alternatives_together() -> None:
    groups = " ".join(f"{{ ?x :r{n} ?y }}" for n in range(2000))
    unions = " ".join(f"{{ ?x :p{n} ?y }} UNION {{ ?x :q{n} ?y }}" for n in range(4))
    assert [len(found.arcs) for found in read(f"ASK {{ {unions} {groups} }}").patterns] == [2004] * 16


@pytest.mark.parametrize(
    ("text", "decides"),
    [
        ("SELECT ?x { ?x :p ?y OPTIONAL { ?x :q ?z } }", True),
        ("SELECT ?x { ?x :p ?y OPTIONAL { ?x :q ?z FILTER(?z > ?y) } FILTER(?y > 1) }", True),
        ("SELECT ?x { ?x :p ?y OPTIONAL { ?x :q ?z } FILTER(?z > 1) }", False),
        ("SELECT ?x { ?x :p ?y OPTIONAL { ?x :q ?z } ?w :r ?z }", False),
        ("SELECT ?x { OPTIONAL { ?x :q ?z } ?x :p ?y }", False),
        ("SELECT ?x { ?x :p ?y OPTIONAL { ?x :q ?z } OPTIONAL { ?y :q ?z } }", True),
        ("SELECT ?x { { ?x :p ?y OPTIONAL { ?x :q ?z } } { ?x :r ?w OPTIONAL { ?w :q ?z } } }", False),
        ("SELECT ?x { { ?x :p ?y OPTIONAL { ?x :q ?z } } { ?x :r ?w OPTIONAL { ?w :q ?v } } }", True),
        ("SELECT ?x { ?x :p ?y BIND(?y + 1 AS ?z) }", True),
        ("SELECT ?x { ?x :p ?y BIND(?y + 1 AS ?z) ?x :q ?z }", False),
        ("SELECT ?x { ?x :p ?y BIND(?y + 1 AS ?z) FILTER(?z > 1) }", False),
        ("SELECT (?y + 1 AS ?z) { ?x :p ?y }", True),
        ("SELECT DISTINCT ?x { ?x :p ?y } ORDER BY ?y LIMIT 1", True),
        ("SELECT ?x { ?x :p ?y } LIMIT 0", False),
        ("SELECT ?x { ?x :p ?y } OFFSET 1", False),
        ("SELECT ?x { ?x :p ?y } LIMIT 1 OFFSET 0", True),
        ("CONSTRUCT {} { ?x :p ?y }", True),
        ("CONSTRUCT { ?x :q ?z } { ?x :p ?y OPTIONAL { ?y :p ?z } }", True),
        ("DESCRIBE ?x { ?x :p ?y }", True),
        ("DESCRIBE ?x :a { ?x :p ?y }", False),
        ("SELECT ?x { { ?x :p ?y } UNION { ?x :q ?y } OPTIONAL { ?x :r ?z } }", True),
        ("SELECT ?x { { ?x :p ?y OPTIONAL { ?x :r ?z } } UNION { ?x :q ?y } ?x :s ?z }", False),
        ("SELECT ?x { { ?x :p ?y } UNION { ?x :q* ?y } }", False),
        ("SELECT ?x { ?x :p ?y MINUS { ?x :q ?z } }", False),
        ("SELECT ?x { ?x :p ?y FILTER EXISTS { ?x :q ?z } }", False),
        ("SELECT ?x { ?x :p ?y VALUES ?y { 1 } }", False),
        ("SELECT ?x { ?x :p ?y } VALUES ?y { 1 }", False),
        ("SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x HAVING(COUNT(*) > 1)", False),
        ("SELECT ?x { ?x :p ?y OPTIONAL { ?x :q ?z } FILTER(STR(?y) = '1') }", True),
        ("SELECT ?x { ?x :p ?y }", False),
    ],
)
def test_when_the_core_decides(text: str, decides: bool) -> None:
    assert read(text).core_decides is decides


def test_a_residual_keeps_the_alternatives_of_its_core() -> None:
    subscription = read("SELECT ?x { { ?x :p ?y } UNION { ?x :q ?y } MINUS { ?x :r ?z } }")
    assert subscription.residual is not None
    assert [len(found.arcs) for found in subscription.patterns] == [1, 1]
    assert all(found.projection == () for found in subscription.patterns)


def test_a_residual_that_is_too_large_is_refused() -> None:
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


def as_group(found: GraphPattern, number: int) -> str:
    """Return the pattern as a group of a query, for an engine that knows nothing of patterns."""

    def name(term: PatternTerm) -> str:
        return f"{term}x{number}" if isinstance(term, BlankNode) else written(term)

    typed = [f"{name(vertex.term)} a {asked} ." for vertex in found.vertices for asked in vertex.classes]
    arcs = [f"{name(arc.subject)} {arc.property} {name(arc.object)} ." for arc in found.arcs]
    filters = [f"FILTER({print_expression(from_model(each.expression))})" for each in found.filters]
    return f"{{ {' '.join(typed + arcs + filters)} }}"


def as_query(subscription: Subscription, text: str) -> str:
    """Return the core as a query of its own, with the head of the one that it was taken from."""
    tree = parse_query(text)
    named = subscription.residual is None and isinstance(tree, Select)
    head = print_query(tree).split(" WHERE ")[0] if named else "ASK"
    return f"{head} {{ {' UNION '.join(map(as_group, subscription.patterns, count()))} }}"


@settings(max_examples=250, deadline=None)
@given(queries())
def test_the_core_is_necessary_and_without_residual_sufficient(text: str) -> None:
    subscription = read_in_full(text, "x")
    found = answers(print_query(parse_query(text)))
    expected = answers(as_query(subscription, text))
    if subscription.residual is None and not subscription.template:
        # How many of its duplicates REDUCED keeps is the engine's choice.
        assert found == expected or ("REDUCED" in text and set(found) == set(expected))
    elif found:
        assert expected
    if subscription.core_decides and expected:
        assert found or not isinstance(parse_query(text), Select | Ask)
