"""Durations as people write them: `90s`, `10 min`, `1 h 30 min`, and as ISO 8601 does: `PT10M`."""

from __future__ import annotations

import re
from datetime import timedelta

from ontosub.languages.prologue import Fault, shown
from ontosub.model.composite import WINDOW_MAX

_UNITS = {
    **dict.fromkeys(("us", "microsecond", "microseconds"), timedelta(microseconds=1)),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), timedelta(milliseconds=1)),
    **dict.fromkeys(("s", "sec", "second", "seconds"), timedelta(seconds=1)),
    **dict.fromkeys(("min", "minute", "minutes"), timedelta(minutes=1)),
    **dict.fromkeys(("h", "hour", "hours"), timedelta(hours=1)),
    **dict.fromkeys(("d", "day", "days"), timedelta(days=1)),
    **dict.fromkeys(("w", "week", "weeks"), timedelta(weeks=1)),
}
_AMOUNT = r"[0-9]{1,18}(?:\.[0-9]{1,9})?"
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_PLAIN = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<parts>{_AMOUNT}\s*(?:{_UNIT})(?![\w])(?:\s*{_AMOUNT}\s*(?:{_UNIT})(?![\w]))*)"
)
_PART = re.compile(rf"({_AMOUNT})\s*({_UNIT})")
_ISO = re.compile(
    rf"(?P<sign>[+-]?)P(?=[0-9T])(?:(?P<w>{_AMOUNT})W)?(?:(?P<d>{_AMOUNT})D)?"
    rf"(?:T(?=[0-9])(?:(?P<h>{_AMOUNT})H)?(?:(?P<min>{_AMOUNT})M)?(?:(?P<s>{_AMOUNT})S)?)?(?![\w])"
)
_WRITTEN = re.compile(r"[+-]?\s*[\w.]+(?:\s+[A-Za-z]+)?")
HINT = "Write for example 90s, 10 min, 1 h 30 min, 2 days or PT10M."


def read_duration(text: str, start: int = 0, *, or_nothing: bool = False) -> tuple[timedelta, int]:
    """Return the duration that is written at an offset of a text, and where it ends.

    Raises Fault when none is written there, when it is longer than `WINDOW_MAX`, and, unless it may be nothing, when it
    is not longer than that.
    """
    iso, plain = _ISO.match(text, start), _PLAIN.match(text, start)
    found = iso or plain
    if found is None:
        written = _WRITTEN.match(text, start)
        raise Fault(f'"{shown(written[0] if written else text[start : start + 1])}" is no duration', HINT)
    amounts = _iso_amounts(iso) if iso else [(number, unit) for number, unit in _PART.findall(found["parts"])]
    try:
        duration = sum((_UNITS[unit] * float(number) for number, unit in amounts), timedelta())
    except OverflowError:
        duration = WINDOW_MAX * 2
    if found["sign"] == "-":
        raise Fault(f"the duration {shown(found[0])} is negative", "It is a length of time: leave out the minus.")
    if not duration and not or_nothing:
        raise Fault(f"the duration {shown(found[0])} is nothing", "For events at the same time, use parallel.")
    if duration > WINDOW_MAX:
        hint = f"At most {WINDOW_MAX.days:,} days are allowed: what is held is kept so long."
        raise Fault(f"the duration {shown(found[0])} is absurd", hint)
    return duration, found.end()


def _iso_amounts(found: re.Match[str]) -> list[tuple[str, str]]:
    return [(found[unit], unit) for unit in ("w", "d", "h", "min", "s") if found[unit]]


def parse_duration(text: str, *, or_nothing: bool = False) -> timedelta:
    """Return the duration that a text spells, which may be `0s` only if that is said; raises Fault.

    >>> parse_duration("1 h 30 min") == parse_duration("PT90M") == timedelta(minutes=90)
    True
    """
    duration, end = read_duration(text.strip(), or_nothing=or_nothing)
    if end != len(text.strip()):
        raise Fault(f'"{shown(text)}" is no duration', HINT)
    return duration


_PRINTED = (
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("min", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
)


def duration_text(duration: timedelta) -> str:
    """Return the duration in its units, the largest first.

    >>> duration_text(timedelta(seconds=5400.5))
    '1 h 30 min 500 ms'
    """
    rest = duration // timedelta(microseconds=1)
    parts = []
    for unit, size in _PRINTED:
        amount, rest = divmod(rest, size)
        if amount:
            parts.append(f"{amount} {unit}")
    return " ".join(parts)
