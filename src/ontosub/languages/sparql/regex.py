"""What to say of a regular expression that cannot be run."""

from __future__ import annotations

from ontosub.languages.prologue import Fault
from ontosub.languages.regex import FLAGS, InvalidPattern, compile_pattern


def check_flags(flags: str) -> None:
    """Refuse flags that XPath does not know."""
    if unknown := sorted(set(flags) - FLAGS):
        hint = "The flags are s (dot matches all), m (multi-line), i (ignore case), x (ignore spaces) and q (quote)."
        raise Fault(f'unknown regular expression flag "{unknown[0]}"', hint)


def check_pattern(pattern: str, flags: str = "") -> None:
    """Refuse a pattern that cannot be run in linear time, or not at all; the flags are known to be right."""
    try:
        compile_pattern(pattern, flags)
    except InvalidPattern as error:
        raise Fault(f"invalid regular expression: {error}", _hint(str(error))) from None


def _hint(reason: str) -> str:
    if "perl operator" in reason or "escape" in reason:
        return "Back references and look-around are not available, because patterns must run in linear time (RE2)."
    if "inside a character class" in reason:
        return "One class cannot be taken away from another here; write the characters that are left."
    return 'Mend its brackets and repetitions, or let the flag "q" take every character as it is.'
