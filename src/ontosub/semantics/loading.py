"""Reading ontologies: RDFS, OWL and DAML+OIL in any RDF syntax, several sources at once, nothing ever fetched."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

from ontosub.formats import rdf
from ontosub.formats.media import media_of_path
from ontosub.model import Ontology
from ontosub.model.errors import OntologyError, OntosubWarning
from ontosub.model.terms import OWL, TYPE, BlankNode, NamedNode, Triple, with_blank_nodes
from ontosub.semantics.schema import build_ontology
from ontosub.semantics.vocabulary import LANGUAGES, as_owl

_DAML_COLLECTION = re.compile(rb"""parseType\s*=\s*(["'])daml:collection\1""")

_XML_OPENING = re.compile(rb"""(\xef\xbb\xbf)?\s*<(\?xml|!|\w+:\w+[\s>])""")

_ONTOLOGY, _VERSION, _IMPORTS = OWL["Ontology"], OWL["versionIRI"], OWL["imports"]


@dataclass(frozen=True, slots=True)
class _Source:
    name: str | None
    triples: list[Triple]


def read_ontology(*sources: str | bytes | Path, format: str | None = None, base: str | None = None) -> Ontology:
    """Read one ontology from files (no `format`) or from data in that format; see `Ontology.read`."""
    read = [_read_source(number, source, format, base) for number, source in enumerate(sources)]
    triples = [triple for source in read for triple in source.triples]
    missing = _missing_imports(read)
    for iri in missing:
        warnings.warn(
            f"the import <{iri}> is not among the given sources and is not fetched", OntosubWarning, stacklevel=3
        )
    return build_ontology(triples, missing)


def _read_source(number: int, source: str | bytes | Path, format: str | None, base: str | None) -> _Source:
    if format is not None and not isinstance(source, Path):
        data, name, syntax = source.encode() if isinstance(source, str) else source, None, format
    else:
        path = Path(source.decode() if isinstance(source, bytes) else source)
        data, name = _contents(path), path.name
        syntax = format or _syntax(path, data)
        base = base or path.resolve().as_uri()
    # RDF/XML parsers know parseType="Collection"; DAML+OIL wrote the same thing under its own name.
    data = _DAML_COLLECTION.sub(b'parseType="Collection"', data)
    triples = [as_owl(triple) for triple in rdf.read_triples(data, syntax, base=base, name=name)]
    return _Source(name, _relabelled(number, triples))


def _syntax(path: Path, data: bytes) -> str:
    """Return the syntax that the extension names; an .owl file may be XML or, just as often, Turtle."""
    if path.suffix == ".owl" and not _XML_OPENING.match(data):
        return "turtle"
    return media_of_path(path).format.name


def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise OntologyError(
            f"cannot read {path}: {error.strerror}",
            hint="Without a format, each argument of Ontology.read is the path of a file; give format= to pass data.",
        ) from error


def _relabelled(number: int, triples: list[Triple]) -> list[Triple]:
    """Give the source's blank nodes labels of their own, so that they meet no other source's and no event's."""
    labels: dict[BlankNode, BlankNode] = {}

    def renamed(node: BlankNode) -> BlankNode:
        return labels.setdefault(node, BlankNode(f"ontosub-background-8f14e45fceea167a-{number}-{len(labels)}"))

    return [with_blank_nodes(triple, renamed) for triple in triples]  # type: ignore[misc]


def _missing_imports(sources: list[_Source]) -> list[str]:
    """Return the imported IRIs that name none of the sources: neither an ontology's IRI nor a file's name.

    The ontology languages themselves (DAML+OIL files used to import theirs) are known anyway.
    """
    named = {*LANGUAGES, *(_bare(source.name) for source in sources if source.name)}
    for source in sources:
        for triple in source.triples:
            if triple.predicate == TYPE and triple.object == _ONTOLOGY and isinstance(triple.subject, NamedNode):
                named.add(_bare(triple.subject.value))
            if triple.predicate == _VERSION and isinstance(triple.object, NamedNode):
                named.add(_bare(triple.object.value))
    imported = {
        triple.object.value
        for source in sources
        for triple in source.triples
        if triple.predicate == _IMPORTS and isinstance(triple.object, NamedNode)
    }
    return sorted(iri for iri in imported if _bare(iri) not in named and _file_name(iri) not in named)


def _bare(iri: str) -> str:
    return iri.rstrip("#/").removesuffix(".daml")


def _file_name(iri: str) -> str:
    return _bare(iri).rsplit("/", 1)[-1]
