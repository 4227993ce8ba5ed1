"""What literals stand for."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BaseDirection

from ontosub.model.terms import DATATYPES, RDF, XSD, Literal, NamedNode
from ontosub.semantics.gregorian import add_months, date_of, day_number, days_in_month
from ontosub.semantics.numeric import LONGEST, Number, NumericType
from ontosub.semantics.values import LanguageString, is_ill_typed, literal_of, value_of


def typed(datatype: str, text: str) -> Literal:
    return Literal(text, datatype=XSD[datatype])


def number(datatype: str, text: str) -> object:
    value = value_of(typed(datatype, text))
    return value.value if isinstance(value, Number) else None


@pytest.mark.parametrize("text", ["1", "+1", "01", " 1 ", "\t1\r\n"])
def test_spellings_of_one_integer(text: str) -> None:
    assert value_of(typed("integer", text)) == Number(NumericType.INTEGER, 1)


@pytest.mark.parametrize(
    ("datatype", "low", "high"),
    [
        ("byte", -128, 127),
        ("short", -32768, 32767),
        ("int", -(2**31), 2**31 - 1),
        ("long", -(2**63), 2**63 - 1),
        ("unsignedByte", 0, 255),
        ("unsignedShort", 0, 65535),
        ("unsignedInt", 0, 2**32 - 1),
        ("unsignedLong", 0, 2**64 - 1),
        ("nonNegativeInteger", 0, None),
        ("positiveInteger", 1, None),
        ("nonPositiveInteger", None, 0),
        ("negativeInteger", None, -1),
    ],
)
def test_derived_integers_have_ranges(datatype: str, low: int | None, high: int | None) -> None:
    for bound, beyond in ((low, -1), (high, 1)):
        if bound is None:
            assert number(datatype, str(beyond * 10**30)) == beyond * 10**30
        else:
            assert number(datatype, str(bound)) == bound
            assert is_ill_typed(typed(datatype, str(bound + beyond)))


def test_decimals_are_exact() -> None:
    text = "0.1234567890123456789012345678901234567890"
    assert number("decimal", text) == Decimal(text)
    assert number("decimal", "1.") == number("decimal", "+01.00") == 1
    assert number("decimal", ".5") == Decimal("0.5")


def test_floats_are_rounded_to_32_bits() -> None:
    assert number("float", "0.1") != number("double", "0.1")
    assert number("float", "16777217") == 16777216
    assert number("float", "1e39") == math.inf
    assert number("float", "-1e39") == -math.inf


def test_special_numbers() -> None:
    assert number("double", "INF") == number("double", "+INF") == math.inf
    assert number("double", "-INF") == -math.inf
    assert math.isnan(number("double", "NaN"))  # type: ignore[arg-type]
    assert number("double", "1e400") == math.inf
    assert math.copysign(1, number("double", "-0")) == -1  # type: ignore[arg-type]


def test_a_very_long_numeral_has_no_value_but_is_well_typed() -> None:
    long = typed("integer", "1" * (LONGEST + 1))
    assert value_of(long) is None
    assert not is_ill_typed(long)
    assert number("integer", "1" * LONGEST) == int("1" * LONGEST)


def test_strings_and_booleans() -> None:
    assert value_of(Literal(" a ")) == " a "
    assert value_of(Literal("a", language="EN")) == LanguageString("a", "en")
    tagged = Literal("a", language="ar", direction=BaseDirection.RTL)
    assert literal_of(value_of(tagged)) == tagged  # type: ignore[arg-type]
    assert value_of(typed("boolean", "1")) is True
    assert value_of(typed("boolean", " false ")) is False


@pytest.mark.parametrize(
    "literal",
    [
        typed("integer", ""),
        typed("integer", "1.0"),
        typed("integer", "1_0"),
        typed("integer", "٣"),
        typed("decimal", "."),
        typed("decimal", "1e1"),
        typed("double", "inf"),
        typed("double", "nan"),
        typed("double", "0x1p3"),
        typed("double", "1e"),
        typed("boolean", "TRUE"),
        typed("date", "2001-02-29"),
        typed("date", "2000-1-01"),
        typed("date", "+2000-01-01"),
        typed("dateTime", "2000-01-01"),
        typed("dateTime", "02000-01-01T00:00:00"),
        typed("dateTime", "2000-01-01T00:00:60"),
        typed("dateTime", "2000-01-01T24:00:01"),
        typed("dateTime", "2000-01-01T00:00:00+14:01"),
        typed("dateTimeStamp", "2000-01-01T00:00:00"),
        typed("time", "10:00"),
        typed("gMonthDay", "--02-30"),
        typed("gMonth", "--13"),
        typed("gDay", "---32"),
        typed("duration", "P"),
        typed("duration", "PT"),
        typed("duration", "P1YT"),
        typed("duration", "P1M1Y"),
        typed("duration", "PT1.S"),
        typed("yearMonthDuration", "P1D"),
        typed("dayTimeDuration", "P1M"),
        typed("hexBinary", "0"),
        typed("base64Binary", "a==="),
        typed("language", "-en"),
        typed("NCName", "a:b"),
        typed("Name", "1a"),
        typed("NMTOKEN", "a b"),
        Literal("a", datatype=RDF["langString"]),
        Literal("a", datatype=RDF["dirLangString"]),
    ],
    ids=str,
)
def test_ill_typed(literal: Literal) -> None:
    assert value_of(literal) is None
    assert is_ill_typed(literal)


@pytest.mark.parametrize(
    "literal",
    [
        Literal("a", datatype=NamedNode("urn:unknown")),
        typed("token", "a"),
        typed("anyURI", "not a uri"),
        typed("hexBinary", "0aFF"),
        typed("base64Binary", "YWJj ZGU="),
        typed("language", "en-US"),
        typed("NCName", "é-1"),
        typed("Name", "a:b"),
        typed("NMTOKEN", "1a"),
    ],
    ids=str,
)
def test_no_value_and_yet_not_ill_typed(literal: Literal) -> None:
    assert value_of(literal) is None
    assert not is_ill_typed(literal)


@pytest.mark.parametrize(
    ("literal", "canonical"),
    [
        (typed("int", "007"), typed("integer", "7")),
        (typed("decimal", "-01.50"), typed("decimal", "-1.5")),
        (typed("decimal", "-0.0"), typed("decimal", "0")),
        (typed("double", "1E21"), typed("double", "1000000000000000000000")),
        (typed("double", "1.5e-7"), typed("double", "0.00000015")),
        (typed("double", "-0.0"), typed("double", "-0")),
        (typed("float", "0.1"), typed("float", "0.1")),
        (typed("float", "16777217"), typed("float", "16777216")),
        (typed("dateTime", "1999-12-31T24:00:00.0-00:00"), typed("dateTime", "2000-01-01T00:00:00Z")),
        (typed("dateTime", "-0044-03-15T01:02:03.450+05:30"), typed("dateTime", "-0044-03-15T01:02:03.45+05:30")),
        (typed("date", "12000-02-29-01:00"), typed("date", "12000-02-29-01:00")),
        (typed("time", "24:00:00"), typed("time", "00:00:00")),
        (typed("duration", "P14MT90061.50S"), typed("duration", "P1Y2M1DT1H1M1.5S")),
        (typed("duration", "-PT0S"), typed("duration", "PT0S")),
        (typed("yearMonthDuration", "-P0Y"), typed("yearMonthDuration", "P0M")),
    ],
    ids=str,
)
def test_canonical_literals(literal: Literal, canonical: Literal) -> None:
    assert literal_of(value_of(literal)) == canonical  # type: ignore[arg-type]


@given(st.sampled_from(sorted(DATATYPES, key=str)), st.text("0123456789-+.:TZPYMDHSEINFa \n", max_size=25))
def test_canonical_literals_keep_their_value(datatype: NamedNode, text: str) -> None:
    literal = Literal(text, datatype=datatype)
    value = value_of(literal)
    if value is not None and value == value and not str(datatype).endswith(("gYear>", "Month>", "Day>")):
        assert value_of(literal_of(value)) == value
    assert value is None or not is_ill_typed(literal)


@given(st.floats(width=32, allow_nan=False))
def test_floats_are_written_shortest_and_read_back(value: float) -> None:
    literal = literal_of(Number(NumericType.FLOAT, value))
    assert number("float", literal.value) == value


@given(st.integers(-100_000, 100_000), st.integers(1, 12), st.integers(1, 31))
def test_dates_and_day_numbers_are_inverse(year: int, month: int, day: int) -> None:
    day = min(day, days_in_month(year, month))
    assert date_of(day_number(year, month, day)) == (year, month, day)
    following = date_of(day_number(year, month, day) + 1)
    assert following > (year, month, day)
    assert following[2] in (day + 1, 1)


@given(st.integers(-3000, 3000), st.integers(1, 12), st.integers(-5000, 5000))
def test_months_are_added_as_one_counts_them(year: int, month: int, months: int) -> None:
    later_year, later_month, day = add_months(year, month, 31, months)
    assert 12 * later_year + later_month == 12 * year + month + months
    assert day == days_in_month(later_year, later_month)
