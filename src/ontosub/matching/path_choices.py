"""Paths with a choice, rewritten so that every way counts.

SPARQL gives an answer of `?a :p|:q ?b` once for each way that leads to it; Oxigraph gives it once. As a UNION both
count alike.
"""

from __future__ import annotations

from ontosub.languages.sparql.syntax import (
    Alternative,
    Block,
    Element,
    Group,
    Inverse,
    Occurrence,
    Path,
    Query,
    Sequence,
    TriplePattern,
    Union,
)
from ontosub.matching.rewriting import Rewriting


def with_path_choices(query: Query) -> Query:
    """Return the query with every path that has a choice outside of repetitions as a UNION."""
    return _PathChoices().of(query)


def _has_choice(path: Path) -> bool:
    match path:
        case Alternative():
            return True
        case Inverse(inner):
            return _has_choice(inner)
        case Sequence(steps):
            return any(map(_has_choice, steps))
        case _:
            # What is repeated is a set of pairs, by however many ways they are joined.
            return False


class _PathChoices(Rewriting):
    def concerns(self, triple: TriplePattern) -> bool:
        return _has_choice(triple.verb)

    def replacement(self, triple: TriplePattern) -> list[Element]:
        return self._steps(triple.subject, triple.verb, triple.object)

    def _steps(self, start: Occurrence, path: Path, end: Occurrence) -> list[Element]:
        match path:
            case Inverse(inner) if _has_choice(inner):
                return self._steps(end, inner, start)
            case Alternative(choices):
                return [Union(tuple(Group(tuple(self._steps(start, choice, end))) for choice in choices))]
            case Sequence(steps) if _has_choice(path):
                ends = [start, *(Occurrence(self.fresh()) for _ in steps[1:]), end]
                return [
                    element for at, step in enumerate(steps) for element in self._steps(ends[at], step, ends[at + 1])
                ]
            case _:
                return [Block((TriplePattern(start, path, end),))]
