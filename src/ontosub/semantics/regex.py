"""REGEX and REPLACE: patterns of `ontosub.languages.regex`, searched anywhere in a text."""

from __future__ import annotations

import re
from functools import lru_cache

from ontosub.languages import regex
from ontosub.languages.regex import LONGEST_PATTERN, InvalidPattern, Pattern
from ontosub.semantics.budget import Budget
from ontosub.semantics.faults import ExpressionError

_CACHED_PATTERNS = 256


_COMPILATION_STEPS = 100
"""What compiling a pattern costs, besides a step for each of its characters."""

_MATCH_STEPS = 10
"""What finding one match costs, besides reading the text."""

_SMALL_PROGRAM = 12
"""RE2 turns a program of so few instructions into an automaton that fits its memory. With a larger one it may have to
follow each instruction at each character."""

_SMALL_FACTOR = 4
_LARGE_FACTOR = 10
"""How much more than reading a character it costs to search it: with a small program, or for each instruction."""


def compile_pattern(pattern: str, flags: str = "", *, captures: bool = False) -> Pattern:
    """Compile a pattern with flags out of `smixq`; raises ExpressionError when it is not valid."""
    try:
        return regex.compile_pattern(pattern, flags, captures=captures)
    except InvalidPattern as error:
        raise ExpressionError(f"the pattern is not valid: {error}") from None


@lru_cache(maxsize=_CACHED_PATTERNS)
def _compiled(pattern: str, flags: str, captures: bool) -> Pattern | None:
    try:
        return compile_pattern(pattern, flags, captures=captures)
    except ExpressionError:
        return None


def _pattern(pattern: str, flags: str, *, captures: bool = False) -> Pattern:
    # A pattern that is too long is not even remembered.
    compiled = _compiled(pattern, flags, captures) if len(pattern) <= LONGEST_PATTERN else None
    if compiled is None:
        raise ExpressionError("the pattern is not valid")
    return compiled


def matches(text: str, pattern: str, flags: str = "") -> bool:
    """Say whether the pattern is found in the text; raises ExpressionError when it is not valid.

    >>> matches("Passau", "^pass", "i")
    True
    """
    return _pattern(pattern, flags).search(text) is not None


def spend_search(budget: Budget, known: set[str], text: str, pattern: str, flags: str = "") -> None:
    """Spend what one search costs; a pattern that is not yet known is compiled first, and known then."""
    if pattern not in known:
        budget.spend(_COMPILATION_STEPS + len(pattern))
        known.add(pattern)
    budget.read(len(text) * _factor(_pattern(pattern, flags)))


def _factor(compiled: Pattern) -> int:
    size = compiled.programsize
    return _SMALL_FACTOR if size <= _SMALL_PROGRAM else _LARGE_FACTOR * size


def replace(budget: Budget, text: str, pattern: str, template: str, flags: str = "") -> str:
    r"""Return the text with each match of the pattern replaced (XPath's fn:replace).

    In the template, `$1` stands for what the first group has caught, `$0` for the match, `\$` and `\\` for themselves;
    with the flag `q` it stands for itself. What is spent here comes on top of a first search.

    Raises ExpressionError when the pattern or the template is not valid, or the pattern matches the empty string.

    >>> replace(Budget(), "abc", "(b)", "[$1]")
    'a[b]c'
    """
    compiled = _pattern(pattern, flags, captures=True)
    if compiled.search("") is not None:
        raise ExpressionError("the pattern matches the empty string")
    parts = [template] if "q" in flags else _template_parts(template, compiled.groups)
    again = 0 if "q" in flags or _is_sequence(pattern) else _factor(compiled)
    pieces: list[str] = []
    end = 0
    for match in compiled.finditer(text):
        budget.spend(_MATCH_STEPS)
        budget.read(again * (len(text) - end))
        _append(budget, pieces, text[end : match.start()])
        for part in parts:
            _append(budget, pieces, part if isinstance(part, str) else match.group(part) or "")
        end = match.end()
    _append(budget, pieces, text[end:])
    return "".join(pieces)


def _append(budget: Budget, pieces: list[str], piece: str) -> None:
    if piece:
        budget.spend()
        budget.hold(len(piece))
        pieces.append(piece)


_NO_OPERATOR = re.compile(r"\\.|\[\^?\]?[^\]]*\]|\s", re.DOTALL)
_CHOICE = re.compile(r"\||\)[?*+{]")


def _is_sequence(pattern: str) -> bool:
    """Say whether a pattern has no alternatives and no group that is repeated or left out.

    Then all matches together are found in one reading: where a search reads beyond the match that it finds, no other
    match lies. With alternatives each search may read all that is left of the text, as `a|a.*b` does where no b is.
    """
    return _CHOICE.search(_NO_OPERATOR.sub("", pattern)) is None


_TEMPLATE_PART = re.compile(r"\\([\\$])|\$([0-9]+)|([^\\$]+)|(.)", re.DOTALL)


def _template_parts(template: str, groups: int) -> list[str | int]:
    """Return a template as texts and numbers of groups."""
    parts: list[str | int] = []
    for escaped, digits, plain, wrong in _TEMPLATE_PART.findall(template):
        if wrong:
            raise ExpressionError("the replacement is not valid: write \\\\ and \\$ for a backslash and a dollar")
        parts += _group_parts(digits, groups) if digits else [escaped or plain]
    return parts


def _group_parts(digits: str, groups: int) -> list[str | int]:
    """Return the group that digits stand for, and those that are left: as many belong to it as name a group."""
    length = next((n for n in range(min(len(digits), 4), 1, -1) if int(digits[:n]) <= groups), 1)
    number, rest = int(digits[:length]), digits[length:]
    return [*([number] if number <= groups else []), *([rest] if rest else [])]
