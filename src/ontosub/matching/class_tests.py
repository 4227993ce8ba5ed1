"""Questions about classes that no triple answers, rewritten so that Oxigraph can ask them.

`?x a owl:Thing` and `?v a xsd:decimal` are answered by name although the event graph holds no such triples. In a query
for Oxigraph such a triple pattern becomes a sub-select over the vertices of the graph, filtered by a function of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from itertools import count
from typing import Any

from ontosub.languages.sparql.checks import visible_variables
from ontosub.languages.sparql.syntax import (
    Block,
    Element,
    Filter,
    FunctionCall,
    Group,
    Occurrence,
    Operation,
    Projected,
    Query,
    Select,
    TriplePattern,
    Union,
    walk,
)
from ontosub.model.errors import Span
from ontosub.model.terms import ONTOSUB, TYPE, BlankNode, NamedNode, PatternTerm, Variable

IS_A = ONTOSUB["isA"]
"""The function that says whether a vertex has a class."""

IsImplied = Callable[[NamedNode], bool]


def with_class_tests(query: Query, is_implied: IsImplied) -> Query:
    """Return the query with every pattern `x a C`, where C is a class that no triple states, rewritten."""
    asked = [node for node in walk(query) if isinstance(node, TriplePattern) and _class_of(node, is_implied)]
    if not asked:
        return query
    blanks: set[PatternTerm] = {triple.subject.term for triple in asked if isinstance(triple.subject.term, BlankNode)}
    rewriting = _Rewriting(is_implied, blanks, _fresh_names(query))
    rewritten: Query = rewriting.apply(query)
    return rewritten


def _class_of(triple: TriplePattern, is_implied: IsImplied) -> NamedNode | None:
    class_ = triple.object.term
    is_typing = isinstance(triple.verb, Occurrence) and triple.verb.term == TYPE
    return class_ if is_typing and isinstance(class_, NamedNode) and is_implied(class_) else None


def _fresh_names(query: Query) -> Callable[[], Variable]:
    used = {str(node.term) for node in walk(query) if isinstance(node, Occurrence)}
    names = (f"ontosub{number}" for number in count())
    unused = (name for name in names if f"?{name}" not in used)
    return lambda: Variable(next(unused))


class _Rewriting:
    """One pass over the tree, outermost first."""

    def __init__(self, is_implied: IsImplied, blanks: set[PatternTerm], fresh: Callable[[], Variable]) -> None:
        self._is_implied = is_implied
        self._fresh = fresh
        # A sub-select cannot give a blank node to the pattern around it; a variable that nobody projects can.
        self._named: dict[PatternTerm, PatternTerm] = {blank: fresh() for blank in blanks}

    def apply(self, node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(self.apply(part) for part in node)
        if isinstance(node, Occurrence):
            return replace(node, term=self._named.get(node.term, node.term))
        if isinstance(node, Select) and node.projection is None:
            # The new variables must not become visible through the star.
            inside = Group((node.where, *([node.values] if node.values else [])))
            shown = tuple(Projected(Occurrence(variable)) for variable in visible_variables(inside))
            node = replace(node, projection=shown)
        if isinstance(node, Group):
            return Group(tuple(new for element in node.elements for new in self._element(element)))
        if is_dataclass(node) and not isinstance(node, Span):
            return replace(node, **{part.name: self.apply(getattr(node, part.name)) for part in fields(node)})  # type: ignore[type-var]
        return node

    def _element(self, element: Element) -> list[Element]:
        if not isinstance(element, Block):
            return [self.apply(element)]
        stated = tuple(triple for triple in element.triples if not _class_of(triple, self._is_implied))
        tests = [triple for triple in element.triples if triple not in stated]
        return [*([self.apply(Block(stated))] if stated else []), *(self._test(triple) for triple in tests)]

    def _test(self, triple: TriplePattern) -> Element:
        """Return the sub-select that gives the vertices of the class."""
        subject = self.apply(triple.subject)
        vertex = subject if isinstance(subject.term, Variable) else Occurrence(self._fresh())
        other, property_ = Occurrence(self._fresh()), Occurrence(self._fresh())
        starts = Group((Block((TriplePattern(vertex, property_, other),)),))
        is_no_typing = Operation("!=", (property_, Occurrence(TYPE)))
        ends = Group((Block((TriplePattern(other, property_, vertex),)), Filter(is_no_typing)))
        conditions: list[Element] = [Filter(FunctionCall(IS_A, (vertex, triple.object)))]
        if vertex is not subject:
            conditions.append(Filter(Operation("=", (vertex, subject))))
        where = Group((Union((starts, ends)), *conditions))
        return Select((Projected(vertex),), where, duplicates="DISTINCT")
