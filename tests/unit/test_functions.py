"""The functions of SPARQL that make terms: what each gives, and what it may cost."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BaseDirection

from ontosub.model.errors import LimitError, Span
from ontosub.model.expression import CASTS, DEPTH_MAX, FRESH, Call, Exists, Expression, Function
from ontosub.model.terms import RDF, XSD, BlankNode, Literal, NamedNode, Term, Triple, Variable
from ontosub.semantics.budget import BYTES_MAX, Budget
from ontosub.semantics.context import Assignment, Context
from ontosub.semantics.expressions import evaluate, holds
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.fresh_values import random_number, uuid_string
from ontosub.semantics.values import value_of
from ontosub.semantics.wording import expression_text

X, Y = Variable("x"), Variable("y")
IRI = NamedNode("http://example.org/a")
TRUE, FALSE = (Literal(text, datatype=XSD["boolean"]) for text in ("true", "false"))


def typed(datatype: str, text: str) -> Literal:
    return Literal(text, datatype=XSD[datatype])


def integer(value: int) -> Literal:
    return typed("integer", str(value))


def text(value: str, language: str | None = None, direction: str | None = None) -> Literal:
    return Literal(value, language=language, direction=None if direction is None else BaseDirection(direction))


def result(function: Function, *arguments: Expression, context: Context | None = None) -> Term | None:
    """Return what the call denotes, or None when it is an error."""
    try:
        return evaluate(Call(function, arguments), {}, context)
    except ExpressionError:
        return None


ERROR = Call(Function.DIVIDE, (integer(1), integer(0)))
TRIPLE = Triple(IRI, NamedNode("urn:p"), integer(1))


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (Function.IF, (TRUE, integer(1), ERROR), integer(1)),
        (Function.IF, (text(""), ERROR, integer(2)), integer(2)),
        (Function.IF, (ERROR, integer(1), integer(2)), None),
        (Function.IF, (IRI, integer(1), integer(2)), None),
        (Function.COALESCE, (ERROR, X, integer(3), ERROR), integer(3)),
        (Function.COALESCE, (ERROR, X), None),
        (Function.COALESCE, (), None),
        (Function.CEIL, (typed("decimal", "-0.4"),), typed("decimal", "0")),
        (Function.CEIL, (typed("double", "-0.4"),), typed("double", "-0")),
        (Function.FLOOR, (typed("float", "-1.5"),), typed("float", "-2")),
        (Function.FLOOR, (typed("byte", "7"),), integer(7)),
        (Function.ROUND, (typed("decimal", "2.5"),), typed("decimal", "3")),
        (Function.ROUND, (typed("decimal", "-2.5"),), typed("decimal", "-2")),
        (Function.ROUND, (typed("double", "0.49999999999999994"),), typed("double", "0")),
        (Function.ROUND, (typed("double", "INF"),), typed("double", "INF")),
        (Function.ROUND, (text("1"),), None),
        (Function.CONCAT, (), text("")),
        (Function.CONCAT, (text("a", "en"), text("b", "en")), text("ab", "en")),
        (Function.CONCAT, (text("a", "en"), text("b")), text("ab")),
        (Function.CONCAT, (text("a", "en", "ltr"), text("b", "en", "ltr")), text("ab", "en", "ltr")),
        (Function.CONCAT, (text("a", "en", "ltr"), text("b", "en")), text("ab")),
        (Function.CONCAT, (text("a"), integer(1)), None),
        (Function.SUBSTR, (text("é😀bc"), integer(2)), text("😀bc")),
        (Function.SUBSTR, (text("abc", "en"), integer(0), integer(2)), text("a", "en")),
        (Function.SUBSTR, (text("abc"), integer(-5), integer(3)), text("")),
        (Function.SUBSTR, (text("abc"), integer(10**30)), text("")),
        (Function.SUBSTR, (text("abc"), typed("decimal", "1.0")), None),
        (Function.BEFORE, (text("abc", "en"), text("b")), text("a", "en")),
        (Function.BEFORE, (text("abc", "en"), text("")), text("", "en")),
        (Function.BEFORE, (text("abc", "en"), text("z")), text("")),
        (Function.AFTER, (text("abc", "en"), text("")), text("abc", "en")),
        (Function.AFTER, (text("abcbd"), text("b")), text("cbd")),
        (Function.AFTER, (text("abc"), text("b", "en")), None),
        (Function.AFTER, (text("abc", "en", "rtl"), text("b", "en")), None),
        (Function.ENCODE_FOR_URI, (text("a b/é~-_.", "en"),), text("a%20b%2F%C3%A9~-_.")),
        (Function.REPLACE, (text("abcd", "en"), text("(.)(.)"), text("$2$1")), text("badc", "en")),
        (Function.REPLACE, (text("abc"), text("B"), text("x"), text("i")), text("axc")),
        (Function.REPLACE, (text("a.c"), text("."), text("$"), text("q")), text("a$c")),
        (Function.REPLACE, (text("abc"), text("b"), text(r"\\\$")), text(r"a\$c")),
        (Function.REPLACE, (text("abc"), text("(b)"), text("$12")), text("ab2c")),
        (Function.REPLACE, (text("abc"), text("b"), text("$")), None),
        (Function.REPLACE, (text("abc"), text("b"), text(r"\n")), None),
        (Function.REPLACE, (text("abc"), text("x?"), text("-")), None),
        (Function.REPLACE, (text("abc"), text("("), text("-")), None),
        (Function.REPLACE, (integer(1), text("1"), text("2")), None),
        (Function.MD5, (text("é"),), text("66ddcd97cfdeabb2f6fb8a999b4bc76f")),
        (Function.SHA1, (text("abc"),), text("a9993e364706816aba3e25717850c26c9cd0d89d")),
        (Function.MD5, (text("a", "en"),), None),
        (Function.STRLANG, (text("a"), text("en-GB")), text("a", "en-gb")),
        (Function.STRLANG, (text("a"), text("e n")), None),
        (Function.STRLANG, (text("a", "en"), text("fr")), None),
        (Function.STRLANGDIR, (text("a"), text("ar"), text("rtl")), text("a", "ar", "rtl")),
        (Function.STRLANGDIR, (text("a"), text("ar"), text("up")), None),
        (Function.STRDT, (text("x"), XSD["integer"]), typed("integer", "x")),
        (Function.STRDT, (text("x"), RDF["langString"]), None),
        (Function.STRDT, (text("x"), RDF["dirLangString"]), None),
        (Function.LANGDIR, (text("a", "ar", "rtl"),), text("rtl")),
        (Function.LANGDIR, (integer(1),), text("")),
        (Function.HAS_LANG, (text("a", "ar", "rtl"),), TRUE),
        (Function.HAS_LANG, (IRI,), FALSE),
        (Function.HAS_LANGDIR, (text("a", "ar"),), FALSE),
        (Function.DATATYPE, (text("a", "ar", "rtl"),), RDF["dirLangString"]),
        (Function.TIMEZONE, (typed("dateTime", "2000-01-01T00:00:00-05:30"),), typed("dayTimeDuration", "-PT5H30M")),
        (Function.TIMEZONE, (typed("date", "2000-01-01Z"),), typed("dayTimeDuration", "PT0S")),
        (Function.TIMEZONE, (typed("dateTime", "2000-01-01T00:00:00"),), None),
        (Function.TZ, (typed("dateTime", "2000-01-01T00:00:00+00:00"),), text("Z")),
        (Function.TZ, (typed("dateTime", "2000-01-01T00:00:00-05:30"),), text("-05:30")),
        (Function.TZ, (typed("dateTime", "2000-01-01T00:00:00"),), text("")),
        (Function.TZ, (text("Z"),), None),
        (Function.TRIPLE, (IRI, NamedNode("urn:p"), integer(1)), TRIPLE),
        (Function.TRIPLE, (integer(1), NamedNode("urn:p"), integer(1)), None),
        (Function.TRIPLE, (TRIPLE, NamedNode("urn:p"), integer(1)), None),
        (Function.TRIPLE, (IRI, text("p"), integer(1)), None),
        (Function.SUBJECT, (TRIPLE,), IRI),
        (Function.PREDICATE, (TRIPLE,), NamedNode("urn:p")),
        (Function.OBJECT, (TRIPLE,), integer(1)),
        (Function.OBJECT, (IRI,), None),
        (Function.IS_TRIPLE, (TRIPLE,), TRUE),
        (Function.IS_TRIPLE, (IRI,), FALSE),
        (Function.STR, (TRIPLE,), None),
        (Function.IRI, (IRI,), IRI),
        (Function.IRI, (text("urn:x"),), NamedNode("urn:x")),
        (Function.IRI, (text("../c"), text("http://example.org/a/b")), NamedNode("http://example.org/c")),
        (Function.IRI, (text("c"),), None),
        (Function.IRI, (text("urn:a b"),), None),
        (Function.IRI, (text("urn:x", "en"),), None),
        (Function.IRI, (BlankNode("b"),), None),
    ],
)
def test_functions(function: Function, arguments: tuple[Expression, ...], expected: Term | None) -> None:
    assert result(function, *arguments) == expected


def test_iri_without_a_base_of_its_own_takes_the_context_s() -> None:
    context = Context(base="http://example.org/a/b")
    assert result(Function.IRI, text("c"), context=context) == NamedNode("http://example.org/a/c")


# Casts.


@pytest.mark.parametrize(
    ("datatype", "term", "expected"),
    [
        ("integer", text(" 01 "), "1"),
        ("integer", typed("decimal", "-1.9"), "-1"),
        ("integer", typed("double", "1152921504606846976"), "1152921504606846976"),
        ("integer", typed("double", "NaN"), None),
        ("integer", typed("double", "INF"), None),
        ("integer", text("1.5"), None),
        ("integer", TRUE, "1"),
        ("integer", typed("integer", "x"), None),
        ("integer", text("1", "en"), None),
        ("integer", IRI, None),
        ("integer", typed("date", "2000-01-01"), None),
        ("byte", integer(127), "127"),
        ("byte", integer(128), None),
        ("byte", typed("double", "-128.9"), "-128"),
        ("positiveInteger", text("0"), None),
        ("unsignedLong", integer(2**64 - 1), str(2**64 - 1)),
        ("unsignedLong", integer(2**64), None),
        ("negativeInteger", FALSE, None),
        ("decimal", typed("double", "0.1"), "0.1"),
        ("decimal", typed("float", "0.1"), "0.1"),
        ("decimal", typed("double", "1e21"), "1000000000000000000000"),
        ("decimal", text("1.50"), "1.5"),
        ("decimal", text("1e1"), None),
        ("double", typed("float", "0.1"), "0.10000000149011612"),
        ("float", typed("double", "0.1"), "0.1"),
        ("float", text("1e50"), "INF"),
        ("double", text("-INF"), "-INF"),
        ("double", integer(10**400), "INF"),
        ("double", integer(10**300), "1" + "0" * 300),
        ("boolean", text(" 1 "), "true"),
        ("boolean", text("TRUE"), None),
        ("boolean", typed("double", "NaN"), "false"),
        ("boolean", typed("decimal", "0.00"), "false"),
        ("dateTime", typed("date", "2000-01-01+01:00"), "2000-01-01T00:00:00+01:00"),
        ("dateTime", text("2000-01-01T24:00:00"), "2000-01-02T00:00:00"),
        ("dateTime", text("2000-01-01"), None),
        ("dateTime", typed("time", "10:00:00"), None),
        ("date", typed("dateTime", "-0044-03-15T10:00:00"), "-0044-03-15"),
        ("time", typed("dateTimeStamp", "2000-01-01T10:00:00.50Z"), "10:00:00.5Z"),
        ("time", typed("date", "2000-01-01"), None),
        ("gYear", typed("date", "2000-02-03Z"), "2000Z"),
        ("gYearMonth", typed("date", "2000-02-03"), "2000-02"),
        ("gMonth", typed("date", "2000-02-03"), "--02"),
        ("gMonthDay", typed("date", "2000-02-03-05:00"), "--02-03-05:00"),
        ("gDay", typed("date", "2000-02-03"), "---03"),
        ("gDay", text("---03"), "---03"),
        ("gYear", typed("gYearMonth", "2000-01"), None),
        ("duration", typed("yearMonthDuration", "P14M"), "P1Y2M"),
        ("yearMonthDuration", typed("duration", "P1Y2DT3H"), "P1Y"),
        ("dayTimeDuration", typed("duration", "-P1Y2DT3H"), "-P2DT3H"),
        ("dayTimeDuration", typed("yearMonthDuration", "P1M"), "PT0S"),
        ("dayTimeDuration", text("P1M"), None),
        ("string", IRI, IRI.value),
        ("string", text("a", "en"), "a"),
        ("string", typed("integer", "01"), "1"),
        ("string", typed("integer", "x"), "x"),
        ("string", Literal("x", datatype=NamedNode("urn:t")), "x"),
        ("string", typed("boolean", "1"), "true"),
        ("string", typed("decimal", "1.50"), "1.5"),
        ("string", typed("double", "1e0"), "1"),
        ("string", typed("double", "999999.5"), "999999.5"),
        ("string", typed("double", "1e6"), "1.0E6"),
        ("string", typed("double", "-12345678"), "-1.2345678E7"),
        ("string", typed("float", "1.5e-7"), "1.5E-7"),
        ("string", typed("double", "-0"), "-0"),
        ("string", typed("double", "NaN"), "NaN"),
        ("string", BlankNode("b"), None),
        ("string", TRIPLE, None),
    ],
)
def test_casts(datatype: str, term: Term, expected: str | None) -> None:
    function = Function(XSD[datatype].value)
    outcome = evaluate_or_none(Call(function, (X,)), {X: term})
    assert outcome == (None if expected is None else typed(datatype, expected))


def evaluate_or_none(expression: Expression, binding: Mapping[Variable, Term]) -> Term | None:
    try:
        return evaluate(expression, binding)
    except ExpressionError:
        return None


@given(
    st.integers() | st.decimals(allow_nan=False, allow_infinity=False, places=3) | st.floats(),
    st.sampled_from(sorted(CASTS)),
)
def test_what_is_cast_is_cast_to_itself(value: object, function: Function) -> None:
    kind = {int: "integer", float: "double"}.get(type(value), "decimal")
    spelled = {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(str(value), str(value))
    cast = evaluate_or_none(Call(function, (X,)), {X: typed(kind, spelled)})
    if cast is not None:
        assert isinstance(cast, Literal)
        assert value_of(cast) is not None
        assert evaluate(Call(function, (X,)), {X: cast}) == cast


# Values that are new in each solution.

UUIDS = Call(Function.CONCAT, (Call(Function.STRUUID, ()), Call(Function.STRUUID, ())))
EVENT = Context(event_id="e1")


def fresh(function: Function, binding: Assignment, *, event_id: str = "e1", span: Span | None = None) -> Term:
    return evaluate(Call(function, (), span), binding, Context(event_id=event_id))


@pytest.mark.parametrize("function", sorted(FRESH))
def test_new_values_are_told_by_event_solution_and_position(function: Function) -> None:
    one, other = Span(1, 1, 1, 7), Span(1, 9, 1, 15)
    binding = {X: IRI, Y: integer(1)}
    value = fresh(function, binding, span=one)
    assert fresh(function, dict(reversed(binding.items())), span=one) == value
    others = [
        fresh(function, binding, span=other),
        fresh(function, binding),
        fresh(function, {X: IRI}, span=one),
        fresh(function, {X: integer(1), Y: IRI}, span=one),
        fresh(function, binding, event_id="e2", span=one),
    ]
    assert len({value, *others}) == 6


def test_two_calls_without_positions_differ() -> None:
    value = evaluate(UUIDS, {}, EVENT)
    assert isinstance(value, Literal)
    assert value.value[:36] != value.value[36:]
    assert evaluate(UUIDS, {}, EVENT) == value


def test_a_solution_may_be_told_apart_from_what_extends_it() -> None:
    call = Call(Function.BNODE, (text("x"),))
    first = evaluate(call, {X: IRI}, EVENT)
    assert evaluate(call, {X: IRI, Y: first}, EVENT, solution={X: IRI}) == first
    assert evaluate(call, {X: IRI, Y: first}, EVENT) != first


def test_equal_strings_give_one_blank_node_in_a_solution() -> None:
    def blank(label: str, binding: Assignment, column: int) -> Term:
        return evaluate(Call(Function.BNODE, (text(label),), Span(1, column, 1, column + 8)), binding, EVENT)

    assert blank("H", {X: IRI}, 1) == blank("H", {X: IRI}, 20)
    assert blank("H", {X: IRI}, 1) != blank("G", {X: IRI}, 1)
    assert blank("H", {X: IRI}, 1) != blank("H", {X: TRUE}, 1)
    assert blank("H", {X: IRI}, 1) != BlankNode("H")
    assert blank("1:1", {}, 1) != evaluate(Call(Function.BNODE, (), Span(1, 1, 1, 8)), {}, EVENT)
    assert result(Function.BNODE, text("a", "en")) is None


def test_new_values_look_as_they_should() -> None:
    (uuid,) = [fresh(Function.UUID, {})]
    assert holds(Call(Function.REGEX, (Call(Function.STR, (X,)), text("^urn:uuid:[0-9a-f-]{36}$"))), {X: uuid})
    number = fresh(Function.RAND, {})
    assert isinstance(number, Literal)
    assert 0 <= float(number.value) < 1


@given(st.binary(min_size=16, max_size=16))
def test_random_numbers_are_below_one(seed: bytes) -> None:
    assert 0 <= float(random_number(seed).value) < 1
    assert uuid_string(seed).value[14] == "8"


def test_now_is_the_time_of_the_event() -> None:
    moment = datetime(2000, 1, 1, 1, 30, 0, 500_000, tzinfo=timezone(timedelta(hours=1, seconds=1)))
    now = typed("dateTime", "2000-01-01T00:29:59.5Z")
    assert evaluate(Call(Function.NOW, ()), {}, Context(moment=moment)) == now
    assert evaluate(Call(Function.NOW, ()), {}, Context(moment=datetime(33, 1, 1, tzinfo=UTC))) == typed(
        "dateTime", "0033-01-01T00:00:00Z"
    )
    assert result(Function.NOW) is None


# EXISTS.


def test_exists_asks_who_understands_patterns() -> None:
    asked: list[tuple[Exists, Assignment]] = []

    def answer(exists: Exists, binding: Assignment) -> bool:
        asked.append((exists, binding))
        return exists.pattern == "yes"

    context = Context(exists=answer)
    binding = {X: IRI}
    assert holds(Exists("yes"), binding, context)
    assert holds(Call(Function.NOT, (Exists("no"),)), binding, context)
    assert asked == [(Exists("yes"), binding), (Exists("no"), binding)]
    assert not holds(Call(Function.NOT, (Exists("no"),)), binding)
    assert expression_text(Call(Function.NOT, (Exists("no"),))) == "NOT EXISTS { … }"


# The budget.


def spent(expression: Expression, binding: Assignment) -> Budget:
    budget = Budget(10**12, 10**12)
    with suppress(ExpressionError):
        evaluate(expression, binding, Context(budget))
    return Budget(10**12 - budget.steps, 10**12 - budget.bytes)


ARGUMENTS: Mapping[Function, tuple[Expression, ...]] = {
    Function.IF: (TRUE, X, X),
    Function.REGEX: (X, text("a+b")),
    Function.REPLACE: (X, text("a+"), text("b")),
    Function.SUBSTR: (X, integer(2)),
    Function.STRLANG: (X, text("en")),
    Function.STRLANGDIR: (X, text("en"), text("ltr")),
    Function.STRDT: (X, XSD["integer"]),
    Function.TRIPLE: (IRI, IRI, X),
    Function.BEFORE: (X, text("b")),
    Function.AFTER: (X, text("b")),
    **dict.fromkeys((Function.NOW, Function.RAND, Function.UUID, Function.STRUUID), ()),
}
OF_TWO = frozenset(
    "= != < <= > >= + - * / IN,NOT IN,SAMETERM,LANGMATCHES,CONTAINS,STRSTARTS,STRENDS".replace(" ", ",").split(",")
)


def call_of(function: Function) -> Call:
    """Return a call of the function, on a variable where it takes one."""
    if function is Function.NOT_IN or function.value in OF_TWO:
        return Call(function, (X, X))
    return Call(function, ARGUMENTS.get(function, (X,)))


@pytest.mark.parametrize("function", sorted(Function))
def test_every_call_spends_a_step(function: Function) -> None:
    assert spent(call_of(function), {X: text("a")}).steps >= 1


MAKING = [
    *(Function.STR, Function.CONCAT, Function.UPPER, Function.LOWER, Function.ENCODE_FOR_URI, Function.SUBSTR),
    *(Function.REPLACE, Function.STRLANG, Function.STRLANGDIR, Function.STRDT, Function.TRIPLE, Function.AFTER),
    *(Function.BEFORE, Function.TO_STRING),
]


@pytest.mark.parametrize("function", MAKING)
def test_a_text_is_held_before_it_is_made(function: Function) -> None:
    long = text("é" + "a" * 100_000 + "b")
    cost = spent(call_of(function), {X: long})
    assert cost.steps >= 100
    outcome = evaluate(call_of(function), {X: long}, Context(Budget(10**9, 10**9)))
    size = len(str(outcome.object if isinstance(outcome, Triple) else outcome))
    assert cost.bytes >= size - 100
    with pytest.raises(LimitError):
        evaluate(call_of(function), {X: long}, Context(Budget(10**9, min(cost.bytes, 100_000) - 1)))


READING = [
    Function.EQUAL,
    Function.CONTAINS,
    Function.REGEX,
    Function.MD5,
    Function.LENGTH,
    Function.IN,
    Function.BNODE,
]


@pytest.mark.parametrize("function", READING)
def test_reading_a_text_spends_steps(function: Function) -> None:
    assert spent(call_of(function), {X: text("a" * 100_000)}).steps >= 100


@pytest.mark.parametrize(
    "around",
    [
        lambda call: Call(Function.COALESCE, (call, TRUE)),
        lambda call: Call(Function.OR, (call, TRUE)),
        lambda call: Call(Function.AND, (call, FALSE)),
        lambda call: Call(Function.IN, (TRUE, call, TRUE)),
        lambda call: Call(Function.IF, (call, TRUE, TRUE)),
    ],
)
def test_no_function_bears_an_exhausted_budget(around: object) -> None:
    costly = Call(Function.UPPER, (X,))
    with pytest.raises(LimitError):
        holds(around(costly), {X: text("a" * 1000)}, Context(Budget(100, 100)))  # type: ignore[operator]


def test_doubling_a_text_ends_with_the_budget() -> None:
    context = Context()
    sizes = [2]

    def doubled(term: Term) -> Term:
        sizes.append(2 * sizes[-1])
        return evaluate(Call(Function.CONCAT, (X, X)), {X: term}, context)

    with pytest.raises(LimitError):
        reduce(lambda term, _: doubled(term), range(10_000), text("ab"))
    assert sizes[-1] <= BYTES_MAX


def test_a_replacement_is_bounded_while_it_is_made() -> None:
    text_of_a = text("a" * 20_000)
    with pytest.raises(LimitError):
        evaluate(Call(Function.REPLACE, (text_of_a, text("a"), text("b" * 10_000))), {})


def test_a_search_that_may_read_on_for_each_match_spends_that() -> None:
    cheap = spent(Call(Function.REPLACE, (X, text("ab?"), text("c"))), {X: text("a" * 5_000)}).steps
    costly = spent(Call(Function.REPLACE, (X, text("a(.*b)?"), text("c"))), {X: text("a" * 5_000)}).steps
    assert cheap < 100_000
    assert costly > 10 * cheap


def test_a_large_pattern_spends_more() -> None:
    small = spent(Call(Function.REGEX, (X, text("a"))), {X: text("b" * 10_000)}).steps
    large = spent(Call(Function.REGEX, (X, text("[a-z]{500}x"))), {X: text("b" * 10_000)}).steps
    assert large > 100 * small


def test_a_pattern_is_paid_for_once() -> None:
    budget = Budget(10**9, 10**9)
    context = Context(budget)
    call = Call(Function.REGEX, (X, text("a+b")))
    costs = []
    for _ in range(3):
        before = budget.steps
        evaluate(call, {X: text("b")}, context)
        costs.append(before - budget.steps)
    assert costs[0] > 100 > costs[1] == costs[2]


def test_a_long_list_costs_its_length_once() -> None:
    names = tuple(NamedNode(f"urn:x{number}") for number in range(9_000))
    call = Call(Function.IN, (X, *names, *(text(str(number)) for number in range(1_000))))
    budget = Budget()
    context = Context(budget)
    for number in range(1_000):
        assert holds(call, {X: NamedNode(f"urn:x{number}")}, context)
        assert not holds(call, {X: integer(number)}, context)
    assert budget.steps > 980_000


def test_a_list_of_strings_confuses_what_has_no_value() -> None:
    strings = Call(Function.NOT_IN, (X, text("a"), text("a", "en")))
    tagged = Call(Function.NOT_IN, (X, text("a", "en"), IRI))
    unknown = Literal("a", datatype=NamedNode("urn:t"))
    assert not holds(strings, {X: unknown})
    assert not holds(Call(Function.NOT, (strings,)), {X: unknown})
    assert holds(tagged, {X: unknown})
    assert holds(strings, {X: text("b")})


def test_deeper_expressions_cannot_be_made() -> None:
    expression: Expression = X
    for _ in range(DEPTH_MAX):
        expression = Call(Function.CONCAT, (expression, X))
    assert isinstance(evaluate(expression, {X: text("a")}), Literal)
    with pytest.raises(LimitError, match="inside each other"):
        Call(Function.CONCAT, (expression, X))


@pytest.mark.parametrize("function", [Function.COALESCE, Function.IF, Function.OR, Function.IN, Function.STR])
def test_the_deepest_expressions_fit_the_stack(function: Function) -> None:
    expression: Expression = X
    for _ in range(DEPTH_MAX):
        arguments = {Function.IF: (TRUE, expression, X), Function.STR: (expression,)}.get(function, (expression, X))
        expression = Call(function, arguments)
    evaluate_or_none(expression, {X: TRUE})
    assert expression_text(expression)
    assert hash(expression) == hash(expression)


terms = st.one_of(
    st.sampled_from(
        [IRI, BlankNode("b"), TRIPLE, text("a", "ar", "rtl"), text("a", "en"), text(""), text("1 a"), TRUE]
    ),
    st.builds(
        typed,
        st.sampled_from(
            ["integer", "decimal", "double", "float", "byte", "dateTime", "date", "duration", "token", "gDay"]
        ),
        st.sampled_from(["1", "-0", "NaN", "INF", "1e400", " 7 ", "2000-01-01", "2000-01-01T00:00:00Z", "P1M", "x"]),
    ),
)


@given(st.sampled_from(sorted(Function)), st.lists(terms, max_size=4))
def test_any_function_of_any_terms_has_a_value_or_none(function: Function, arguments: list[Term]) -> None:
    binding = {Variable(f"v{number}"): term for number, term in enumerate(arguments)}
    call = Call(function, tuple(binding))
    try:
        first = evaluate_or_none(call, binding)
    except (TypeError, ValueError):
        return  # so many arguments it does not take
    assert evaluate_or_none(call, binding) == first
