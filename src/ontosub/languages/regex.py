"""XPath's regular expressions in RE2's syntax: the one dialect in which patterns are checked and run.

RE2 works in time linear in the text, because a subscriber's pattern is untrusted. XPath's syntax is rewritten where
the two differ: `\\d`, `\\w`, `\\s`, `\\i`, `\\c` and their opposites mean XPath's classes; `\\p{…}` outside of
brackets does not follow the flag `i`. Back-references, class subtraction (`[a-z-[aeiou]]`) and Unicode blocks
(`\\p{IsGreek}`) cannot be run, and make the pattern invalid. What RE2 knows beyond XPath, such as `\\b` and `(?:…)`,
is let through. With the flag `m`, `^` also matches behind a line feed that ends the text, where XPath's does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol, cast

import re2

from ontosub.model.xml_names import NAME, NAME_START, Ranges, complement

MEMORY_BYTES = 1 << 20
"""What one compiled pattern may use. RE2 refuses a pattern that needs more, and searches more slowly near the limit."""

LONGEST_PATTERN = 10_000
"""The longest pattern that is accepted, in characters."""

FLAGS = frozenset("smixq")
_XML_SPACE: Ranges = ((0x9, 0xA), (0xD, 0xD), (0x20, 0x20))


class InvalidPattern(ValueError):
    """A pattern, or its flags, that cannot be run; the message says why."""


class Match(Protocol):
    """Where a pattern was found."""

    def start(self) -> int:
        """Return where the match starts."""

    def end(self) -> int:
        """Return where the match ends."""

    def group(self, group: int, /) -> str | None:
        """Return what a group has caught, None if it took no part; group 0 is the match."""


class Pattern(Protocol):
    """A compiled pattern, as `re2.compile` returns it."""

    @property
    def programsize(self) -> int:
        """How many instructions it has."""

    @property
    def groups(self) -> int:
        """How many groups it has."""

    def search(self, text: str) -> object | None:
        """Return a match anywhere in the text, or None."""

    def finditer(self, text: str) -> Iterator[Match]:
        """Yield the matches that do not overlap, from left to right."""


def compile_pattern(pattern: str, flags: str = "", *, captures: bool = False) -> Pattern:
    """Compile an XPath pattern with flags out of `smixq`; raises InvalidPattern when it cannot be run.

    What groups catch is known with `captures` only, since searching is then slower.
    """
    if unknown := sorted(set(flags) - FLAGS):
        raise InvalidPattern(f'unknown flag "{unknown[0]}"')
    if len(pattern) > LONGEST_PATTERN:
        raise InvalidPattern(f"longer than {LONGEST_PATTERN:,} characters")
    options = re2.Options()
    options.max_mem = MEMORY_BYTES
    options.log_errors = False
    options.never_capture = not captures
    options.case_sensitive = "i" not in flags
    if "q" in flags:
        options.literal = True
    else:
        prefix = "".join(flag for flag in "sm" if flag in flags)
        pattern = (f"(?{prefix})" if prefix else "") + _translate(pattern, drop_space="x" in flags)
    try:
        return cast("Pattern", re2.compile(pattern, options))
    except re2.error as error:
        reason = error.args[0]
        raise InvalidPattern(reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)) from None
    except UnicodeError:
        raise InvalidPattern("a lone surrogate is no character") from None


def _ranges_text(ranges: Ranges) -> str:
    return "".join(rf"\x{{{low:X}}}-\x{{{high:X}}}" for low, high in ranges)


_CLASSES = {
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "w": r"\p{L}\p{M}\p{N}\p{S}",
    "W": r"\p{P}\p{Z}\p{C}",
    "s": _ranges_text(_XML_SPACE),
    "S": _ranges_text(complement(_XML_SPACE)),
    "i": _ranges_text(NAME_START),
    "I": _ranges_text(complement(NAME_START)),
    "c": _ranges_text(NAME),
    "C": _ranges_text(complement(NAME)),
}
"""XPath's multi-character escapes, as they stand inside of brackets."""

_PIECE = re.compile(
    r"\\[pP]\{(?P<property>[^}]*)\}|\\(?P<escape>.)|(?P<open>\[\^?)|(?P<close>\])|(?P<space>[ \t\n\r])|.", re.DOTALL
)


def _translate(pattern: str, *, drop_space: bool) -> str:
    """Return the XPath pattern in RE2's syntax; with `drop_space` without the white space outside of brackets."""
    pieces: list[str] = []
    in_class = False
    for piece in _PIECE.finditer(pattern):
        if piece["open"] and in_class:
            raise InvalidPattern("a character class inside a character class")
        if drop_space and piece["space"] and not in_class:
            continue
        pieces.append(_translate_piece(piece, in_class))
        in_class = bool(piece["open"]) or (in_class and not piece["close"])
    return "".join(pieces)


def _translate_piece(piece: re.Match[str], in_class: bool) -> str:
    if members := _CLASSES.get(piece["escape"]):
        return members if in_class else f"[{members}]"
    if piece["property"] and not in_class:
        return f"(?-i:{piece[0]})"
    return piece[0]
