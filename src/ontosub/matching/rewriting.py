"""A query rewritten for Oxigraph: some of its triple patterns give way to other elements of the group they stand in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from itertools import count
from typing import Any

from ontosub.languages.sparql.checks import visible_variables
from ontosub.languages.sparql.syntax import (
    Block,
    Element,
    Group,
    Occurrence,
    Projected,
    Query,
    Select,
    TriplePattern,
    TripleTerm,
    walk,
)
from ontosub.model.errors import Span
from ontosub.model.terms import BlankNode, PatternTerm, Variable


class Rewriting(ABC):
    """One pass over a query's tree, outermost first."""

    @abstractmethod
    def concerns(self, triple: TriplePattern) -> bool:
        """Say whether a triple pattern is to be replaced."""

    @abstractmethod
    def replacement(self, triple: TriplePattern) -> list[Element]:
        """Return what takes the place of a triple pattern that is to be replaced."""

    def of(self, query: Query) -> Query:
        """Return the query with every triple pattern replaced that is to be."""
        concerned = [node for node in walk(query) if isinstance(node, TriplePattern) and self.concerns(node)]
        if not concerned:
            return query
        self.fresh = _fresh_names(query)
        ends = {end.term for triple in concerned for end in (triple.subject, triple.object)}
        # Groups cannot share a blank node; they can share a variable that nobody projects.
        self._named: dict[PatternTerm, PatternTerm] = {
            end: self.fresh() for end in sorted(ends, key=str) if isinstance(end, BlankNode)
        }
        rewritten: Query = self._apply(query)
        return rewritten

    def _apply(self, node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(self._apply(part) for part in node)
        if isinstance(node, Occurrence) and not isinstance(node.term, TripleTerm):
            return replace(node, term=self._named.get(node.term, node.term))
        if isinstance(node, Select) and node.projection is None:
            # The new variables must not become visible through the star.
            inside = Group((node.where, *([node.values] if node.values else [])))
            shown = tuple(Projected(Occurrence(variable)) for variable in visible_variables(inside))
            node = replace(node, projection=shown)
        if isinstance(node, Group):
            return Group(tuple(new for element in node.elements for new in self._elements(element)))
        if is_dataclass(node) and not isinstance(node, Span):
            return replace(node, **{part.name: self._apply(getattr(node, part.name)) for part in fields(node)})  # type: ignore[type-var]
        return node

    def _elements(self, element: Element) -> list[Element]:
        if not isinstance(element, Block):
            return [self._apply(element)]
        kept = tuple(triple for triple in element.triples if not self.concerns(triple))
        others = [self._apply(triple) for triple in element.triples if self.concerns(triple)]
        made = [new for triple in others for new in self.replacement(triple)]
        return [*([self._apply(Block(kept))] if kept else []), *made]


def _fresh_names(query: Query) -> Callable[[], Variable]:
    used = {str(node.term) for node in walk(query) if isinstance(node, Occurrence)}
    names = (f"ontosub{number}" for number in count())
    unused = (name for name in names if f"?{name}" not in used)
    return lambda: Variable(next(unused))
