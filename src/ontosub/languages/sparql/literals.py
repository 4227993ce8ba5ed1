"""Literals as SPARQL writes them, and whether a literal is well typed.

An ill-typed constant ("abc"^^xsd:integer) equals nothing and compares with nothing, so a subscription that holds one
could never mean what its author meant: it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pyoxigraph import BaseDirection

from ontosub.languages.prologue import Fault, decode_codepoints, shown
from ontosub.model.terms import RDF, XSD, Literal, NamedNode

_INTEGER, _DECIMAL, _DOUBLE, _BOOLEAN = (XSD[name] for name in ("integer", "decimal", "double", "boolean"))
_LANG_STRING, _DIR_LANG_STRING = RDF["langString"], RDF["dirLangString"]
_DIRECTIONS = {each.value: each for each in (BaseDirection.LTR, BaseDirection.RTL)}
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", "\\": "\\", '"': '"', "'": "'"}
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|(.))", re.DOTALL)


def number(written: str) -> Literal:
    """Return a number as SPARQL types it: integer, decimal with a point, double with an exponent."""
    datatype = _DOUBLE if "e" in written or "E" in written else _DECIMAL if "." in written else _INTEGER
    return Literal(written, datatype=datatype)


def boolean(written: str) -> Literal:
    """Return a truth value; its keyword may be written in any case."""
    return Literal(written.lower(), datatype=_BOOLEAN)


def string(written: str) -> str:
    """Return what a quoted string stands for."""
    width = 3 if written.startswith(('"""', "'''")) else 1
    body = written[width:-width]
    return _ESCAPE.sub(_unescaped, body) if "\\" in body else body


def _unescaped(match: re.Match[str]) -> str:
    if match[1] is None:
        return decode_codepoints(match[0])
    if (found := _ESCAPES.get(match[1])) is None:
        hint = r"Write \\ for a backslash itself; the escapes are \t \b \n \r \f \\ \" \' \uXXXX and \UXXXXXXXX."
        raise Fault(f"{match[0]} is no escape", hint)
    return found


def tagged(value: str, tag: str) -> Literal:
    """Return a string in a language, perhaps with a direction; the tag starts with @."""
    language, separator, written = tag[1:].partition("--")
    direction = _DIRECTIONS.get(written)
    if separator and direction is None:
        raise Fault(f"{written} is no direction", f"Write @{language}--ltr or @{language}--rtl.")
    try:
        return Literal(value, language=language, direction=direction)
    except ValueError:
        raise Fault(f"{tag} is no language tag", "Language tags look like @en or @pt-BR.") from None


def typed(value: str, datatype: NamedNode) -> Literal:
    """Return a literal with a datatype, if it is well typed."""
    check_type(value, datatype)
    return Literal(value, datatype=datatype)


def check_type(value: str, datatype: NamedNode) -> None:
    """Refuse a literal whose text is not in the lexical space of its datatype, where that is known."""
    if datatype == _LANG_STRING:
        raise Fault("ill-typed literal: rdf:langString needs a language", 'Write it with a tag, as in "chat"@fr.')
    if datatype == _DIR_LANG_STRING:
        hint = 'Write it with a tag, as in "chat"@fr--ltr.'
        raise Fault("ill-typed literal: rdf:dirLangString needs a language and a direction", hint)
    space = _SPACES.get(datatype)
    if space is not None and not space[0](value):
        name = f"xsd:{datatype.value.removeprefix(XSD)}"
        raise Fault(f'ill-typed literal: "{shown(value)}" is no {name}', f"Write it as in {space[1]}.")


_Test = Callable[[str], bool]
_ZONE = r"(?:Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)"
_YEAR = r"-?(?:[1-9][0-9]{3,}|0[0-9]{3})"
_DATE = rf"(?P<year>{_YEAR})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12][0-9]|3[01])"
_TIME = r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?|24:00:00(?:\.0+)?)"
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _matches(pattern: str) -> _Test:
    compiled = re.compile(pattern)
    return lambda value: compiled.fullmatch(value) is not None


def _is_date(pattern: str) -> _Test:
    """Test for a pattern that holds a date, which must be one of the calendar."""
    compiled = re.compile(pattern)

    def test(value: str) -> bool:
        match = compiled.fullmatch(value)
        if match is None:
            return False
        # The calendar repeats every 400 years; four digits are enough of a year, however long.
        year, month, day = int(match["year"][-4:]), int(match["month"]), int(match["day"])
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return day <= _DAYS[month - 1] and (leap or (month, day) != (2, 29))

    return test


def _is_integer(least: int | None, greatest: int | None) -> _Test:
    """Test for an integer within bounds; digits beyond any bound are not even read as a number."""
    shape = re.compile(r"[+-]?[0-9]+")

    def test(value: str) -> bool:
        if shape.fullmatch(value) is None:
            return False
        digits = value.lstrip("+-0")
        magnitude = int(digits[:30] or "0") if len(digits) <= 30 else 10**30
        exact = -magnitude if value.startswith("-") else magnitude
        return (least is None or least <= exact) and (greatest is None or exact <= greatest)

    return test


def _signed(bits: int) -> _Test:
    return _is_integer(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _unsigned(bits: int) -> _Test:
    return _is_integer(0, 2**bits - 1)


_FLOAT = _matches(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")

_SPACES: dict[NamedNode, tuple[_Test, str]] = {
    XSD[name]: space
    for name, space in {
        "integer": (_is_integer(None, None), "42 or -7"),
        "nonNegativeInteger": (_is_integer(0, None), "42"),
        "positiveInteger": (_is_integer(1, None), "42"),
        "nonPositiveInteger": (_is_integer(None, 0), "-42"),
        "negativeInteger": (_is_integer(None, -1), "-42"),
        "byte": (_signed(8), "42 or -7"),
        "short": (_signed(16), "42 or -7"),
        "int": (_signed(32), "42 or -7"),
        "long": (_signed(64), "42 or -7"),
        "unsignedByte": (_unsigned(8), "42"),
        "unsignedShort": (_unsigned(16), "42"),
        "unsignedInt": (_unsigned(32), "42"),
        "unsignedLong": (_unsigned(64), "42"),
        "decimal": (_matches(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"), "3.14"),
        "float": (_FLOAT, "3.14, 1e9, INF or NaN"),
        "double": (_FLOAT, "3.14, 1e9, INF or NaN"),
        "boolean": (_matches("true|false|0|1"), "true or false"),
        "date": (_is_date(rf"{_DATE}{_ZONE}?"), "2024-05-31"),
        "dateTime": (_is_date(rf"{_DATE}T{_TIME}{_ZONE}?"), "2024-05-31T12:00:00Z"),
        "dateTimeStamp": (_is_date(rf"{_DATE}T{_TIME}{_ZONE}"), "2024-05-31T12:00:00Z"),
        "time": (_matches(rf"{_TIME}{_ZONE}?"), "12:00:00"),
        "gYear": (_matches(rf"{_YEAR}{_ZONE}?"), "2024"),
        "gYearMonth": (_matches(rf"{_YEAR}-(?:0[1-9]|1[0-2]){_ZONE}?"), "2024-05"),
    }.items()
}
