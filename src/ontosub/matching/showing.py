"""How an explanation shows terms: briefly, unless two different ones would then look alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ontosub.model import GraphPattern
from ontosub.model.terms import Term, Variable, written
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.wording import term_text

Show: TypeAlias = Callable[[Term | Variable], str]

_LISTED_MAX = 5
_FULL_LENGTH_MAX = 200


def telling_apart(patterns: Iterable[GraphPattern], graph: EventGraph) -> Show:
    """Return how to show the terms of the patterns and the event graph, so that different ones look different."""
    terms: set[Term | Variable] = {*graph.vertices, *graph.by_predicate}
    for classes in graph.types.values():
        terms |= classes
    for pattern in patterns:
        terms.update(vertex.term for vertex in pattern.vertices)
        terms.update(class_ for vertex in pattern.vertices for class_ in vertex.classes)
        terms.update(arc.property for arc in pattern.arcs)
    looks = Counter(map(term_text, terms))
    return _Showing(frozenset(text for text, count in looks.items() if count > 1))


@dataclass(frozen=True, slots=True)
class _Showing:
    """Shows terms briefly, unless what would be shown is ambiguous."""

    ambiguous: frozenset[str]

    def __call__(self, term: Term | Variable) -> str:
        brief = term_text(term)
        if brief not in self.ambiguous:
            return brief
        text = written(term)
        return text if len(text) <= _FULL_LENGTH_MAX else f"{text[: _FULL_LENGTH_MAX - 1]}…"


def listed(terms: Iterable[Term], show: Show) -> str:
    """Return the terms in a row, each once; of many, only the first few."""
    texts = sorted({show(term) for term in terms})
    more = len(texts) - _LISTED_MAX
    return ", ".join(texts) if more <= 0 else f"{', '.join(texts[:_LISTED_MAX])} and {more} more"
