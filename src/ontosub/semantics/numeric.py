"""The numbers of XSD: their text, SPARQL's promotion between them, and arithmetic.

Integers and decimals are exact; floats are rounded to 32 bits after every step; doubles are Python's. SPARQL leaves
the size of exact numbers open. Here a numeral may have `LONGEST` characters, and a longer one has no value; a sum or
product of more than `DIGITS` digits is an error. Division of exact numbers keeps 18 digits after the point and cuts
off the rest, as Oxigraph does.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, InvalidOperation
from enum import IntEnum
from fractions import Fraction

from ontosub.semantics.faults import ExpressionError

LONGEST = 1000
"""The longest text of a number, moment or duration that is read. It keeps work on untrusted text small."""

DIGITS = 400
"""The most digits that exact arithmetic yields; its results are therefore never longer than `LONGEST`."""

_QUOTIENT_DIGITS = 18
_EXACT = Context(prec=DIGITS, Emin=-DIGITS, Emax=DIGITS, traps=[Inexact, InvalidOperation])

Real = int | Decimal | float


class NumericType(IntEnum):
    """The four numeric types that SPARQL computes with, in the order of promotion."""

    INTEGER = 0
    DECIMAL = 1
    FLOAT = 2
    DOUBLE = 3


@dataclass(frozen=True, slots=True)
class Number:
    """A number and the type that promotion goes by. Types derived from xsd:integer count as xsd:integer."""

    type: NumericType
    value: Real


_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(_DECIMAL.pattern + r"(?:[eE][+-]?[0-9]+)?")
_SPECIAL = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}


def parse_integer(text: str, low: int | None = None, high: int | None = None) -> Number | None:
    """Return the integer that the text spells; None when it spells none between `low` and `high`."""
    if not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    if (low is not None and value < low) or (high is not None and value > high):
        return None
    return Number(NumericType.INTEGER, value)


def parse_decimal(text: str) -> Number | None:
    """Return the decimal that the text spells, or None."""
    return Number(NumericType.DECIMAL, Decimal(text)) if _DECIMAL.fullmatch(text) else None


def parse_double(text: str) -> Number | None:
    """Return the double nearest to what the text spells, or None."""
    if text in _SPECIAL:
        return Number(NumericType.DOUBLE, _SPECIAL[text])
    return Number(NumericType.DOUBLE, float(text)) if _DOUBLE.fullmatch(text) else None


def parse_float(text: str) -> Number | None:
    """Return the 32-bit float nearest to what the text spells, or None."""
    number = parse_double(text)
    return None if number is None else Number(NumericType.FLOAT, _single(number.value))


def parse_numeral(text: str) -> NumericType | None:
    """Return the type of the SPARQL number that the text spells (INTEGER, DECIMAL or DOUBLE), or None.

    >>> parse_numeral("-4.50").name
    'DECIMAL'
    """
    if len(text) > LONGEST or text.endswith("."):
        return None
    shapes = {NumericType.INTEGER: _INTEGER, NumericType.DECIMAL: _DECIMAL, NumericType.DOUBLE: _DOUBLE}
    return next((kind for kind, shape in shapes.items() if shape.fullmatch(text)), None)


def number_text(number: Number) -> str:
    """Return the canonical text: positional, the shortest that reads back as the same number."""
    value = number.value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return _positional(value) if value else "0"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
    return _positional(Decimal(_shortest_single(value) if number.type is NumericType.FLOAT else repr(value)))


def decimal_of(value: Fraction) -> Number:
    """Return a fraction that has a finite decimal expansion as a decimal."""
    try:
        return Number(NumericType.DECIMAL, _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator)))
    except ArithmeticError:
        raise ExpressionError(f"the result has more than {DIGITS} digits") from None


def fraction_text(value: Fraction) -> str:
    """Return the decimal text of a fraction that has a finite one."""
    return number_text(decimal_of(value))


def xpath_text(number: Number) -> str:
    """Return the text that XPath makes of a number when it is cast to a string.

    It is that of `number_text`, but a float or double below a millionth, or from a million on, has an exponent.

    >>> xpath_text(Number(NumericType.DOUBLE, 1.5e10))
    '1.5E10'
    """
    value = number.value
    text = number_text(number)
    if not isinstance(value, float) or not math.isfinite(value) or not value or 1e-6 <= abs(value) < 1e6:
        return text
    sign, digits, exponent = Decimal(text).normalize().as_tuple()
    shown = "".join(map(str, digits))
    return f"{'-' * sign}{shown[0]}.{shown[1:] or '0'}E{int(exponent) + len(shown) - 1}"


def exact(number: Number) -> Decimal:
    """Return a number as a decimal. A fraction of a float or double becomes the shortest that reads back as it.

    Raises ExpressionError for an infinity and for NaN.
    """
    value = number.value
    if not isinstance(value, float):
        return Decimal(value)
    if not math.isfinite(value):
        raise ExpressionError("the number is not finite")
    return Decimal(int(value)) if value.is_integer() else Decimal(number_text(number))


def _shortest_single(value: float) -> str:
    candidates = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next(text for text in candidates if _single(float(text)) == value)


def _positional(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _single(value: Real) -> float:
    wide = _double(value)
    try:
        return float(struct.unpack("<f", struct.pack("<f", wide))[0])
    except OverflowError:
        return math.copysign(math.inf, wide)


def _double(value: Real) -> float:
    if isinstance(value, Decimal) and not value:
        return 0.0  # Python's decimals have a negative zero, XSD's do not
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


_ROUND: dict[NumericType, Callable[[Real], float]] = {NumericType.FLOAT: _single, NumericType.DOUBLE: _double}


def _promote(left: Number, right: Number) -> tuple[NumericType, Real, Real]:
    """Return the wider of the two types, and both values in it."""
    kind = max(left.type, right.type)
    if rounded := _ROUND.get(kind):
        return kind, rounded(left.value), rounded(right.value)
    return kind, left.value, right.value


def order(left: Number, right: Number) -> int | None:
    """Return -1, 0 or 1 as the left number is smaller, equal or larger; None when one of them is NaN."""
    _, first, second = _promote(left, right)
    if first == second:
        return 0
    return -1 if first < second else 1 if first > second else None


def _operate(
    left: Number,
    right: Number,
    integral: Callable[[int, int], int],
    decimal: Callable[[Decimal, Decimal], Decimal],
    binary: Callable[[float, float], float],
) -> Number:
    kind, first, second = _promote(left, right)
    if rounded := _ROUND.get(kind):
        return Number(kind, rounded(binary(float(first), float(second))))
    if isinstance(first, int) and isinstance(second, int):
        return Number(kind, _bounded(integral(first, second)))
    try:
        return Number(kind, decimal(Decimal(first), Decimal(second)))
    except ArithmeticError:
        raise ExpressionError(f"the result has more than {DIGITS} digits") from None


def _bounded(value: int) -> int:
    if abs(value) >= 10**DIGITS:
        raise ExpressionError(f"the result has more than {DIGITS} digits")
    return value


def add(left: Number, right: Number) -> Number:
    """Return the sum, in the wider of the two types."""
    return _operate(left, right, operator.add, _EXACT.add, operator.add)


def subtract(left: Number, right: Number) -> Number:
    """Return the difference, in the wider of the two types."""
    return _operate(left, right, operator.sub, _EXACT.subtract, operator.sub)


def multiply(left: Number, right: Number) -> Number:
    """Return the product, in the wider of the two types."""
    return _operate(left, right, operator.mul, _EXACT.multiply, operator.mul)


def divide(left: Number, right: Number) -> Number:
    """Return the quotient: of two integers it is a decimal; an exact division by zero is an error."""
    if left.type is right.type is NumericType.INTEGER:
        left = Number(NumericType.DECIMAL, Decimal(left.value))
    return _operate(left, right, operator.floordiv, _exact_quotient, _ieee_quotient)


def _exact_quotient(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise ExpressionError("division by zero")
    scaled = math.trunc(Fraction(left) / Fraction(right) * 10**_QUOTIENT_DIGITS)
    return _EXACT.scaleb(Decimal(scaled), -_QUOTIENT_DIGITS)


def _ieee_quotient(left: float, right: float) -> float:
    try:
        return left / right
    except ZeroDivisionError:
        return math.nan if math.isnan(left) or left == 0 else math.copysign(math.inf, left) * math.copysign(1, right)


def negate(number: Number) -> Number:
    """Return the number with the opposite sign."""
    value = number.value
    return Number(number.type, value.copy_negate() if isinstance(value, Decimal) else -value)


def absolute(number: Number) -> Number:
    """Return the number without its sign."""
    value = number.value
    return Number(number.type, value.copy_abs() if isinstance(value, Decimal) else abs(value))


def whole(number: Number, choose: Callable[[Real], int]) -> Number:
    """Return the whole number that is chosen for a number, in its type. An infinity, or NaN, stays as it is.

    A negative number that becomes zero becomes the negative zero, where its type has one.
    """
    value = number.value
    if isinstance(value, int):
        return number
    if isinstance(value, Decimal):
        return Number(number.type, Decimal(choose(value)))
    if not math.isfinite(value):
        return number
    return Number(number.type, math.copysign(float(choose(value)), value))


def is_zero_or_nan(number: Number) -> bool:
    """Say whether the number counts as false where a truth value is wanted."""
    return number.value == 0 or number.value != number.value
