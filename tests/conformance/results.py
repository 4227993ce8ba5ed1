"""Query results: reading the expected ones, and saying whether two are the same.

Results are a truth value (ASK), rows (SELECT) or a graph (CONSTRUCT). Rows are a multiset; blank nodes are the same up
to renaming, one renaming for the whole result. Both are decided on a canonical graph: for rows, one that has a node
per distinct row, with how often it occurs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from pyoxigraph import (
    BlankNode,
    CanonicalizationAlgorithm,
    Dataset,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QueryResultsFormat,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
)

from ontosub.model.terms import TYPE, Namespace, Term

Row: TypeAlias = Mapping[str, Term]
Result: TypeAlias = bool | Sequence[Row] | frozenset[Triple]

_RS = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/result-set#")
_TIMES = NamedNode("urn:row:times")


def read_result(path: Path) -> Result:
    """Read a result from a SPARQL result file, a graph in the result-set vocabulary, or a plain graph."""
    syntax = QueryResultsFormat.from_extension(path.suffix.removeprefix("."))
    if syntax is None:
        return _of_graph(read_graph(path))
    results = parse_query_results(path=path, format=syntax)
    if isinstance(results, QueryBoolean):
        return bool(results)
    names = [variable.value for variable in results.variables]
    return [
        {name: term for name, term in zip(names, solution, strict=True) if term is not None} for solution in results
    ]


def read_graph(path: Path) -> frozenset[Triple]:
    """Read an RDF file, without any of the code that is under test."""
    syntax = RdfFormat.from_extension(path.suffix.removeprefix("."))
    return frozenset(quad.triple for quad in parse(path=path, format=syntax, base_iri=path.as_uri()))


def same(left: Result, right: Result, *, lax: bool = False) -> bool:
    """Say whether two results are the same; with `lax`, `left` may leave out duplicates that `right` has."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, frozenset) or isinstance(right, frozenset):
        return type(left) is type(right) and _canonical(left) == _canonical(right)
    if lax:
        distinct = _canonical(_as_graph(_counted(left), lax)) == _canonical(_as_graph(_counted(right), lax))
        return distinct and len(left) <= len(right)
    return _canonical(_as_graph(_counted(left))) == _canonical(_as_graph(_counted(right)))


def _of_graph(graph: frozenset[Triple]) -> Result:
    """Return what the graph says in the result-set vocabulary, or the graph itself if it does not use that."""

    def values(subject: Term, name: str) -> list[Term]:
        return [t.object for t in graph if t.subject == subject and t.predicate == _RS[name]]

    for triple in graph:
        if triple.predicate == TYPE and triple.object == _RS["ResultSet"]:
            truth = values(triple.subject, "boolean")
            if truth:
                return truth[0].value == "true"
            return [
                {
                    values(binding, "variable")[0].value: values(binding, "value")[0]
                    for binding in values(row, "binding")
                }
                for row in values(triple.subject, "solution")
            ]
    return graph


def _counted(rows: Sequence[Row]) -> Counter[frozenset[tuple[str, Term]]]:
    return Counter(frozenset(row.items()) for row in rows)


def _as_graph(rows: Counter[frozenset[tuple[str, Term]]], lax: bool = False) -> Iterator[Triple]:
    for row, times in rows.items():
        node = BlankNode()
        yield Triple(node, _TIMES, Literal(1 if lax else times))
        for name, term in row:
            yield Triple(node, NamedNode(f"urn:row:variable:{name}"), term)


def _canonical(graph: Iterable[Triple]) -> frozenset[Quad]:
    """Return the graph with canonical blank node labels: isomorphic graphs, and only those, become equal."""
    dataset = Dataset(Quad(triple.subject, triple.predicate, triple.object) for triple in graph)
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return frozenset(dataset)
