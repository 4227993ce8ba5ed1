"""JSON read safely: bounded depth, faults with line and column, and the place of each member in the text."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from ontosub.formats.limits import Limits
from ontosub.formats.source import Source
from ontosub.model.errors import Span

_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")


def load(source: Source, limits: Limits) -> Any:
    """Return the value of a JSON text. Numbers are floats, however many digits they have: nobody here computes.

    Raises FormatError when the text is malformed, LimitError when it is nested too deeply.
    """
    _check_depth(source.text, limits)

    def refused(name: str) -> Any:
        raise source.fault_in(f"{name} is not JSON", source.find(name), hint="Leave the member out, or send null.")

    try:
        return json.loads(source.text, parse_int=float, parse_constant=refused)
    except json.JSONDecodeError as error:
        hint = "Send one JSON value; JSON lines hold one on each line." if error.msg == "Extra data" else None
        message = error.msg[0].lower() + error.msg[1:].replace("Expecting", "expecting")
        raise source.fault(message, error.pos, hint=hint) from None


def _check_depth(text: str, limits: Limits) -> None:
    """Raise LimitError when brackets nest too deeply. A loop and not a recursion, so that depth costs no stack."""
    if text.count("[") + text.count("{") <= limits.depth:
        return
    depth = 0
    for token in _BRACKET.finditer(text):
        first = text[token.start()]
        if first in "[{":
            depth += 1
            limits.check("depth", depth, "JSON is nested {} deep")
        elif first in "]}":
            depth -= 1


class Entry(NamedTuple):
    """A value inside a JSON object or array, and where its text lies."""

    value: Any
    source: Source


_decode = json.JSONDecoder(parse_int=float).raw_decode


def entries(source: Source) -> dict[str, Entry]:
    """Return the members of an object that `load` has accepted."""
    found, at = {}, _skip(source.text, 0) + 1
    while source.text[at := _skip(source.text, at)] != "}":
        key, at = _decode(source.text, at)
        at = _skip(source.text, _skip(source.text, at) + 1)
        value, end = _decode(source.text, at)
        found[key] = Entry(value, source.part(at, end))
        at = _after(source.text, end)
    return found


def items(source: Source) -> list[Entry]:
    """Return the elements of an array that `load` has accepted."""
    found, at = [], _skip(source.text, 0) + 1
    while source.text[at := _skip(source.text, at)] != "]":
        value, end = _decode(source.text, at)
        found.append(Entry(value, source.part(at, end)))
        at = _after(source.text, end)
    return found


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _after(text: str, at: int) -> int:
    """Return the place behind the comma that follows, or of the closing bracket."""
    at = _skip(text, at)
    return at + 1 if text[at] == "," else at


_SCALAR = re.compile(r'"(?:[^"\\]++|\\.)*+"|-?[0-9][0-9.eE+-]*|true|false')
_IS_KEY = re.compile(r"\s*:")


def find_scalar(source: Source, value: str) -> Span | None:
    """Return where the first string, number or truth value with this text is; numbers may be spelled differently."""
    number = _number(value)
    for scalar in _SCALAR.finditer(source.text):
        if not _IS_KEY.match(source.text, scalar.end()) and _says(scalar[0], value, number):
            return Span.of(source.text, *scalar.span())
    return None


def _says(scalar: str, value: str, number: float | None) -> bool:
    if scalar.startswith('"'):
        return bool(json.loads(scalar) == value)
    return scalar == value or (number is not None and _number(scalar) == number)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
