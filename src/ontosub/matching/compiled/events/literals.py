"""What a kernel can know of a literal: its datatype and, where a 64-bit float says it exactly, its value.

Only values whose order as floats is their order as SPARQL values of the same kind are given: numbers of at most 15
digits, booleans, dateTimes with a zone, dateTimes without one, dates without one. Anything else that has a value is
UNSURE, and is left to `ontosub.semantics.expressions`; so is the order between a moment with a zone and one without.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.events.octets import hash_of, same

Array = NDArray[Any]

NO_VALUE, NUMBER, MOMENT, UNSURE = 0, 1, 2, 3
"""The kinds of value: none with an order, a number, a zoned dateTime in microseconds, one to be looked at again."""
BOOLEAN, LOCAL_MOMENT, DATE = 5, 6, 7
"""And: true as 1 and false as 0, a dateTime without zone in microseconds, a date without zone in days."""

RESOURCE = -1
"""What stands in place of a kind where a term is no literal."""

DIGITS_MAX = 15

LENGTH_MAX = 1000
"""How long a numeral may be: as in `ontosub.semantics.numeric`, a longer one has no value."""

_XSD = np.frombuffer(b"http://www.w3.org/2001/XMLSchema#", np.uint8)
_NO_BOUND = 1e300


def _local(name: str) -> int:
    return int(hash_of(np.frombuffer(name.encode(), np.uint8), 0, len(name)))


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
_DECIMAL, _DOUBLE, _BOOLEAN, _DATE_TIME, _DATE, _STRING = (
    np.uint64(_local(name)) for name in ("decimal", "double", "boolean", "dateTime", "date", "string")
)
_NONE_OF_XSD = np.uint64(0)
_POWERS = np.array([10.0**i for i in range(23)])
_TRUE, _FALSE = np.frombuffer(b"true", np.uint8), np.frombuffer(b"false", np.uint8)
_NO_DAY = -(2**40)


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
    if not same(_XSD, 0, len(_XSD), data, start):
        return _NONE_OF_XSD
    return hash_of(data, start + _XSD.shape[0], end - 1)


@njit(cache=True)
def value_of(data: Array, start: int, end: int) -> tuple[int, float, int, float]:
    """Return the literal's kind of value and value, and the kind and number that it spells if it is a plain string."""
    return value_at(data, start, closing_quote(data, start, end), end)


@njit(cache=True)
def value_at(data: Array, start: int, quote: int, end: int) -> tuple[int, float, int, float]:
    """Do what `value_of` does for a literal whose text is known to end at `quote`."""
    datatype = _datatype(data, quote, end)
    begin = start + 1
    if datatype == _STRING:
        kind, value = _number(data, begin, quote, True, True)
        return NO_VALUE, 0.0, kind, value
    kind, value = UNSURE, 0.0
    if datatype == _NONE_OF_XSD:
        kind = NO_VALUE
    elif datatype == _DECIMAL:
        kind, value = _number(data, begin, quote, True, False)
    elif datatype == _DOUBLE:
        kind, value = _number(data, begin, quote, True, True)
        kind = UNSURE if kind == NO_VALUE else kind  # INF and NaN are values, too
    elif datatype == _DATE_TIME:
        kind, value = _moment(data, begin, quote)
    elif datatype == _BOOLEAN:
        kind, value = _boolean(data, begin, quote)
    elif datatype == _DATE:
        kind, value = _date(data, begin, quote)
    else:
        for i in range(_INTEGER_NAMES.shape[0]):
            if datatype == _INTEGER_NAMES[i]:
                kind, value = _number(data, begin, quote, False, False)
                if kind == NUMBER and not _INTEGER_LOWS[i] <= value <= _INTEGER_HIGHS[i]:
                    kind = NO_VALUE
    return kind, value, NO_VALUE, 0.0


@njit(cache=True)
def _number(data: Array, start: int, end: int, point: bool, exponent: bool) -> tuple[int, float]:
    """Read a numeral; `point` and `exponent` say what it may have. White space, escaped or not, makes it UNSURE."""
    if end - start > LENGTH_MAX:
        return UNSURE, 0.0
    kind, value = _numeral(data, start, end, point, exponent)
    if kind == NO_VALUE:
        for i in range(start, end):
            if data[i] == 32 or data[i] == 92:
                return UNSURE, 0.0
    return kind, value


@njit(cache=True)
def _numeral(data: Array, start: int, end: int, point: bool, exponent: bool) -> tuple[int, float]:
    i = start
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
def _boolean(data: Array, start: int, end: int) -> tuple[int, float]:
    """Read true, false, 1 or 0; anything else is UNSURE."""
    if end - start == 1 and (data[start] == 48 or data[start] == 49):
        return BOOLEAN, np.float64(data[start] - 48)
    if end - start == len(_TRUE) and same(_TRUE, 0, len(_TRUE), data, start):
        return BOOLEAN, 1.0
    if end - start == len(_FALSE) and same(_FALSE, 0, len(_FALSE), data, start):
        return BOOLEAN, 0.0
    return UNSURE, 0.0


@njit(cache=True)
def _day_number(data: Array, start: int) -> int:
    """Read `YYYY-MM-DD`, which there must be room for, as days; _NO_DAY if it is no date of the years 1700 to 2250.

    Of those years, microseconds are exact as floats, also in any zone.
    """
    if data[start + 4] != 45 or data[start + 7] != 45:
        return _NO_DAY
    year, month, day = _digits(data, start, 4), _digits(data, start + 5, 2), _digits(data, start + 8, 2)
    if not 1700 <= year <= 2250 or not 1 <= month <= 12 or not 1 <= day <= _days(year, month):
        return _NO_DAY
    return _civil(year, month, day)


@njit(cache=True)
def _date(data: Array, start: int, end: int) -> tuple[int, float]:
    """Read `YYYY-MM-DD`, as days; what looks otherwise, or has a zone, is UNSURE."""
    day = _day_number(data, start) if end - start == 10 else _NO_DAY
    return (DATE, np.float64(day)) if day != _NO_DAY else (UNSURE, 0.0)


@njit(cache=True)
def _moment(data: Array, start: int, end: int) -> tuple[int, float]:
    """Read `YYYY-MM-DDThh:mm:ss[.ffffff][Z|±hh:mm]`, as microseconds; what looks otherwise is UNSURE."""
    if end - start < 19 or data[start + 10] != 84 or data[start + 13] != 58 or data[start + 16] != 58:
        return UNSURE, 0.0
    day = _day_number(data, start)
    hour, minute, second = _digits(data, start + 11, 2), _digits(data, start + 14, 2), _digits(data, start + 17, 2)
    if day == _NO_DAY or not 0 <= hour <= 23 or not 0 <= minute <= 59 or not 0 <= second <= 59:
        return UNSURE, 0.0
    i, micros, scale = start + 19, 0, 100_000
    if i < end and data[i] == 46:
        i += 1
        while i < end and 48 <= data[i] <= 57:
            if scale == 0:
                return UNSURE, 0.0
            micros += (data[i] - 48) * scale
            scale //= 10
            i += 1
        if data[i - 1] == 46:
            return UNSURE, 0.0
    kind, shift = MOMENT, 0
    if i == end:
        kind = LOCAL_MOMENT
    elif i + 6 == end and (data[i] == 43 or data[i] == 45) and data[i + 3] == 58:
        hours, minutes = _digits(data, i + 1, 2), _digits(data, i + 4, 2)
        if not 0 <= hours <= 13 or not 0 <= minutes <= 59:
            return UNSURE, 0.0
        shift = (hours * 60 + minutes) * (1 if data[i] == 43 else -1)
    elif i + 1 != end or data[i] != 90:
        return UNSURE, 0.0
    seconds = ((day * 24 + hour) * 60 + minute - shift) * 60 + second
    return kind, np.float64(seconds * 1_000_000 + micros)


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
