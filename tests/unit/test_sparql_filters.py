"""From the expressions of a query to those of the model, and back to text."""

from __future__ import annotations

import pytest

from ontosub.languages.sparql.filters import express, express_all, fails_without
from ontosub.languages.sparql.parser import parse_query
from ontosub.languages.sparql.printer import from_model, print_expression
from ontosub.languages.sparql.syntax import Aggregate, Bind, Expression, Group, Pattern, Select
from ontosub.languages.sparql.tokens import FUNCTIONS
from ontosub.model import expression as model
from ontosub.model.errors import LanguageError
from ontosub.model.expression import CASTS, Call, Exists, Function
from ontosub.model.terms import Literal, NamedNode, Triple, Variable
from ontosub.semantics.wording import expression_text

PREFIXES = "PREFIX : <urn:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "


def read(text: str) -> Expression:
    query = parse_query(f"{PREFIXES} ASK {{ ?x :p ?y BIND({text} AS ?z) }}")
    assert isinstance(query.where, Group)
    bind = query.where.elements[-1]
    assert isinstance(bind, Bind)
    return bind.expression


def read_projected(text: str) -> Expression:
    query = parse_query(f"{PREFIXES} SELECT ({text} AS ?z) {{ ?x :p ?y }}")
    assert isinstance(query, Select)
    assert query.projection is not None
    (item,) = query.projection
    assert item.expression is not None
    return item.expression


def no_pattern(pattern: Pattern) -> object:
    raise AssertionError("there is no EXISTS")


def no_aggregate(aggregate: Aggregate) -> Variable:
    raise AssertionError("there is no aggregate")


def express_whole(text: str, base: str | None = None) -> model.Expression | None:
    return express_all(read(text), no_pattern, no_aggregate, base)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_builtin_is_expressed_and_printed(name: str) -> None:
    least, _ = FUNCTIONS[name]
    arguments = ", ".join(["?x", '"a"', '"b"', '"i"'][:least])
    expression = express_whole(f"{name}({arguments})")
    assert isinstance(expression, Call)
    assert len(expression.arguments) == least
    assert expression.span is not None
    printed = print_expression(from_model(expression))
    assert express_whole(printed) == expression
    assert express_whole(expression_text(expression, exact=True)) == expression


@pytest.mark.parametrize("cast", sorted(CASTS))
def test_every_cast_is_expressed_and_printed(cast: Function) -> None:
    expression = express(read(f"<{cast.value}>(?x)"))
    assert expression == Call(cast, (Variable("x"),))
    assert express(read(print_expression(from_model(expression)))) == expression
    assert express(read(expression_text(expression, exact=True))) == expression
    assert expression_text(expression) == f"xsd:{cast.value.partition('#')[2]}(?x)"


@pytest.mark.parametrize(
    "text", ["<urn:f>(?x)", "xsd:anyURI(?x)", "STR(<urn:f>(?x))", "xsd:integer(?x, ?y)", "xsd:integer()"]
)
def test_other_functions_with_iris_are_refused(text: str) -> None:
    with pytest.raises(LanguageError, match=r"unknown function|wrong number of arguments"):
        read(text)


@pytest.mark.parametrize("text", ["RAND() < 1", "UUID()", "STRUUID()", "BNODE()", "BNODE(?x)", "NOW() > ?x", "IRI(?x)"])
def test_what_is_told_of_a_whole_solution_is_not_for_the_core(text: str) -> None:
    assert express(read(text)) is None
    assert express_whole(text) is not None


def test_exists_and_aggregates_become_what_the_algebra_makes_of_them() -> None:
    patterns: list[Pattern] = []

    def pattern_of(pattern: Pattern) -> int:
        patterns.append(pattern)
        return len(patterns)

    found = express_all(read("EXISTS { ?x :q 1 } || NOT EXISTS { ?x :q 2 }"), pattern_of, no_aggregate)
    assert found == Call(Function.OR, (Exists(1), Call(Function.NOT, (Exists(2),))))
    assert all(isinstance(pattern, Group) for pattern in patterns)
    assert express(read("EXISTS { ?x :q 1 }")) is None
    counted = read_projected("COUNT(?x) + 1")
    one = Literal("1", datatype=NamedNode(Function.TO_INTEGER.value))
    assert express_all(counted, no_pattern, lambda aggregate: Variable(aggregate.name)) == Call(
        Function.ADD, (Variable("COUNT"), one)
    )
    assert express(counted) is None


def test_iri_is_told_its_base() -> None:
    base = "http://example.org/"
    expected = Call(Function.IRI, (Variable("x"), Literal(base)))
    assert express(read("IRI(?x)"), base) == expected
    assert express_whole("URI(?x)", base) == expected
    assert print_expression(from_model(expected)) == "IRI(?x)"
    assert expression_text(expected) == "IRI(?x)"


def test_a_triple_term_is_printed_as_one() -> None:
    triple = Triple(
        NamedNode("urn:a"), NamedNode("urn:p"), Triple(NamedNode("urn:b"), NamedNode("urn:q"), Literal("c"))
    )
    assert print_expression(from_model(triple)) == 'TRIPLE(<urn:a>, <urn:p>, TRIPLE(<urn:b>, <urn:q>, "c"))'
    assert expression_text(triple, exact=True) == '<<( <urn:a> <urn:p> <<( <urn:b> <urn:q> "c" )>> )>>'


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("STRLEN(?x) > 1", True),
        ("COALESCE(?x, 1) > 0", False),
        ("COALESCE(?x, ?x + 1)", True),
        ("IF(?x, true, false)", True),
        ("IF(?y, ?x, true)", False),
        ("IF(?y, ?x, ?x)", True),
        ("IF(BOUND(?x), ?x > 1, true)", False),
        ("CONCAT(?x, ?y) = 'a'", True),
        ("xsd:integer(?x) = 1", True),
    ],
)
def test_what_fails_without_a_variable(text: str, fails: bool) -> None:
    expression = express(read(text))
    assert expression is not None
    assert fails_without(expression, {Variable("x")}) is fails


def test_exists_does_not_fail_without_a_variable() -> None:
    assert not fails_without(Exists(None), {Variable("x")})
