"""Reading many similar texts: the first two of a kind in full, the others from a template.

A text is a *skeleton* (its tokens, with constants reduced to their kind) and its constants. Whatever is doubtful
about an instance makes the cache read it in full, so subscriptions and errors are the same as without a cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ontosub.languages.prologue import Prologue
from ontosub.languages.sparql.core import compile_query
from ontosub.languages.sparql.parser import parse_query
from ontosub.languages.sparql.source import Source
from ontosub.languages.sparql.templates import CONSTANTS, MARK, Layout, Template, build_template
from ontosub.languages.sparql.tokens import TOKEN, tokenize
from ontosub.model.subscription import Subscription

Prefixes: TypeAlias = Mapping[str, str] | None
_Key: TypeAlias = tuple[tuple[str, ...], tuple[tuple[str, str], ...] | None, str | None]

TEXT_MAX = 10_000
"""Longer texts are read in full: their skeletons would fill the memory."""

_KINDS = {kind: f"\0{kind}" for kind in CONSTANTS}
"""What stands for a constant in a skeleton. No other token of a valid text holds a zero character."""


def read_in_full(text: str, id: str, prefixes: Prefixes = None, base: str | None = None) -> Subscription:
    """Return the subscription of a text, without any cache."""
    return compile_query(parse_query(text, prefixes, base), Source(text)).subscription(id, text)


@dataclass(slots=True)
class Reduced:
    """A text parted into skeleton and constants."""

    skeleton: tuple[str, ...]
    constants: list[str]
    layout: Layout


def reduce_text(text: str) -> Reduced | None:
    """Return the text in parts, or None when it does not even consist of tokens."""
    skeleton = []
    constants = []
    matches = []
    for match in TOKEN.finditer(text):
        kind = match.lastgroup or "END"
        mark = _KINDS.get(kind)
        if mark is not None:
            skeleton.append(mark)
            constants.append(match[kind])
        elif kind == "BAD":
            return None
        elif kind != "END":
            skeleton.append(match[kind])
        matches.append(match)
    return Reduced(tuple(skeleton), constants, Layout(text, matches))


@dataclass(slots=True)
class _Family:
    """The texts of one skeleton: which constants must be equal to share a template, and the templates."""

    fixed: tuple[int, ...] = ()
    templates: dict[tuple[str, ...], Template] = field(default_factory=dict)

    def variant(self, constants: list[str]) -> tuple[str, ...]:
        return tuple([constants[each] for each in self.fixed])


class Cache:
    """A bounded memory of templates; the skeletons used last are kept."""

    def __init__(self, capacity: int = 1024, variants: int = 64) -> None:
        self._capacity = capacity
        self._variants = variants
        self._families: dict[_Key, _Family | None] = {}
        self.hits = 0

    def subscription(self, text: str, id: str, prefixes: Prefixes = None, base: str | None = None) -> Subscription:
        """Return the subscription of a text.

        Raises LanguageError and LimitError as `read_in_full` does.
        """
        fits = len(text) <= TEXT_MAX and MARK not in text and _is_encodable(text)
        reduced = reduce_text(text) if fits else None
        if reduced is None:
            return read_in_full(text, id, prefixes, base)
        key = (reduced.skeleton, tuple(prefixes.items()) if prefixes else None, base)
        seen = key in self._families
        family = self._families.pop(key, None)
        if family is not None:
            self._families[key] = family
            template = family.templates.get(family.variant(reduced.constants))
            if template is not None:
                try:
                    filled = template.fill(reduced.constants, reduced.layout, id, text)
                except ValueError:
                    return read_in_full(text, id, prefixes, base)
                self.hits += 1
                return filled
        subscription = read_in_full(text, id, prefixes, base)
        if seen:
            self._families[key] = family
            self._remember(key, subscription, reduced)
        else:
            self._notice(key)
        return subscription

    def _notice(self, key: _Key) -> None:
        """Remember that a skeleton was seen once: a template pays off from the second time on."""
        self._families[key] = None
        while len(self._families) > self._capacity:
            self._families.pop(next(iter(self._families)), None)

    def _remember(self, key: _Key, subscription: Subscription, reduced: Reduced) -> None:
        """Make a template of a text that was read in full, and keep it."""
        text = subscription.text or ""
        source = Source(text)
        template, fixed = build_template(source, tokenize(source), Prologue(dict(key[1] or ()), key[2]))
        again = template.fill(reduced.constants, reduced.layout, subscription.id, text)
        # An escape could spell the mark, and a template that does not even give back its own text is wrong.
        if any("\\" in reduced.constants[each] for each in fixed) or again != subscription:
            return
        family = self._families.get(key) or _Family(tuple(sorted(fixed)))
        if len(family.templates) >= self._variants:
            family.templates.clear()
        family.templates[family.variant(reduced.constants)] = template
        self._families[key] = family


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
