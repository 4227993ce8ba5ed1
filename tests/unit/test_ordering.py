"""The order of terms: total, the same for everybody, and an extension of `<`."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BaseDirection

from ontosub.model.terms import XSD, BlankNode, Literal, NamedNode, Term, Triple
from ontosub.semantics import comparison
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.ordering import sort_key


def typed(datatype: str, text: str) -> Literal:
    return Literal(text, datatype=XSD[datatype])


IN_ORDER: list[Term | None] = [
    None,
    BlankNode("a"),
    BlankNode("b"),
    NamedNode("urn:B"),
    NamedNode("urn:a"),
    typed("boolean", "0"),
    typed("boolean", "false"),
    typed("boolean", "1"),
    typed("boolean", "true"),
    typed("double", "NaN"),
    typed("float", "NaN"),
    typed("double", "-INF"),
    typed("integer", "-" + "9" * 30),
    typed("double", "-0"),
    typed("double", "0"),
    typed("integer", "0"),
    typed("double", "0.1"),  # exactly, it is a little more than 0.1, and the float a little more than that
    typed("float", "0.1"),
    typed("integer", "1"),
    typed("decimal", "1.0"),
    typed("decimal", "1.00"),
    typed("decimal", "1.0000000000000000000000000001"),
    typed("double", "1e300"),
    typed("float", "INF"),
    typed("dateTime", "-0001-01-01T00:00:00Z"),
    typed("dateTime", "2000-01-01T00:00:00"),
    typed("dateTime", "2000-01-01T00:00:00Z"),
    typed("dateTime", "2000-01-01T01:00:00+01:00"),
    typed("dateTime", "2000-01-01T00:00:00.00000000000000000001Z"),
    typed("dateTime", "12000-01-01T00:00:00Z"),
    typed("date", "1999-01-01"),
    typed("time", "10:00:00"),
    typed("gYear", "1999"),
    typed("duration", "-P1M"),
    typed("yearMonthDuration", "P0M"),
    typed("dayTimeDuration", "PT0S"),
    typed("duration", "P1M"),  # in the mean, a month has thirty days
    typed("duration", "P30D"),
    typed("duration", "P31D"),
    typed("yearMonthDuration", "P12M"),
    typed("yearMonthDuration", "P1Y"),
    Literal(""),
    Literal("B"),
    Literal("a"),
    Literal("😀"),
    Literal("a", language="de"),
    Literal("a", language="en"),
    Literal("a", language="en", direction=BaseDirection("ltr")),
    Literal("a", language="en", direction=BaseDirection("rtl")),
    Literal("b", language="de"),
    typed("byte", "300"),
    typed("integer", "x"),
    typed("token", "a"),
    typed("token", "b"),
    Literal("a", datatype=NamedNode("urn:t")),
    Triple(NamedNode("urn:a"), NamedNode("urn:p"), typed("integer", "10")),
    Triple(NamedNode("urn:b"), NamedNode("urn:p"), typed("integer", "9")),
    Triple(NamedNode("urn:b"), NamedNode("urn:p"), typed("integer", "10")),
]


def test_terms_are_in_this_order() -> None:
    backwards = IN_ORDER[::-1]
    assert sorted(backwards, key=sort_key) == IN_ORDER
    keys = [sort_key(term) for term in IN_ORDER]
    assert all(first < second for first, second in pairwise(keys))


def spelled(datatype: str, value: float) -> Literal:
    return typed(datatype, {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(value), repr(value)))


numbers = st.one_of(
    st.integers().map(lambda n: typed("integer", str(n))),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda n: typed("decimal", f"{n:f}")),
    st.floats().map(lambda n: spelled("double", n)),
    st.floats(width=32).map(
        lambda n: typed("float", {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(n), repr(n)))
    ),
    st.sampled_from(["16777217", "16777216", "0.1", "-0"]).flatmap(
        lambda text: st.sampled_from(["double", "float", "decimal"]).map(lambda datatype: typed(datatype, text))
    ),
)
zones = st.sampled_from(["", "Z", "+14:00", "-14:00", "+01:00"])
moments = st.builds(
    lambda day, hour, zone: typed("dateTime", f"2000-01-{day:02}T{hour:02}:00:00{zone}"),
    st.integers(1, 3),
    st.integers(0, 23),
    zones,
)
durations = st.builds(
    lambda sign, months, days: typed("duration", f"{sign}P{months}M{days}D"),
    st.sampled_from(["", "-"]),
    st.integers(0, 30),
    st.integers(0, 700),
)
languages = st.sampled_from([None, "en"])
strings = st.builds(lambda text, tag: Literal(text, language=tag), st.text("abA", max_size=2), languages)
terms = st.one_of(numbers, moments, durations, strings, st.sampled_from(IN_ORDER[1:]))


@settings(max_examples=500)
@given(st.sampled_from([numbers, moments, durations, terms]).flatmap(lambda kind: st.tuples(kind, kind)))
def test_what_is_smaller_comes_first(pair: tuple[Term, Term]) -> None:
    first, second = map(sort_key, pair)
    assert (first < second) + (first == second) + (first > second) == 1
    assert (first == second) is (pair[0] == pair[1])
    try:
        order = comparison.order(*pair)
    except ExpressionError:
        return
    if order == -1:
        assert first < second
    if order == 1:
        assert first > second


@given(st.lists(terms, max_size=8))
def test_any_order_of_arrival_is_sorted_alike(group: list[Term]) -> None:
    backwards = group[::-1]
    assert sorted(group, key=sort_key) == sorted(backwards, key=sort_key)


@pytest.mark.parametrize("text", ["9" * 2_000, "1" * 10_000])
def test_a_number_that_is_too_long_has_no_value_but_a_place(text: str) -> None:
    assert sort_key(typed("integer", text)) > sort_key(Literal("z"))
