"""Aggregates of terms (SPARQL 1.1, section 18.5.1)."""

from __future__ import annotations

from itertools import permutations

import pytest

from ontosub.model.errors import LimitError
from ontosub.model.terms import XSD, BlankNode, Literal, NamedNode, Term
from ontosub.semantics.aggregates import aggregate
from ontosub.semantics.budget import Budget
from ontosub.semantics.faults import ExpressionError

NAMES = ["COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT"]
IRI = NamedNode("urn:x")


def typed(datatype: str, text: str) -> Literal:
    return Literal(text, datatype=XSD[datatype])


def integer(value: int) -> Literal:
    return typed("integer", str(value))


def result(name: str, *terms: Term | None, distinct: bool = False, separator: str | None = None) -> Term | None:
    """Return the aggregate, or None when it is an error."""
    try:
        return aggregate(name, terms, Budget(), distinct=distinct, separator=separator)
    except ExpressionError:
        return None


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ((), [integer(0), integer(0), integer(0), None, None, None, Literal("")]),
        ((None,), [integer(0), None, None, None, None, None, None]),
        ((integer(1), None), [integer(1), None, None, None, None, integer(1), None]),
        (
            (integer(1), integer(2), integer(2)),
            [
                *(integer(3), integer(5), typed("decimal", "1.666666666666666666")),
                *(integer(1), integer(2), integer(1), Literal("1 2 2")),
            ],
        ),
        (
            (integer(1), typed("double", "2.5")),
            [
                *(integer(2), typed("double", "3.5"), typed("double", "1.75")),
                *(integer(1), typed("double", "2.5"), integer(1), Literal("1 2.5")),
            ],
        ),
        (
            (integer(1), Literal("b", language="en"), IRI),
            [integer(3), None, None, IRI, Literal("b", language="en"), IRI, Literal("urn:x 1 b")],
        ),
        (
            (BlankNode("b"), integer(1)),
            [integer(2), None, None, BlankNode("b"), integer(1), BlankNode("b"), None],
        ),
    ],
)
def test_aggregates(terms: tuple[Term | None, ...], expected: list[Term | None]) -> None:
    for order in permutations(terms):
        assert [result(name, *order) for name in NAMES] == expected


def test_distinct_goes_by_terms() -> None:
    terms = (integer(1), integer(1), typed("decimal", "1.0"), None, None)
    assert result("COUNT", *terms, distinct=True) == integer(2)
    assert result("SUM", *terms[:3], distinct=True) == typed("decimal", "2")
    assert result("SUM", *terms[:3]) == typed("decimal", "3")
    assert result("GROUP_CONCAT", *terms[:3], distinct=True, separator="|") == Literal("1|1.0")


def test_a_separator_may_be_empty() -> None:
    assert result("GROUP_CONCAT", Literal("b"), Literal("a"), separator="") == Literal("ab")
    assert result("GROUP_CONCAT", Literal("b"), Literal("a")) == Literal("a b")


def test_the_sum_of_floats_does_not_depend_on_their_order() -> None:
    floats = [typed("double", text) for text in ("1e16", "1", "1", "-1e16", "0.1")]
    assert len({result("SUM", *order) for order in permutations(floats)}) == 1


@pytest.mark.parametrize("name", NAMES)
def test_each_term_spends(name: str) -> None:
    with pytest.raises(LimitError):
        aggregate(name, [integer(1)] * 100, Budget(50, 10**6))
    with pytest.raises(LimitError):
        aggregate(name, [Literal("a" * 100_000)] * 10, Budget(50, 10**9))


def test_what_is_concatenated_is_held_before_it_is_made() -> None:
    with pytest.raises(LimitError):
        aggregate("GROUP_CONCAT", [Literal("a")] * 1_000, Budget(10**6, 10**6), separator="-" * 10_000)
