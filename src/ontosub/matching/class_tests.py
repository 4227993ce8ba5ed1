"""Questions about classes that no triple answers, rewritten so that Oxigraph can ask them.

`?x a owl:Thing` and `?v a xsd:decimal` are answered by name although the event graph holds no such triples. In a query
for Oxigraph such a triple pattern becomes a sub-select over the vertices of the graph, filtered by a function of ours.
"""

from __future__ import annotations

from collections.abc import Callable

from ontosub.languages.sparql.syntax import (
    Block,
    Builtin,
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
)
from ontosub.matching.event_store import IS_A
from ontosub.matching.rewriting import Rewriting
from ontosub.model.terms import TYPE, NamedNode, Variable

IsImplied = Callable[[NamedNode], bool]


def with_class_tests(query: Query, is_implied: IsImplied) -> Query:
    """Return the query with every pattern `x a C`, where C is a class that no triple states, rewritten."""
    return _ClassTests(is_implied).of(query)


def implied_class(triple: TriplePattern, is_implied: IsImplied) -> NamedNode | None:
    """Return the class that a triple pattern asks for, if it is one that no triple states."""
    class_ = triple.object.term
    is_typing = isinstance(triple.verb, Occurrence) and triple.verb.term == TYPE
    return class_ if is_typing and isinstance(class_, NamedNode) and is_implied(class_) else None


class _ClassTests(Rewriting):
    def __init__(self, is_implied: IsImplied) -> None:
        self._is_implied = is_implied

    def concerns(self, triple: TriplePattern) -> bool:
        return implied_class(triple, self._is_implied) is not None

    def replacement(self, triple: TriplePattern) -> list[Element]:
        """Return the sub-select that gives the vertices of the class."""
        subject = triple.subject
        vertex = subject if isinstance(subject.term, Variable) else Occurrence(self.fresh())
        other, property_ = Occurrence(self.fresh()), Occurrence(self.fresh())
        starts = Group((Block((TriplePattern(vertex, property_, other),)),))
        is_no_typing = Operation("!=", (property_, Occurrence(TYPE)))
        ends = Group((Block((TriplePattern(other, property_, vertex),)), Filter(is_no_typing)))
        conditions: list[Element] = [Filter(FunctionCall(IS_A, (vertex, triple.object)))]
        if vertex is not subject:
            conditions.append(Filter(Builtin("SAMETERM", (vertex, subject))))
        where = Group((Union((starts, ends)), *conditions))
        return [Select((Projected(vertex),), where, duplicates="DISTINCT")]
