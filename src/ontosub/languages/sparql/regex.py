"""Regular expressions as XPath writes them and RE2 runs them."""

from __future__ import annotations

import re

import re2

from ontosub.languages.prologue import Fault

FLAGS = frozenset("smixq")
_CLASS_OR_SPACE = re.compile(r"(\\.)|(\[\^?\]?(?:[^\]\\]|\\.)*\])|[ \t\r\n]+", re.DOTALL)


def check_flags(flags: str) -> None:
    """Refuse flags that XPath does not know."""
    if unknown := sorted(set(flags) - FLAGS):
        hint = "The flags are s (dot matches all), m (multi-line), i (ignore case), x (ignore spaces) and q (quote)."
        raise Fault(f'unknown regular expression flag "{unknown[0]}"', hint)


def check_pattern(pattern: str, flags: str = "") -> None:
    """Refuse a pattern that cannot be run in linear time, or not at all."""
    if "q" in flags:
        return
    if "x" in flags:
        pattern = _CLASS_OR_SPACE.sub(lambda match: match[1] or match[2] or "", pattern)
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options=options)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error.args[0])
        raise Fault(f"invalid regular expression: {reason}", _hint(reason)) from None


def _hint(reason: str) -> str:
    if "perl operator" in reason or "escape" in reason:
        return "Back references and look-around are not available, because patterns must run in linear time (RE2)."
    return 'Mend its brackets and repetitions, or let the flag "q" take every character as it is.'
