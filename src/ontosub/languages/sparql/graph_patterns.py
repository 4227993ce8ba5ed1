"""Triples of a query as a graph pattern."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ontosub.model.errors import Span
from ontosub.model.pattern import Arc, Filter, GraphPattern, Vertex
from ontosub.model.terms import TYPE, NamedNode, PatternTerm, Variable

Triple: TypeAlias = tuple[PatternTerm, NamedNode | Variable, PatternTerm]

_NO_CLASS: frozenset[NamedNode] = frozenset()


def graph_pattern(
    triples: Iterable[Triple],
    spans: Iterable[Span | None],
    where: Mapping[PatternTerm, Span | None],
    filters: Iterable[Filter],
    projection: tuple[Variable, ...],
) -> GraphPattern:
    """Return the pattern of some triples: a constant class is asked of its vertex, all else is an arc.

    `spans` are those of the triples; `where` tells where each term is mentioned first.
    """
    classes: dict[PatternTerm, frozenset[NamedNode]] = {}
    arcs: dict[Triple, Arc] = {}
    for triple, span in zip(triples, spans, strict=True):
        subject, verb, object_ = triple
        known = classes.setdefault(subject, _NO_CLASS)
        if verb == TYPE and isinstance(object_, NamedNode):
            classes[subject] = known | {object_}
        elif triple not in arcs:
            classes.setdefault(object_, _NO_CLASS)
            arcs[triple] = Arc(subject, verb, object_, span)
    vertices = tuple([Vertex(term, asked, where.get(term)) for term, asked in classes.items()])
    return GraphPattern(vertices, tuple(arcs.values()), tuple(filters), projection=projection)
