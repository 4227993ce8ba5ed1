"""Joining match tables: the step that iBroker and G-ToPSS share when they generate results.

A table is a set of rows, a result a list of mappings. A row says what the terms of one triple of a pattern stand for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from ontosub.matching.definition import Mu, image_of, variables_in
from ontosub.model import GraphPattern
from ontosub.model.pattern import is_constant
from ontosub.model.terms import PatternTerm, Term
from ontosub.semantics.budget import Budget
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.expressions import holds

Row: TypeAlias = tuple[Term, ...]
NOTHING_MAPPED: list[Mu] = [{}]
"""The result before the first table is joined."""


TERM_BYTES = 100
"""What a term takes in a mapping, about."""


def join(result: Sequence[Mu], terms: Sequence[PatternTerm], rows: Iterable[Row], budget: Budget) -> list[Mu]:
    """Return the mappings of `result` extended by every row that agrees with them, column by column with `terms`.

    Raises LimitError when that takes more than the budget.
    """
    if not result:
        return []
    shared = [term for term in dict.fromkeys(terms) if term in result[0]]
    groups: dict[Row, list[Mu]] = {}
    for row in rows:
        budget.spend()
        mapping = _read(terms, row)
        if mapping is not None:
            groups.setdefault(tuple(mapping[term] for term in shared), []).append(mapping)
    joined: list[Mu] = []
    for mu in result:
        agreeing = groups.get(tuple(mu[term] for term in shared), [])
        budget.spend(len(agreeing))
        budget.hold(TERM_BYTES * (len(mu) + len(terms)) * len(agreeing))
        joined += [{**mu, **mapping} for mapping in agreeing]
    return joined


def _read(terms: Sequence[PatternTerm], row: Row) -> Mu | None:
    """Return what a row maps the terms to; None when a constant differs or one term would get two images."""
    mapping: dict[PatternTerm, Term] = {}
    for term, image in zip(terms, row, strict=True):
        if (is_constant(term) and term != image) or mapping.setdefault(term, image) != image:
            return None
    return mapping


def in_joining_order(triples: Iterable[tuple[PatternTerm, ...]]) -> list[int]:
    """Return the positions of the triples so that each shares, where possible, a variable with those before it."""
    waiting = dict(enumerate(triples))
    known: set[PatternTerm] = set()
    ordered = []
    while waiting:
        position = max(waiting, key=lambda at: (not known.isdisjoint(waiting[at]), -at))
        known.update(term for term in waiting.pop(position) if not is_constant(term))
        ordered.append(position)
    return ordered


def lone_vertices(pattern: GraphPattern) -> list[PatternTerm]:
    """Return the vertices that no arc touches: they range over all vertices of the event graph."""
    touched = {term for arc in pattern.arcs for term in (arc.subject, arc.property, arc.object)}
    home = [] if pattern.home is None else [pattern.home]
    terms = dict.fromkeys([*(vertex.term for vertex in pattern.vertices), *home])
    return [term for term in terms if term not in touched]


def confirmed(result: Collection[Mu], pattern: GraphPattern, graph: EventGraph) -> list[Mu]:
    """Return the mappings that also satisfy what no table says: home vertex, lone vertices, injectivity, filters."""
    return [mu for mu in result if _is_confirmed(mu, pattern, graph)]


def _is_confirmed(mu: Mu, pattern: GraphPattern, graph: EventGraph) -> bool:
    if pattern.home is not None and (graph.home is None or image_of(pattern.home, mu) != graph.home):
        return False
    if any(image_of(term, mu) not in graph.vertices for term in lone_vertices(pattern)):
        return False
    images = [image_of(vertex.term, mu) for vertex in pattern.vertices] if pattern.injective else []
    return len(set(images)) == len(images) and all(
        holds(condition.expression, variables_in(mu)) for condition in pattern.filters
    )
