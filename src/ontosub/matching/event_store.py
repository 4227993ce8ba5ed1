"""An event graph inside Oxigraph: one store for all the queries that are asked of it.

Oxigraph's store keeps some literals by value: "3.50" comes back as "3.5", an xsd:int as an xsd:integer. A notification
should speak in the event's own terms, so literals are given the event's spelling back wherever there is only one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TypeAlias

from pyoxigraph import Quad, QueryBoolean, QuerySolutions, QueryTriples, Store

from ontosub.model import Binding
from ontosub.model.errors import LimitError
from ontosub.model.terms import ONTOSUB, RDF, XSD, Literal, NamedNode, Term, Triple
from ontosub.semantics.event_graph import EventGraph

ANSWERS_MAX = 1_000_000
"""How many answers a query may have on one event."""

IS_A = ONTOSUB["isA"]
"""The function that says whether a vertex has a class."""

STR = ONTOSUB["str"]
DATATYPE = ONTOSUB["datatype"]
"""SPARQL's functions of these names, for terms of the event in the event's own spelling."""

Functions: TypeAlias = dict[NamedNode, Callable[..., Term | None]]
"""What a query may call: a function that returns None fails."""

_STORED_AS_THEY_ARE = frozenset({XSD["string"], RDF["langString"], RDF["dirLangString"]})


class _Contents:
    """What all queries to one event graph share. It does not know the graph, which holds it: that would be a circle."""

    def __init__(self, graph: EventGraph) -> None:
        self.store = Store()
        self.store.extend(Quad(triple.subject, triple.predicate, triple.object) for triple in graph.triples)
        self.store.extend(graph.event.named_graphs)
        self._vertices = graph.vertices

    @cached_property
    def spellings(self) -> dict[Term, list[Term]]:
        """The literals and triple terms of the event behind each that the store has otherwise."""
        spellings: dict[Term, list[Term]] = {}
        terms, waiting = set(), list(self._vertices)
        while waiting:
            term = waiting.pop()
            if isinstance(term, Triple):
                waiting.append(term.object)
            elif not isinstance(term, Literal) or term.datatype in _STORED_AS_THEY_ARE:
                continue
            terms.add(term)
        for term in terms:
            spellings.setdefault(as_stored(term), []).append(term)
        return spellings


class EventStore:
    """Answers queries about an event graph. The store behind it is filled when the first query is asked."""

    def __init__(self, graph: EventGraph) -> None:
        self._graph = graph
        self._contents = graph.once(_Contents)
        self._functions: Functions = {IS_A: self._is_a, STR: self._str, DATATYPE: self._datatype}

    def solutions(self, query: str, computed: frozenset[str]) -> list[Binding]:
        """Return the solutions of a SELECT, or the empty one of an ASK that is true.

        Variables that are `computed` keep the spelling that Oxigraph gives them. Raises LimitError when there are more
        than ANSWERS_MAX.
        """
        result = self._contents.store.query(query, custom_functions=self._functions)
        if isinstance(result, QueryBoolean):
            return [Binding()] if result else []
        assert isinstance(result, QuerySolutions)  # noqa: S101 - a query for solutions gives nothing else
        names = [variable.value for variable in result.variables]
        solutions: list[Binding] = []
        for row in result:
            if len(solutions) == ANSWERS_MAX:
                raise LimitError(f"the query has more than {ANSWERS_MAX:,} answers on event {self._graph.event.id!r}")
            terms = ((name, term) for name, term in zip(names, row, strict=True) if term is not None)
            solutions.append(Binding({name: term if name in computed else self._spelt(term) for name, term in terms}))
        return solutions

    def description(self, query: str) -> frozenset[Triple]:
        """Return the graph of a DESCRIBE."""
        result = self._contents.store.query(query, custom_functions=self._functions)
        assert isinstance(result, QueryTriples)  # noqa: S101 - DESCRIBE gives nothing else
        return frozenset(Triple(triple.subject, triple.predicate, self._spelt(triple.object)) for triple in result)

    def _is_a(self, vertex: Term, class_: Term) -> Literal:
        return Literal(any(class_ in self._graph.classes(term) for term in self._spellings(vertex)))

    def _str(self, term: Term) -> Literal | None:
        spelt = self._spelt(term)
        return Literal(spelt.value) if isinstance(spelt, NamedNode | Literal) else None

    def _datatype(self, term: Term) -> NamedNode | None:
        spelt = self._spelt(term)
        return spelt.datatype if isinstance(spelt, Literal) else None

    def _spelt(self, term: Term) -> Term:
        spellings = self._spellings(term)
        return spellings[0] if len(spellings) == 1 else term

    def _spellings(self, term: Term) -> list[Term]:
        return self._contents.spellings.get(term) or [term] if isinstance(term, Literal | Triple) else [term]


def as_stored(term: Literal | Triple) -> Term:
    """Return the term as Oxigraph's store gives it back. Only short literals are remembered."""
    if isinstance(term, Literal) and len(term.value) <= _REMEMBERED_CHARS:
        return _remembered(term)
    return _stored(term)


_REMEMBERED_CHARS = 200


def _stored(term: Literal | Triple) -> Term:
    store = Store()
    store.add(Quad(IS_A, IS_A, term))
    quad: Quad = next(iter(store))
    return quad.object


_remembered = lru_cache(maxsize=10_000)(_stored)


def try_out(query: str) -> None:
    """Ask a query of an empty store. Raises SyntaxError or RuntimeError when Oxigraph does not take it."""
    Store().query(query, custom_functions=dict.fromkeys((IS_A, STR, DATATYPE), lambda *_: None))
