"""What a kernel can know of a literal: its datatype and, where a 64-bit float says it exactly, its value.

Only values whose order as floats is their order as SPARQL values are given: numbers of at most 15 digits, and zoned
dateTimes. Anything else that has a value is UNSURE, and is left to `ontosub.semantics.expressions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.dictionary import hash_of

Array = NDArray[Any]

NO_VALUE, NUMBER, MOMENT, UNSURE = 0, 1, 2, 3
"""The kinds of value: none with an order, a number, a zoned dateTime in microseconds, one to be looked at again."""

DIGITS_MAX = 15

_XSD = np.frombuffer(b"http://www.w3.org/2001/XMLSchema#", np.uint8)
_NO_BOUND = 1e300


def _local(name: str) -> int:
    data = np.frombuffer(name.encode(), np.uint8)
    return int(hash_of(data, 0, len(data)))


_INTEGERS = {
    "integer": (-_NO_BOUND, _NO_BOUND),
    "long": (-(2.0**63), 2.0**63),
    "int": (-(2.0**31), 2.0**31 - 1),
    "short": (-32768.0, 32767.0),
    "byte": (-128.0, 127.0),
    "nonNegativeInteger": (0.0, _NO_BOUND),
    "positiveInteger": (1.0, _NO_BOUND),
    "unsignedLong": (0.0, 2.0**64),
    "unsignedInt": (0.0, 2.0**32 - 1),
    "unsignedShort": (0.0, 65535.0),
    "unsignedByte": (0.0, 255.0),
    "nonPositiveInteger": (-_NO_BOUND, 0.0),
    "negativeInteger": (-_NO_BOUND, -1.0),
}
_INTEGER_NAMES = np.array([_local(name) for name in _INTEGERS], np.uint64)
_INTEGER_LOWS = np.array([low for low, _ in _INTEGERS.values()])
_INTEGER_HIGHS = np.array([high for _, high in _INTEGERS.values()])
_DECIMAL, _DOUBLE, _DATE_TIME, _STRING = (
    np.uint64(_local(name)) for name in ("decimal", "double", "dateTime", "string")
)
_NONE_OF_XSD = np.uint64(0)
_POWERS = np.array([10.0**i for i in range(23)])


@njit(cache=True)
def closing_quote(data: Array, start: int, end: int) -> int:
    """Return where the text of the literal data[start:end] ends: no datatype or language has a quote in it."""
    position = end - 1
    while data[position] != 34:
        position -= 1
    return position


@njit(cache=True)
def _datatype(data: Array, quote: int, end: int) -> int:
    """Return the hash of the datatype's name in XSD; of `string` for a plain literal; 0 for any other."""
    if quote == end - 1:
        return _STRING
    start = quote + 4  # past "^^<
    if end - start <= _XSD.shape[0] or data[quote + 1] != 94:
        return _NONE_OF_XSD
    for i in range(_XSD.shape[0]):
        if data[start + i] != _XSD[i]:
            return _NONE_OF_XSD
    return hash_of(data, start + _XSD.shape[0], end - 1)


@njit(cache=True)
def value_of(data: Array, start: int, end: int) -> tuple[int, float, int, float]:
    """Return the literal's kind of value and value, and the kind and number that it spells if it is a plain string."""
    quote = closing_quote(data, start, end)
    datatype = _datatype(data, quote, end)
    begin = start + 1
    if datatype == _STRING:
        kind, value = _number(data, begin, quote, True, True)
        return NO_VALUE, 0.0, kind, value
    if datatype == _NONE_OF_XSD:
        return NO_VALUE, 0.0, NO_VALUE, 0.0
    if datatype == _DECIMAL:
        kind, value = _number(data, begin, quote, True, False)
        return kind, value, NO_VALUE, 0.0
    if datatype == _DOUBLE:
        kind, value = _number(data, begin, quote, True, True)
        # INF and NaN are values, too.
        return UNSURE if kind == NO_VALUE else kind, value, NO_VALUE, 0.0
    for i in range(_INTEGER_NAMES.shape[0]):
        if datatype == _INTEGER_NAMES[i]:
            kind, value = _number(data, begin, quote, False, False)
            if kind == NUMBER and not _INTEGER_LOWS[i] <= value <= _INTEGER_HIGHS[i]:
                kind = NO_VALUE
            return kind, value, NO_VALUE, 0.0
    if datatype == _DATE_TIME:
        kind, value = _moment(data, begin, quote)
        return kind, value, NO_VALUE, 0.0
    return UNSURE, 0.0, NO_VALUE, 0.0


@njit(cache=True)
def _number(data: Array, start: int, end: int, point: bool, exponent: bool) -> tuple[int, float]:
    """Read a numeral; `point` and `exponent` say what it may have. Spaces around it make it UNSURE."""
    i = start
    if i < end and (data[i] <= 32 or data[end - 1] <= 32):
        return UNSURE, 0.0
    negative = False
    if i < end and (data[i] == 43 or data[i] == 45):
        negative = data[i] == 45
        i += 1
    mantissa, digits, significant, fraction, seen_point = 0, 0, 0, 0, False
    while i < end:
        c = data[i]
        if 48 <= c <= 57:
            digits += 1
            if significant > 0 or c != 48:
                significant += 1
            if significant <= DIGITS_MAX:
                mantissa = mantissa * 10 + (c - 48)
            if seen_point:
                fraction += 1
        elif c == 46 and point and not seen_point:
            seen_point = True
        else:
            break
        i += 1
    if digits == 0:
        return NO_VALUE, 0.0
    power = 0
    if i < end and exponent and (data[i] == 101 or data[i] == 69):
        i += 1
        sign = 1
        if i < end and (data[i] == 43 or data[i] == 45):
            sign = -1 if data[i] == 45 else 1
            i += 1
        begin = i
        while i < end and 48 <= data[i] <= 57:
            if power < 10_000:
                power = power * 10 + (data[i] - 48)
            i += 1
        if i == begin:
            return NO_VALUE, 0.0
        power *= sign
    if i < end:
        return NO_VALUE, 0.0
    power -= fraction
    if significant > DIGITS_MAX or power > 22 or power < -22:
        return UNSURE, 0.0
    value = mantissa * _POWERS[power] if power >= 0 else mantissa / _POWERS[-power]
    return NUMBER, -value if negative else value


@njit(cache=True)
def _digits(data: Array, start: int, count: int) -> int:
    """Return the number that `count` digits spell, or -1."""
    value = 0
    for i in range(start, start + count):
        if not 48 <= data[i] <= 57:
            return -1
        value = value * 10 + (data[i] - 48)
    return value


@njit(cache=True)
def _moment(data: Array, start: int, end: int) -> tuple[int, float]:
    """Read `YYYY-MM-DDThh:mm:ss[.ffffff](Z|±hh:mm)`, as microseconds; what looks otherwise is UNSURE."""
    if end - start < 20 or not (
        data[start + 4] == 45
        and data[start + 7] == 45
        and data[start + 10] == 84
        and data[start + 13] == 58
        and data[start + 16] == 58
    ):
        return UNSURE, 0.0
    year, month, day = _digits(data, start, 4), _digits(data, start + 5, 2), _digits(data, start + 8, 2)
    hour, minute, second = _digits(data, start + 11, 2), _digits(data, start + 14, 2), _digits(data, start + 17, 2)
    if not 1700 <= year <= 2250 or not 1 <= month <= 12 or not 1 <= day <= _days(year, month):
        return UNSURE, 0.0
    if not 0 <= hour <= 23 or not 0 <= minute <= 59 or not 0 <= second <= 59:
        return UNSURE, 0.0
    i, micros, scale = start + 19, 0, 100_000
    if data[i] == 46:
        i += 1
        while i < end and 48 <= data[i] <= 57:
            if scale == 0:
                return UNSURE, 0.0
            micros += (data[i] - 48) * scale
            scale //= 10
            i += 1
    shift = 0
    if i < end and data[i] == 90 and i + 1 == end:
        shift = 0
    elif i + 6 == end and (data[i] == 43 or data[i] == 45) and data[i + 3] == 58:
        hours, minutes = _digits(data, i + 1, 2), _digits(data, i + 4, 2)
        if not 0 <= hours <= 13 or not 0 <= minutes <= 59:
            return UNSURE, 0.0
        shift = (hours * 60 + minutes) * (1 if data[i] == 43 else -1)
    else:
        return UNSURE, 0.0
    seconds = ((_civil(year, month, day) * 24 + hour) * 60 + minute - shift) * 60 + second
    return MOMENT, np.float64(seconds * 1_000_000 + micros)


@njit(cache=True)
def _days(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month == 4 or month == 6 or month == 9 or month == 11 else 31


@njit(cache=True)
def _civil(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date of the Gregorian calendar (Hinnant's algorithm)."""
    if month <= 2:
        year -= 1
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
