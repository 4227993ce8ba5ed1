"""REGEX: patterns of `ontosub.languages.regex`, searched anywhere in a text."""

from __future__ import annotations

from functools import lru_cache

from ontosub.languages import regex
from ontosub.languages.regex import LONGEST_PATTERN, InvalidPattern, Pattern
from ontosub.semantics.faults import ExpressionError

_CACHED_PATTERNS = 256


def compile_pattern(pattern: str, flags: str = "") -> Pattern:
    """Compile a pattern with flags out of `smixq`; raises ExpressionError when it is not valid."""
    try:
        return regex.compile_pattern(pattern, flags)
    except InvalidPattern as error:
        raise ExpressionError(f"the pattern is not valid: {error}") from None


@lru_cache(maxsize=_CACHED_PATTERNS)
def _compiled(pattern: str, flags: str) -> Pattern | None:
    try:
        return compile_pattern(pattern, flags)
    except ExpressionError:
        return None


def matches(text: str, pattern: str, flags: str = "") -> bool:
    """Say whether the pattern is found in the text; raises ExpressionError when it is not valid.

    >>> matches("Passau", "^pass", "i")
    True
    """
    # A pattern that is too long is not even remembered.
    compiled = _compiled(pattern, flags) if len(pattern) <= LONGEST_PATTERN else None
    if compiled is None:
        raise ExpressionError("the pattern is not valid")
    return compiled.search(text) is not None
