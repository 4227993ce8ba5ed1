"""W3C test manifests, read as cases.

The suites are looked for where the environment variable ONTOSUB_SUITES points, else in `../shared/suites` beside the
repository. When there is nothing there, there are no cases.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyoxigraph import Dataset, Literal, NamedNode, RdfFormat, parse

from ontosub.model.terms import RDF, TYPE, Namespace, Term

MF = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
QT = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-query#")

REPOSITORY = Path(__file__).resolve().parents[2]
SUITES = Path(os.environ.get("ONTOSUB_SUITES") or REPOSITORY.parent / "shared" / "suites")

SPARQL = "w3c/sparql/sparql10"
ENTAILMENT = "w3c/rdf/rdf11/rdf-mt"


@dataclass(frozen=True, slots=True)
class Case:
    """One entry of a manifest.

    `kind` is the local name of its class. `action` is the query of a SPARQL test, the premise of an entailment test.
    `named_graphs` stand beside the `data`, each under its own address. A `result` of False stands for an inconsistency.
    `lax` results may leave out duplicates.
    """

    id: str
    folder: str
    kind: str
    action: Path
    data: Path | None = None
    named_graphs: tuple[Path, ...] = ()
    result: Path | bool | None = None
    lax: bool = False


@cache
def cases(suite: str, root: Path = SUITES) -> tuple[Case, ...]:
    """Return the cases of every manifest at or below the suite's folder, in the manifests' own order."""
    found = sorted((root / suite).rglob("manifest.ttl"), key=lambda path: path.parts)
    return tuple(case for path in found for case in _Manifest(path).cases())


class _Manifest:
    """A manifest's graph, with the file that it came from."""

    def __init__(self, path: Path) -> None:
        self._folder = path.parent.name
        self._graph = Dataset(parse(path=path, format=RdfFormat.TURTLE, base_iri=path.as_uri()))

    def cases(self) -> Iterator[Case]:
        for listed in self._graph.quads_for_predicate(MF["entries"]):
            for entry in self._members(listed.object):
                yield self._case(entry)

    def _case(self, entry: Term) -> Case:
        action = self._value(entry, MF["action"])
        query = self._value(action, QT["query"])
        return Case(
            id=f"{self._folder}/{_local_name(entry)}",
            folder=self._folder,
            kind=_local_name(self._value(entry, TYPE)),
            action=_path(query or action),
            data=_optional_path(self._value(action, QT["data"])),
            named_graphs=tuple(_path(graph) for graph in self._values(action, QT["graphData"])),
            result=_result(self._value(entry, MF["result"])),
            lax=self._value(entry, MF["resultCardinality"]) == MF["LaxCardinality"],
        )

    def _members(self, node: Term) -> Iterator[Term]:
        while node != RDF["nil"]:
            yield self._value(node, RDF["first"])
            node = self._value(node, RDF["rest"])

    def _value(self, subject: Term, predicate: NamedNode) -> Term | None:
        return next(self._values(subject, predicate), None)

    def _values(self, subject: Term, predicate: NamedNode) -> Iterator[Term]:
        return (quad.object for quad in self._graph.quads_for_subject(subject) if quad.predicate == predicate)


def _result(term: Term | None) -> Path | bool | None:
    return term.value == "true" if isinstance(term, Literal) else _optional_path(term)


def _optional_path(term: NamedNode | None) -> Path | None:
    return None if term is None else _path(term)


def _path(term: NamedNode) -> Path:
    return Path(unquote(urlsplit(term.value).path))


def _local_name(term: NamedNode) -> str:
    return term.value.rsplit("#", 1)[-1]
