"""Subscriptions: what a subscriber wants to hear of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ontosub.model import readers
from ontosub.model.errors import UsageError
from ontosub.model.pattern import GraphPattern, TemplateTriple


@dataclass(frozen=True, slots=True)
class Subscription:
    """A standing query.

    `patterns` are alternatives: an event matches when one of them does, and the answers are those of all of them.
    With a `residual` they are only a necessary condition (the core), and the residual, a SPARQL query, decides on the
    entailed event graph and gives the answers. When `core_decides`, the residual has an answer whenever the core
    matches: who only asks whether an event matches need not look at it. Answers of a `distinct` subscription have no
    duplicates. `template` is what CONSTRUCT builds from each answer; it is empty for everything else.
    """

    id: str
    patterns: tuple[GraphPattern, ...]
    residual: str | None = None
    distinct: bool = False
    template: tuple[TemplateTriple, ...] = ()
    language: str | None = field(default=None, compare=False)
    text: str | None = field(default=None, compare=False)
    core_decides: bool = False

    def __post_init__(self) -> None:
        if not self.id:
            raise UsageError("a subscription needs an id that is not empty")
        if not _is_unicode(self.id):
            raise UsageError(f"the subscription's id {self.id!r} is no text: it has half of a surrogate pair in it")
        if not self.patterns:
            raise UsageError(f"the subscription {self.id!r} has no pattern")

    @classmethod
    def parse(
        cls,
        text: str,
        language: str = "sparql",
        *,
        id: str | None = None,
        prefixes: Mapping[str, str] | None = None,
        rules: Mapping[str, Subscription] | None = None,
    ) -> Subscription:
        """Read a subscription from its text in one of the languages "sparql", "ops" and "mdv".

        Without an `id` it gets a digest of its language and text. `prefixes` are known in addition to those that the
        text declares. `rules` are what an MDV rule may extend, by name.

        Raises LanguageError, with position and hint, when the text is malformed.
        """
        return readers.get("subscription.parse")(text, language, id=id, prefixes=prefixes, rules=rules)  # type: ignore[no-any-return]


def _is_unicode(text: str) -> bool:
    """Say whether the text can be written in UTF-8, as whoever is told of a match does."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
