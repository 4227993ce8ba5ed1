"""What filter expressions mean, and how they are put in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BaseDirection

from ontosub.model.expression import Call, Expression, Function
from ontosub.model.terms import RDF, XSD, BlankNode, Literal, NamedNode, Term, Triple, Variable
from ontosub.semantics import regex
from ontosub.semantics.expressions import evaluate, holds
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.numeric import DIGITS
from ontosub.semantics.wording import explain_failure, expression_text, term_text

X, Y = Variable("x"), Variable("y")
IRI, OTHER_IRI = NamedNode("http://example.org/ns#Thing"), NamedNode("http://example.org/ns#Other")


def typed(datatype: str, text: str) -> Literal:
    return Literal(text, datatype=XSD[datatype])


def integer(value: int) -> Literal:
    return typed("integer", str(value))


def call(function: Function, *arguments: Expression) -> Call:
    return Call(function, arguments)


def result(function: Function, *arguments: Term | Variable) -> Term | None:
    """Return what the call denotes, or None when it is an error."""
    binding = {Variable(f"v{index}"): term for index, term in enumerate(arguments)}
    try:
        return evaluate(Call(function, tuple(binding)), binding)  # type: ignore[arg-type]
    except ExpressionError:
        return None


TRUE, FALSE = typed("boolean", "true"), typed("boolean", "false")
ERROR = call(Function.DIVIDE, integer(1), integer(0))
UNKNOWN, UNKNOWN_TOO = Literal("a", datatype=NamedNode("urn:t")), Literal("b", datatype=NamedNode("urn:t"))
DIRECTED = Literal("a", language="ar", direction=BaseDirection("rtl"))
EN, FR = Literal("abc", language="en"), Literal("abc", language="fr")


def test_every_function_has_a_meaning() -> None:
    for function in Function:
        answers = []
        for arity in range(5):
            try:
                evaluate(Call(function, (X,) * arity), {X: Literal("a")})
                answers.append("value")
            except ExpressionError:
                answers.append("error")
            except (TypeError, ValueError):
                answers.append("no such arity")
        assert set(answers) != {"no such arity"}, function


# Logic.


@pytest.mark.parametrize(
    ("function", "left", "right", "expected"),
    [
        (Function.OR, TRUE, ERROR, True),
        (Function.OR, ERROR, TRUE, True),
        (Function.OR, ERROR, FALSE, None),
        (Function.OR, FALSE, FALSE, False),
        (Function.AND, FALSE, ERROR, False),
        (Function.AND, ERROR, FALSE, False),
        (Function.AND, ERROR, TRUE, None),
        (Function.AND, TRUE, TRUE, True),
    ],
)
def test_logic_bears_errors(function: Function, left: Expression, right: Expression, expected: bool | None) -> None:
    expression = call(function, left, right)
    assert holds(expression, {}) is (expected is True)
    assert holds(call(Function.NOT, expression), {}) is (expected is False)


@pytest.mark.parametrize(
    ("term", "truth"),
    [
        (TRUE, True),
        (typed("boolean", "1"), True),
        (typed("boolean", "x"), False),
        (typed("integer", "x"), False),
        (integer(0), False),
        (integer(2), True),
        (typed("double", "NaN"), False),
        (typed("decimal", "0.0"), False),
        (Literal(""), False),
        (Literal("false"), True),
        (Literal("", language="en"), False),
        (EN, True),
        (DIRECTED, True),
        (typed("double", "-0"), False),
        (typed("float", "INF"), True),
        (typed("integer", " 0 "), False),
        (Literal(" "), True),
        (typed("date", "2000-01-01"), None),
        (UNKNOWN, None),
        (IRI, None),
        (BlankNode("b"), None),
    ],
    ids=str,
)
def test_effective_boolean_value(term: Term, truth: bool | None) -> None:
    assert holds(X, {X: term}) is (truth is True)
    assert holds(call(Function.NOT, X), {X: term}) is (truth is False)


def test_membership_bears_errors() -> None:
    one, two, three = integer(1), integer(2), integer(3)
    assert holds(call(Function.IN, X, ERROR, two, typed("decimal", "1.0")), {X: one})
    assert not holds(call(Function.IN, X, ERROR, two), {X: one})
    assert not holds(call(Function.NOT_IN, X, ERROR, two), {X: one})
    assert holds(call(Function.NOT_IN, X, two, three), {X: one})
    assert holds(call(Function.NOT_IN, X), {X: one})
    assert not holds(call(Function.NOT_IN, ERROR), {})


def test_unbound_variables() -> None:
    assert not holds(call(Function.EQUAL, X, X), {})
    assert not holds(call(Function.BOUND, X), {})
    assert holds(call(Function.NOT, call(Function.BOUND, X)), {Y: TRUE})
    assert holds(call(Function.BOUND, X), {X: FALSE})


# Comparison.

SAME = [
    (integer(1), typed("decimal", "1.00")),
    (integer(1), typed("double", "1e0")),
    (typed("byte", "1"), typed("unsignedLong", "01")),
    (typed("float", "0.1"), typed("decimal", "0.1")),
    (typed("boolean", "1"), TRUE),
    (typed("dateTime", "2000-01-01T01:00:00+01:00"), typed("dateTimeStamp", "2000-01-01T00:00:00Z")),
    (typed("date", "2000-01-01+12:00"), typed("date", "1999-12-31-12:00")),
    (typed("duration", "P1Y"), typed("yearMonthDuration", "P12M")),
    (typed("yearMonthDuration", "P0M"), typed("dayTimeDuration", "PT0S")),
    (UNKNOWN, UNKNOWN),
    (typed("integer", "x"), typed("integer", "x")),
    (IRI, IRI),
    (BlankNode("b"), BlankNode("b")),
    (Literal("a", language="en"), Literal("a", language="EN")),
    (Triple(IRI, IRI, integer(1)), Triple(IRI, IRI, typed("decimal", "1.0"))),
]
DIFFERENT = [
    (integer(1), Literal("1")),
    (integer(1), TRUE),
    (typed("double", "NaN"), typed("double", "NaN")),
    (typed("float", "0.1"), typed("double", "0.1")),
    (EN, FR),
    (EN, Literal("abc")),
    (EN, UNKNOWN),
    (IRI, Literal(IRI.value)),
    (IRI, OTHER_IRI),
    (BlankNode("a"), BlankNode("b")),
    (UNKNOWN, IRI),
    (typed("dateTime", "2000-01-01T00:00:00"), typed("dateTime", "2000-01-01T00:00:00Z")),
    (typed("date", "2000-01-01"), typed("dateTime", "2000-01-01T00:00:00")),
    (typed("time", "23:00:00-05:00"), typed("time", "04:00:00Z")),
    (typed("duration", "P1M"), typed("duration", "P30D")),
    (Triple(IRI, IRI, IRI), Triple(IRI, IRI, OTHER_IRI)),
]
UNDECIDED = [
    (UNKNOWN, UNKNOWN_TOO),
    (UNKNOWN, integer(1)),
    (typed("integer", "x"), integer(1)),
    (typed("byte", "300"), integer(300)),
    (typed("token", "a"), Literal("a")),
    (typed("hexBinary", "0a"), typed("hexBinary", "0A")),
]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [(*pair, TRUE) for pair in SAME] + [(*pair, FALSE) for pair in DIFFERENT] + [(*pair, None) for pair in UNDECIDED],
)
def test_equality(left: Term, right: Term, expected: Term | None) -> None:
    opposite = {TRUE: FALSE, FALSE: TRUE, None: None}[expected]
    for pair in ((left, right), (right, left)):
        assert result(Function.EQUAL, *pair) == expected
        assert result(Function.NOT_EQUAL, *pair) == opposite


ORDERED = [
    (integer(1), typed("decimal", "1.5")),
    (integer(2), typed("double", "INF")),
    (typed("integer", "9" * 30), typed("integer", "1" + "0" * 30)),
    (Literal("a"), Literal("b")),
    (Literal("Z"), Literal("a")),
    (Literal("a", language="en"), Literal("b", language="en")),
    (FALSE, TRUE),
    (typed("dateTime", "2000-01-01T00:00:00"), typed("dateTime", "2000-01-01T14:00:00.1Z")),
    (typed("dateTime", "-0001-01-01T00:00:00Z"), typed("dateTime", "0000-01-01T00:00:00Z")),
    (typed("dateTime", "9999-12-31T24:00:00Z"), typed("dateTime", "12000-01-01T00:00:00Z")),
    (typed("date", "2000-01-01"), typed("date", "2000-01-02Z")),
    (typed("time", "10:00:00"), typed("time", "11:00:00")),
    (typed("gYear", "2000"), typed("gYear", "2001")),
    (typed("gMonthDay", "--02-29"), typed("gMonthDay", "--03-01")),
    (typed("duration", "P1M"), typed("duration", "P32D")),
    (typed("dayTimeDuration", "-PT1S"), typed("yearMonthDuration", "P1M")),
]
UNORDERED = [
    (integer(1), Literal("2")),
    (integer(1), TRUE),
    (IRI, IRI),
    (UNKNOWN, UNKNOWN),
    (EN, FR),
    (EN, Literal("abd")),
    (typed("date", "2000-01-01"), typed("dateTime", "2001-01-01T00:00:00")),
    (typed("dateTime", "2000-01-01T00:00:00"), typed("dateTime", "2000-01-01T14:00:00Z")),
    (typed("duration", "P1M"), typed("duration", "P31D")),
]


@pytest.mark.parametrize(("smaller", "larger"), ORDERED, ids=str)
def test_order(smaller: Term, larger: Term) -> None:
    for function, forth, back in (
        (Function.LESS, TRUE, FALSE),
        (Function.LESS_OR_EQUAL, TRUE, FALSE),
        (Function.GREATER, FALSE, TRUE),
        (Function.GREATER_OR_EQUAL, FALSE, TRUE),
    ):
        assert result(function, smaller, larger) == forth
        assert result(function, larger, smaller) == back


@pytest.mark.parametrize(("left", "right"), UNORDERED, ids=str)
def test_no_order(left: Term, right: Term) -> None:
    for function in (Function.LESS, Function.LESS_OR_EQUAL, Function.GREATER, Function.GREATER_OR_EQUAL):
        assert result(function, left, right) is None


def test_equal_values_are_in_both_weak_orders() -> None:
    for function in (Function.LESS_OR_EQUAL, Function.GREATER_OR_EQUAL):
        assert result(function, integer(1), typed("decimal", "1.0")) == TRUE
    assert result(Function.LESS, integer(1), typed("decimal", "1.0")) == FALSE


def test_nan_is_neither_smaller_nor_larger() -> None:
    nan = typed("double", "NaN")
    for function in (Function.LESS, Function.LESS_OR_EQUAL, Function.GREATER, Function.GREATER_OR_EQUAL):
        assert result(function, nan, nan) == result(function, nan, integer(1)) == FALSE


@pytest.mark.parametrize(
    ("function", "left", "right", "expected"),
    [
        (Function.SAME_TERM, typed("double", "NaN"), typed("double", "NaN"), TRUE),
        (Function.EQUAL, typed("double", "-0"), typed("decimal", "0.0"), TRUE),
        (Function.SAME_TERM, typed("double", "-0"), typed("double", "0"), FALSE),
        (Function.LESS, typed("double", "-0"), typed("double", "0"), FALSE),
        (Function.EQUAL, typed("decimal", "1." + "0" * 300), integer(1), TRUE),
        (Function.LESS, typed("decimal", "0." + "0" * 300 + "1"), typed("decimal", "0." + "0" * 299 + "1"), TRUE),
        (
            Function.LESS,
            typed("dateTime", "2000-01-01T00:00:00.12345678901234567890Z"),
            typed("dateTime", "2000-01-01T00:00:00.12345678901234567891Z"),
            TRUE,
        ),
        (
            Function.LESS,
            typed("dateTime", "99999999999999999998-12-31T24:00:00Z"),
            typed("dateTime", "99999999999999999999-01-01T00:00:01Z"),
            TRUE,
        ),
        (Function.EQUAL, Literal(" a"), Literal("a"), FALSE),
        (Function.EQUAL, typed("boolean", " true\n"), TRUE, TRUE),
        (Function.SAME_TERM, typed("boolean", " true"), TRUE, FALSE),
        (Function.EQUAL, typed("date", "\t2000-01-01 "), typed("date", "2000-01-01"), TRUE),
        (Function.SAME_TERM, Literal("a", language="EN"), Literal("a", language="en"), TRUE),
        (Function.EQUAL, DIRECTED, Literal("a", language="ar"), FALSE),
        (Function.LESS, DIRECTED, Literal("b", language="ar"), None),
    ],
)
def test_values_at_the_edge(function: Function, left: Term, right: Term, expected: Term | None) -> None:
    assert result(function, left, right) == expected


# Arithmetic.


@pytest.mark.parametrize(
    ("function", "left", "right", "expected"),
    [
        (Function.ADD, typed("byte", "1"), typed("long", "2"), integer(3)),
        (Function.ADD, integer(1), typed("decimal", "1.5"), typed("decimal", "2.5")),
        (Function.ADD, typed("float", "0.1"), typed("decimal", "0.1"), typed("float", "0.2")),
        (Function.ADD, typed("float", "1"), typed("double", "1"), typed("double", "2")),
        (Function.SUBTRACT, integer(1), integer(2), integer(-1)),
        (Function.MULTIPLY, integer(2), typed("decimal", "0.50"), typed("decimal", "1")),
        (Function.MULTIPLY, typed("double", "1e300"), typed("double", "1e300"), typed("double", "INF")),
        (Function.DIVIDE, integer(2), integer(3), typed("decimal", "0.666666666666666666")),
        (Function.DIVIDE, integer(4), integer(2), typed("decimal", "2")),
        (Function.DIVIDE, integer(1), integer(0), None),
        (Function.DIVIDE, integer(1), typed("decimal", "0.0"), None),
        (Function.DIVIDE, integer(1), typed("double", "0"), typed("double", "INF")),
        (Function.DIVIDE, integer(-1), typed("double", "0"), typed("double", "-INF")),
        (Function.DIVIDE, typed("double", "1"), typed("decimal", "-0.0"), typed("double", "INF")),
        (Function.DIVIDE, typed("double", "0"), integer(0), typed("double", "NaN")),
        (Function.ADD, integer(2**63 - 1), integer(1), integer(2**63)),
        (Function.MULTIPLY, integer(10 ** (DIGITS - 1)), integer(10), None),
        (Function.MULTIPLY, typed("decimal", "0." + "9" * DIGITS), typed("decimal", "0.9"), None),
        (Function.ADD, integer(1), Literal("1"), None),
        (Function.ADD, integer(1), IRI, None),
        (
            Function.SUBTRACT,
            typed("dateTime", "2000-01-01T00:00:00+05:00"),
            typed("dateTime", "2000-01-01T00:00:00.5Z"),
            typed("dayTimeDuration", "-PT5H0.5S"),
        ),
        (
            Function.SUBTRACT,
            typed("dateTime", "2000-01-01T00:00:00"),
            typed("dateTime", "2000-01-01T00:00:00Z"),
            None,
        ),
        (Function.SUBTRACT, typed("date", "2000-03-01"), typed("date", "2000-02-28"), typed("dayTimeDuration", "P2D")),
        (Function.ADD, typed("date", "2000-01-31"), typed("yearMonthDuration", "P1M"), typed("date", "2000-02-29")),
        (
            Function.SUBTRACT,
            typed("dateTime", "2000-01-01T00:00:00Z"),
            typed("duration", "P1MT1H"),
            typed("dateTime", "1999-11-30T23:00:00Z"),
        ),
        (Function.ADD, typed("time", "10:00:00Z"), typed("dayTimeDuration", "PT23H"), typed("time", "09:00:00Z")),
        (Function.ADD, typed("time", "10:00:00Z"), typed("yearMonthDuration", "P1Y"), None),
        (Function.ADD, typed("gYear", "2000"), typed("yearMonthDuration", "P1Y"), None),
        (
            Function.ADD,
            typed("yearMonthDuration", "P1M"),
            typed("dayTimeDuration", "PT1S"),
            typed("duration", "P1MT1S"),
        ),
        (Function.SUBTRACT, typed("yearMonthDuration", "P1M"), typed("dayTimeDuration", "PT1S"), None),
    ],
)
def test_arithmetic(function: Function, left: Term, right: Term, expected: Term | None) -> None:
    assert result(function, left, right) == expected


@pytest.mark.parametrize(
    ("function", "term", "expected"),
    [
        (Function.NEGATE, typed("byte", "1"), integer(-1)),
        (Function.NEGATE, typed("double", "0"), typed("double", "-0")),
        (Function.NEGATE, typed("yearMonthDuration", "P13M"), typed("yearMonthDuration", "-P1Y1M")),
        (Function.NEGATE, Literal("1"), None),
        (Function.PLUS, typed("decimal", "1.50"), typed("decimal", "1.5")),
        (Function.PLUS, typed("date", "2000-01-01"), None),
        (Function.ABS, typed("decimal", "-1.50"), typed("decimal", "1.5")),
        (Function.ABS, typed("float", "-INF"), typed("float", "INF")),
        (Function.ABS, Literal("-1"), None),
    ],
)
def test_arithmetic_of_one_number(function: Function, term: Term, expected: Term | None) -> None:
    assert result(function, term) == expected


@given(st.integers(), st.integers())
def test_integer_arithmetic_is_exact(left: int, right: int) -> None:
    assert result(Function.ADD, integer(left), integer(right)) == integer(left + right)
    assert result(Function.SUBTRACT, integer(left), integer(right)) == integer(left - right)
    assert result(Function.MULTIPLY, integer(left), integer(right)) == integer(left * right)


# Terms and strings.


@pytest.mark.parametrize(
    ("function", "term", "expected"),
    [
        (Function.STR, typed("integer", "01"), Literal("01")),
        (Function.STR, IRI, Literal(IRI.value)),
        (Function.STR, EN, Literal("abc")),
        (Function.STR, BlankNode("b"), None),
        (Function.STR, Triple(IRI, IRI, IRI), None),
        (Function.LANG, EN, Literal("en")),
        (Function.LANG, integer(1), Literal("")),
        (Function.LANG, IRI, None),
        (Function.DATATYPE, EN, RDF["langString"]),
        (Function.DATATYPE, Literal("a"), XSD["string"]),
        (Function.DATATYPE, typed("int", "x"), XSD["int"]),
        (Function.DATATYPE, IRI, None),
        (Function.IS_IRI, IRI, TRUE),
        (Function.IS_BLANK, BlankNode("b"), TRUE),
        (Function.IS_LITERAL, UNKNOWN, TRUE),
        (Function.IS_LITERAL, IRI, FALSE),
        (Function.IS_NUMERIC, typed("byte", "1"), TRUE),
        (Function.IS_NUMERIC, typed("byte", "300"), FALSE),
        (Function.IS_NUMERIC, Literal("1"), FALSE),
        (Function.LENGTH, Literal("é😀"), integer(2)),
        (Function.LENGTH, EN, integer(3)),
        (Function.LENGTH, integer(1), None),
        (Function.UPPER, Literal("straße", language="de"), Literal("STRASSE", language="de")),
        (Function.LOWER, Literal("ÀB"), Literal("àb")),
        (Function.LOWER, IRI, None),
        (Function.YEAR, typed("dateTime", "-0044-03-15T00:00:00"), integer(-44)),
        (Function.YEAR, typed("gYearMonth", "2000-02"), integer(2000)),
        (Function.MONTH, typed("date", "2000-02-03"), integer(2)),
        (Function.DAY, typed("dateTime", "2000-01-31T24:00:00"), integer(1)),
        (Function.HOURS, typed("dateTime", "2000-01-01T10:00:00+05:00"), integer(10)),
        (Function.HOURS, typed("date", "2000-01-01"), None),
        (Function.MINUTES, typed("time", "10:20:30"), integer(20)),
        (Function.SECONDS, typed("dateTime", "2000-01-01T00:00:01.50Z"), typed("decimal", "1.5")),
        (Function.SECONDS, typed("duration", "PT1S"), None),
        (Function.YEAR, Literal("2000-01-01"), None),
        (Function.NUMBER, typed("byte", "01"), typed("byte", "01")),
        (Function.NUMBER, Literal(" 64 "), integer(64)),
        (Function.NUMBER, Literal("-4.50"), typed("decimal", "-4.50")),
        (Function.NUMBER, Literal("+1e3"), typed("double", "+1e3")),
        (Function.NUMBER, Literal("1."), None),
        (Function.NUMBER, Literal("NaN"), None),
        (Function.NUMBER, Literal(""), None),
        (Function.NUMBER, Literal("64", language="en"), None),
        (Function.NUMBER, typed("integer", "x"), None),
        (Function.NUMBER, IRI, None),
    ],
)
def test_functions_of_one_term(function: Function, term: Term, expected: Term | None) -> None:
    assert result(function, term) == expected


@pytest.mark.parametrize(
    ("whole", "part", "expected"),
    [
        (Literal("abc"), Literal("b"), TRUE),
        (Literal("abc"), Literal("d"), FALSE),
        (EN, Literal("b"), TRUE),
        (EN, Literal("b", language="en"), TRUE),
        (EN, Literal("b", language="fr"), None),
        (Literal("abc"), Literal("b", language="en"), None),
        (integer(123), Literal("2"), None),
        (IRI, Literal("e"), None),
    ],
)
def test_contains_wants_compatible_strings(whole: Term, part: Term, expected: Term | None) -> None:
    assert result(Function.CONTAINS, whole, part) == expected


def test_starts_ends_and_same_term() -> None:
    assert result(Function.STARTS, EN, Literal("ab")) == TRUE
    assert result(Function.STARTS, EN, Literal("bc")) == FALSE
    assert result(Function.ENDS, EN, Literal("bc")) == TRUE
    assert result(Function.ENDS, EN, Literal("ab")) == FALSE
    assert result(Function.SAME_TERM, integer(1), typed("integer", "01")) == FALSE
    assert result(Function.SAME_TERM, UNKNOWN, UNKNOWN) == TRUE


@pytest.mark.parametrize(
    ("tag", "wanted", "expected"),
    [
        ("en-US", "EN", TRUE),
        ("en", "*", TRUE),
        ("", "*", FALSE),
        ("en", "en-US", FALSE),
        ("english", "en", FALSE),
        ("de-Latn-DE", "de-DE", FALSE),
    ],
)
def test_language_ranges(tag: str, wanted: str, expected: Term) -> None:
    assert result(Function.LANG_MATCHES, Literal(tag), Literal(wanted)) == expected
    assert result(Function.LANG_MATCHES, Literal(tag, language="en"), Literal(wanted)) is None


@pytest.mark.parametrize(
    ("text", "pattern", "flags", "expected"),
    [
        ("abc", "b", "", True),
        ("abc", "^b", "", False),
        ("abc", "B", "i", True),
        ("a\nb", "a.b", "", False),
        ("a\nb", "a.b", "s", True),
        ("a\nb", "^b$", "", False),
        ("a\nb", "^b$", "m", True),
        ("a\n", "a$", "", False),
        ("abc", "a b\n c", "x", True),
        ("a b", "a[ ]b", "x", True),
        ("a#b", "a#b", "x", True),
        ("a.b", ".", "q", True),
        ("ab", "a.", "q", False),
        ("A.b", "a.", "qi", True),
        ("a b", "a b", "qx", True),
        ("٣", r"^\d$", "", True),
        ("é+", r"^\w\w$", "", True),
        ("_", r"^\W$", "", True),
        ("é_", r"^[\w_]+$", "", True),
        ("\x0c", r"\s", "", False),
        ("\x0c", r"^[\S]$", "", True),
        ("é-1", r"^\i\c*$", "", True),
        ("1", r"^\I$", "", True),
        (" ", r"^[\C]$", "", True),
        ("a", r"\p{Lu}", "", False),
        ("a", r"\p{Lu}", "i", False),
        ("Λ", r"\p{Greek}", "", True),
        (r"\d", r"\\d", "", True),
        ("a]", r"a\]", "", True),
        ("[", r"\[", "", True),
        ("😀", "^.$", "", True),
    ],
)
def test_regular_expressions(text: str, pattern: str, flags: str, expected: bool) -> None:
    arguments = [Literal(text), Literal(pattern), *([Literal(flags)] if flags else [])]
    assert result(Function.REGEX, *arguments) == (TRUE if expected else FALSE)


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        ("[", ""),
        ("(", ""),
        ("*", ""),
        ("\\", ""),
        (r"(a)\1", ""),
        ("a(?=b)", ""),
        ("[a-z-[aeiou]]", ""),
        (r"\p{IsGreek}", ""),
        ("a{5000}", ""),
        ("((a{100}){100}){100}", ""),
        ("a" * 20_000, ""),
        ("a", "z"),
    ],
)
def test_invalid_patterns_are_errors(pattern: str, flags: str) -> None:
    assert result(Function.REGEX, Literal("abc"), Literal(pattern), Literal(flags)) is None


def test_patterns_and_flags_are_plain_strings() -> None:
    assert result(Function.REGEX, EN, Literal("b")) == TRUE
    assert result(Function.REGEX, Literal("abc"), Literal("b", language="en")) is None
    assert result(Function.REGEX, integer(1), Literal("1")) is None


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_literal_pattern_is_found_where_it_is_contained(text: str, pattern: str) -> None:
    assert regex.matches(text, pattern, "q") is (pattern in text)


@given(st.text(r"\[]^-abdwsic{}pPL()|*+? ", max_size=12))
def test_any_pattern_is_compiled_or_refused(pattern: str) -> None:
    assert result(Function.REGEX, Literal("abc"), Literal(pattern), Literal("x")) in (TRUE, FALSE, None)


# Depth.


@pytest.mark.parametrize("function", [Function.OR, Function.AND, Function.NOT, Function.ADD, Function.IN, Function.STR])
@pytest.mark.parametrize("place", [0, -1])
def test_deep_expressions(function: Function, place: int) -> None:
    arity = 1 if function in (Function.NOT, Function.STR) else 2
    expression: Expression = X
    for _ in range(200):
        arguments: list[Expression] = [X] * arity
        arguments[place] = expression
        expression = Call(function, tuple(arguments))
    for term in (integer(0), IRI):
        held = holds(expression, {X: term})
        assert (explain_failure(expression, {X: term}) is None) is held
    assert len(expression_text(expression)) > 200


# Words.


@pytest.mark.parametrize(
    ("expression", "term", "words"),
    [
        (call(Function.LESS, X, typed("decimal", "400.00")), integer(450), "?x = 450 is not < 400.00"),
        (
            call(Function.LESS, X, typed("decimal", "400.00")),
            Literal("abc"),
            '?x = "abc" cannot be compared with 400.00',
        ),
        (call(Function.GREATER, integer(5), X), integer(7), "5 is not > ?x = 7"),
        (call(Function.EQUAL, X, IRI), OTHER_IRI, "?x = <Other> is not = <Thing>"),
        (call(Function.NOT_EQUAL, X, integer(1)), integer(1), "?x = 1 is = 1"),
        (
            call(Function.GREATER, call(Function.LENGTH, X), integer(5)),
            Literal("abc", language="en"),
            "STRLEN(?x) = 3 is not > 5",
        ),
        (call(Function.CONTAINS, X, Literal("uni")), Literal("abc"), '?x = "abc" does not contain "uni"'),
        (call(Function.REGEX, X, Literal("^b")), Literal("abc"), '?x = "abc" does not match "^b"'),
        (call(Function.IN, X, integer(1), integer(2)), integer(3), "?x = 3 is not in (1, 2)"),
        (
            call(Function.AND, call(Function.GREATER, X, integer(0)), call(Function.LESS, X, integer(5))),
            integer(7),
            "?x = 7 is not < 5",
        ),
        (
            call(Function.OR, call(Function.LESS, X, integer(0)), call(Function.EQUAL, X, Literal("a"))),
            integer(7),
            '?x = 7 is not < 0, and ?x = 7 is not = "a"',
        ),
        (call(Function.NOT, call(Function.IS_IRI, X)), IRI, "!ISIRI(?x) is not true with ?x = <Thing>"),
        (call(Function.LESS, Y, integer(1)), integer(1), "?y is not bound"),
        (
            call(Function.CONTAINS, X, Literal("1")),
            integer(1),
            'CONTAINS(?x, "1") cannot be evaluated with ?x = 1: a string was expected',
        ),
    ],
)
def test_failures_in_words(expression: Expression, term: Term, words: str) -> None:
    assert explain_failure(expression, {X: term}) == words


def test_different_terms_that_look_alike_are_shown_in_full() -> None:
    near, far = NamedNode("urn:near#host"), NamedNode("urn:far#host")
    assert explain_failure(call(Function.EQUAL, X, near), {X: far}) == "?x = <urn:far#host> is not = <urn:near#host>"


def test_what_holds_needs_no_words() -> None:
    assert explain_failure(call(Function.LESS, X, integer(5)), {X: integer(4)}) is None


def test_terms_in_words() -> None:
    assert term_text(typed("date", "2000-01-01")) == '"2000-01-01"^^xsd:date'
    assert term_text(UNKNOWN) == '"a"^^<t>'
    assert term_text(EN) == '"abc"@en'
    assert term_text(Literal("abc", language="ar", direction=BaseDirection.RTL)) == '"abc"@ar--rtl'
    assert term_text(NamedNode("http://example.org/")) == "<http://example.org/>"
    assert len(term_text(Literal("a" * 500))) < 50


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (
            call(Function.AND, call(Function.OR, X, Y), call(Function.NOT, call(Function.LESS, X, Y))),
            "(?x || ?y) && !(?x < ?y)",
        ),
        (call(Function.SUBTRACT, X, call(Function.SUBTRACT, Y, integer(1))), "?x - (?y - 1)"),
        (call(Function.SUBTRACT, call(Function.SUBTRACT, X, Y), integer(1)), "?x - ?y - 1"),
        (call(Function.MULTIPLY, call(Function.ADD, X, Y), call(Function.NEGATE, X)), "(?x + ?y) * -?x"),
        (call(Function.EQUAL, call(Function.EQUAL, X, Y), TRUE), "(?x = ?y) = true"),
        (call(Function.NOT_IN, X, IRI, integer(1)), "?x NOT IN (<Thing>, 1)"),
        (call(Function.NEGATE, integer(1)), "-(1)"),
        (call(Function.NEGATE, call(Function.NEGATE, X)), "-(-?x)"),
        (call(Function.GREATER, call(Function.NUMBER, X), integer(64)), "number(?x) > 64"),
    ],
)
def test_expressions_in_words(expression: Expression, text: str) -> None:
    assert expression_text(expression) == text


def test_exact_text_has_terms_in_full() -> None:
    expression = call(Function.EQUAL, X, typed("int", "1"))
    assert expression_text(expression, exact=True) == '?x = "1"^^<http://www.w3.org/2001/XMLSchema#int>'
