"""JSON-LD contexts: never fetched, and bounded in the work they cause.

Two shapes of context are dangerous to a processor that follows the JSON-LD algorithms to the letter: definitions that
lean on each other in a long chain (a deep recursion), and large contexts that are entered in many places (quadratic
copying). Both are counted here before the parser sees the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ontosub.formats import json_text
from ontosub.formats.limits import Limits
from ontosub.formats.source import Source
from ontosub.model.errors import LimitError

_CHAIN_MAX = 500
"""How many terms of a context may be used in the definition of others. The parser's stack holds a few thousand."""


def check(source: Source, limits: Limits, beside: Census | None = None) -> Any:
    """Return the value of a JSON-LD text that is safe to parse, under a context beside it if there is one.

    Raises FormatError when a context would have to be fetched, LimitError when contexts are too costly.
    """
    value = json_text.load(source, limits)
    census = survey(value)
    if census.remote:
        raise source.fault_in(
            f"the context {census.remote[0]} lies elsewhere",
            source.find(f'"{census.remote[0]}"'),
            hint="Nothing is fetched: write the context into the payload, or give it beside the payload as context=.",
        )
    if beside is not None:
        census = census.under(beside)
    if census.leaned_on > _CHAIN_MAX:
        raise LimitError(f"more than {_CHAIN_MAX} terms of a JSON-LD context are used in the definitions of others")
    limits.check(
        "context_work", census.work, "JSON-LD contexts cause {} steps (terms times the places they are copied to)"
    )
    return value


@dataclass(frozen=True, slots=True)
class Census:
    """What the contexts of a document define and cost.

    `copied` counts, for each place where a context stands, the terms that are known there.
    """

    remote: tuple[str, ...]
    definitions: int
    leaned_on: int
    contexts: int
    copied: int
    scoped: bool
    places: int

    @property
    def work(self) -> int:
        """How many terms are copied at most. Contexts that are scoped to terms may be entered at every node."""
        return self.definitions * (self.contexts + self.places) if self.scoped else self.copied

    def under(self, context: Census) -> Census:
        """Return the census of the same document under a further context."""
        return Census(
            (*context.remote, *self.remote),
            context.definitions + self.definitions,
            context.leaned_on + self.leaned_on,
            context.contexts + self.contexts,
            context.copied + self.copied + self.contexts * context.definitions,
            context.scoped or self.scoped,
            self.places,
        )


def survey(value: Any) -> Census:
    """Count the contexts in a JSON value."""
    contexts: list[Any] = []
    copied = places = 0
    for part, known in _walk(value):
        places += 1
        if isinstance(part, dict) and "@context" in part:
            contexts.extend(_contexts(part))
            copied += known
    tables = [context for context in contexts if isinstance(context, dict)]
    imports = [table["@import"] for table in tables if isinstance(table.get("@import"), str)]
    terms = {term for table in tables for term in table}
    used = {text for table in tables for item in table.items() for text in _leant_on(*item)}
    return Census(
        (*(context for context in contexts if isinstance(context, str)), *imports),
        sum(map(len, tables)),
        len(used & terms),
        len(contexts),
        copied,
        any("@context" in item for table in tables for item in table.values() if isinstance(item, dict)),
        places,
    )


def _walk(value: Any) -> Iterator[tuple[Any, int]]:
    """Yield every object and text in a JSON value, with the number of terms that the contexts around it define."""
    waiting = [(value, 0)]
    while waiting:
        part, known = waiting.pop()
        if isinstance(part, dict):
            known += sum(len(context) for context in _contexts(part) if isinstance(context, dict))
            waiting.extend((member, known) for member in part.values())
        elif isinstance(part, list):
            waiting.extend((element, known) for element in part)
        if isinstance(part, dict | str):
            yield part, known


def _contexts(node: dict[str, Any]) -> list[Any]:
    context = node.get("@context", [])
    return context if isinstance(context, list) else [context]


def _leant_on(term: str, definition: Any) -> Iterator[str]:
    """Yield the terms that a definition may need: those its texts, and its own name, are or start with."""
    if ":" in term:
        yield term.partition(":")[0]
    for value in definition.values() if isinstance(definition, dict) else [definition]:
        if isinstance(value, str):
            yield value
            yield value.partition(":")[0]
