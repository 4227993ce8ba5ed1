"""Other engines, asked the same queries: Oxigraph and RDFLib. Answers are rows of N-Triples texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pyoxigraph
import rdflib
from pyoxigraph import DefaultGraph, QueryBoolean, QuerySolutions, Store
from rdflib.plugins.sparql import prepareQuery

Rows = Sequence[Mapping[str, str]]


class Peer(Protocol):
    """An engine that holds one event."""

    def load(self, event: str) -> None:
        """Take in an event, as N-Quads, in the place of the last one."""

    def rows(self, query: str) -> Rows | bool | None:
        """Return the answers of a SELECT or an ASK; None when the engine refuses the query."""


class Oxigraph:
    """A store in memory."""

    def load(self, event: str) -> None:
        self._store = Store()
        self._store.bulk_extend(pyoxigraph.parse(event, format=pyoxigraph.RdfFormat.N_QUADS))

    def rows(self, query: str) -> Rows | bool | None:
        try:
            result = self._store.query(query)
        except (SyntaxError, RuntimeError):
            return None
        if isinstance(result, QueryBoolean):
            return bool(result)
        assert isinstance(result, QuerySolutions)
        names = [variable.value for variable in result.variables]
        return [{name: str(term) for name, term in zip(names, row, strict=True) if term is not None} for row in result]


class RDFLib:
    """A dataset whose default graph is apart from its named graphs. A query is parsed once."""

    def __init__(self) -> None:
        self._prepared: dict[str, Any] = {}

    def load(self, event: str) -> None:
        self._dataset = rdflib.Dataset(default_union=False)
        for quad in pyoxigraph.parse(event, format=pyoxigraph.RdfFormat.N_QUADS):
            graph = self._dataset
            if not isinstance(quad.graph_name, DefaultGraph):
                graph = self._dataset.graph(_rdflib(quad.graph_name))
            graph.add((_rdflib(quad.subject), _rdflib(quad.predicate), _rdflib(quad.object)))

    def rows(self, query: str) -> Rows | bool | None:
        try:
            if query not in self._prepared:
                self._prepared[query] = prepareQuery(query)
            result = self._dataset.query(self._prepared[query])
            if result.type == "ASK":
                return bool(result.askAnswer)
            return [{str(name): _text(term) for name, term in row.items()} for row in result.bindings]
        except Exception:  # RDFLib raises whatever its parts raise
            return None


def _rdflib(term: Any) -> Any:
    match term:
        case pyoxigraph.NamedNode():
            return rdflib.URIRef(term.value)
        case pyoxigraph.BlankNode():
            return rdflib.BNode(term.value)
        case _ if term.language:
            return rdflib.Literal(term.value, lang=term.language)
        case _ if term.datatype.value.endswith("#string"):
            return rdflib.Literal(term.value)
    return rdflib.Literal(term.value, datatype=rdflib.URIRef(term.datatype.value), normalize=False)


def _text(term: Any) -> str:
    match term:
        case rdflib.URIRef():
            return f"<{term}>"
        case rdflib.BNode():
            return f"_:{term}"
        case _ if term.language:
            return str(pyoxigraph.Literal(str(term), language=term.language))
        case _ if term.datatype:
            return str(pyoxigraph.Literal(str(term), datatype=pyoxigraph.NamedNode(str(term.datatype))))
    return str(pyoxigraph.Literal(str(term)))
