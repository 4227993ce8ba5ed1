"""SPARQL's functions of strings. A result that is part of an argument, or made from it, keeps its language."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from urllib.parse import quote

from ontosub.model.terms import Literal, Term
from ontosub.semantics import regex
from ontosub.semantics.arguments import integer, plain_text, string
from ontosub.semantics.context import Context
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.numeric import Number, NumericType
from ontosub.semantics.values import LanguageString, literal_of

_UNRESERVED = "-_.~"
"""What ENCODE_FOR_URI leaves as it is, besides letters and digits of ASCII."""


def _like(model: Literal, text: str) -> Literal:
    """Return a string in the language of another."""
    if model.language is None:
        return Literal(text)
    return literal_of(LanguageString(text, model.language, model.direction))


def _compatible(whole: Term, part: Term) -> tuple[Literal, str, str]:
    """Return the first argument, and both texts, if the part has no language, or that of the whole."""
    first, second = string(whole), string(part)
    if second.language is not None and (first.language, first.direction) != (second.language, second.direction):
        raise ExpressionError("the strings have different languages")
    return first, first.value, second.value


def contains(whole: Term, part: Term) -> bool:
    """Say whether one string contains the other."""
    _, text, sought = _compatible(whole, part)
    return sought in text


def starts(whole: Term, part: Term) -> bool:
    """Say whether one string starts with the other."""
    _, text, sought = _compatible(whole, part)
    return text.startswith(sought)


def ends(whole: Term, part: Term) -> bool:
    """Say whether one string ends with the other."""
    _, text, sought = _compatible(whole, part)
    return text.endswith(sought)


def before(whole: Term, part: Term) -> Literal:
    """Return what stands before the other string where it is found first; a plain empty string where it is not."""
    first, text, sought = _compatible(whole, part)
    head, found, _ = text.partition(sought) if sought else ("", True, "")
    return _like(first, head) if found else Literal("")


def after(whole: Term, part: Term) -> Literal:
    """Return what stands behind the other string where it is found first; a plain empty string where it is not."""
    first, text, sought = _compatible(whole, part)
    _, found, tail = text.partition(sought) if sought else ("", True, text)
    return _like(first, tail) if found else Literal("")


def length(term: Term) -> Literal:
    """Return the number of characters."""
    return literal_of(Number(NumericType.INTEGER, len(string(term).value)))


def _recased(recase: Callable[[str], str], term: Term) -> Literal:
    found = string(term)
    return _like(found, recase(found.value))


def upper(term: Term) -> Literal:
    """Return the string in capitals."""
    return _recased(str.upper, term)


def lower(term: Term) -> Literal:
    """Return the string in small letters."""
    return _recased(str.lower, term)


def concatenation(*terms: Term) -> Literal:
    """Return the strings behind each other, in their language if all have the same one."""
    strings = [string(term) for term in terms]
    text = "".join(each.value for each in strings)
    languages = {(each.language, each.direction) for each in strings}
    return _like(strings[0], text) if len(languages) == 1 else Literal(text)


def substring(term: Term, start: Term, length: Term | None = None) -> Literal:
    """Return the characters from `start` on, which counts from 1; with a length, only those before start + length."""
    found = string(term)
    first = integer(start)
    end = len(found.value) if length is None else first - 1 + integer(length)
    return _like(found, found.value[max(0, first - 1) : max(0, end)])


def encoded_for_uri(term: Term) -> Literal:
    """Return the string with all but letters, digits and `-_.~` of ASCII percent-encoded, without a language."""
    return Literal(quote(string(term).value, safe=_UNRESERVED))


def digest(algorithm: str, term: Term) -> Literal:
    """Return the digest of a string without a language, in UTF-8, as hexadecimal digits."""
    return Literal(hashlib.new(algorithm, plain_text(term).encode(), usedforsecurity=False).hexdigest())


def language_matches(tag: Term, wanted: Term) -> bool:
    """Say whether a language is in a range, by the basic filtering of RFC 4647."""
    language, asked = plain_text(tag).lower(), plain_text(wanted).lower()
    if asked == "*":
        return language != ""
    return language == asked or language.startswith(f"{asked}-")


def matches(context: Context, text: Term, pattern: Term, flags: Term | None = None) -> bool:
    """Evaluate REGEX: say whether the pattern is found in the text."""
    searched = string(text).value, plain_text(pattern), "" if flags is None else plain_text(flags)
    regex.spend_search(context.budget, context.patterns, *searched)
    return regex.matches(*searched)


def replace(context: Context, text: Term, pattern: Term, replacement: Term, flags: Term | None = None) -> Literal:
    """Evaluate REPLACE: each match of the pattern becomes the replacement, in which `$1` is what a group has caught."""
    found = string(text)
    sought, template, chosen = plain_text(pattern), plain_text(replacement), "" if flags is None else plain_text(flags)
    context.budget.read(len(template))
    regex.spend_search(context.budget, context.patterns, found.value, sought, chosen)
    return _like(found, regex.replace(context.budget, found.value, sought, template, chosen))
