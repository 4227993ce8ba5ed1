"""How badly a query can multiply: the number of parts that nothing joins, and how much its strings can grow.

Oxigraph cannot be stopped in the middle of an evaluation, so a query whose unjoined parts would multiply beyond reason
on an event must be given up before it starts; and one that doubles a string again and again must not be taken in.
"""

from __future__ import annotations

from collections.abc import Iterator

from ontosub.languages.sparql.syntax import (
    Block,
    Builtin,
    Graph,
    Group,
    Occurrence,
    Optional,
    Query,
    TriplePattern,
    walk,
)
from ontosub.model.terms import BlankNode, Literal, Variable

Name = Variable | BlankNode


def spread_of(query: Query) -> int:
    """Return how many parts, at most, are combined freely in the query or in one of its subqueries.

    Its solutions are then at most as many as the triples of the event to that power, as far as unjoined parts go.
    """
    groups = [node for node in walk(query) if isinstance(node, Group)]
    return max((_parts(list(_triples(group))) for group in groups), default=0)


def growth_of(query: Query) -> int:
    """Return by how much, at most, a chain of the query's string functions can lengthen a string."""
    growth = 1
    for call in walk(query):
        if isinstance(call, Builtin) and call.name in ("CONCAT", "REPLACE"):
            growth *= max(1, len(call.arguments)) if call.name == "CONCAT" else _replacement_growth(call)
    return growth


def _replacement_growth(call: Builtin) -> int:
    """Return how long the replacement of one character can be; one that the query computes could be of any length."""
    replacement = call.arguments[2] if len(call.arguments) > 2 else None
    if isinstance(replacement, Occurrence) and isinstance(replacement.term, Literal):
        return max(1, len(replacement.term.value))
    return _UNKNOWN_LENGTH


_UNKNOWN_LENGTH = 100


def _triples(group: Group) -> Iterator[TriplePattern]:
    """Yield the triples that a group joins. Branches of a UNION and subqueries are groups of their own."""
    for element in group.elements:
        if isinstance(element, Block):
            yield from element.triples
        elif isinstance(element, Group):
            yield from _triples(element)
        elif isinstance(element, Optional | Graph) and isinstance(element.pattern, Group):
            yield from _triples(element.pattern)


def _parts(triples: list[TriplePattern]) -> int:
    """Count the groups of triples that share no variable, directly or through others."""
    parts: list[set[Name]] = []
    for triple in triples:
        names = {node.term for node in walk(triple) if isinstance(node, Occurrence) and isinstance(node.term, Name)}
        if names:
            joined = [part for part in parts if part & names]
            parts = [part for part in parts if not part & names]
            parts.append(names.union(*joined))
    return len(parts)
