"""Triples and events back to bytes, in every RDF syntax."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import pyoxigraph
from pyoxigraph import Quad

from ontosub.formats import jelly
from ontosub.formats.media import JELLY, JSON_LD, N_QUADS, RDF_FORMATS, RDF_XML, TRIG, Format, media_of
from ontosub.model.errors import UsageError
from ontosub.model.event import Event
from ontosub.model.terms import BlankNode, Literal, NamedNode, Term, Triple, with_blank_nodes

_NAME_START = r"A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
_NAME_START += r"\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
_NCNAME = rf"[{_NAME_START}][{_NAME_START}\-.0-9\u00b7\u0300-\u036f\u203f\u2040]*"
_LABEL = re.compile(_NCNAME)
_SPLITTABLE = re.compile(rf".*?[^{_NAME_START}]{_NCNAME}", re.DOTALL)
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(triples: Iterable[Triple], format: str, *, prefixes: Mapping[str, str] | None = None) -> bytes:
    """Write a graph, in the order given. Reading it again gives the same graph, with the same labels where possible.

    Raises UsageError when the syntax cannot express a term, rather than write something else.
    """
    return _written(list(triples), _rdf(format), prefixes)


def write_event(event: Event, format: str, *, prefixes: Mapping[str, str] | None = None) -> bytes:
    """Write an event's graph; the same event gives the same bytes.

    A syntax for datasets (TriG, N-Quads, JSON-LD, Jelly) names the graph by the event's id when that is an IRI, so that
    reading it again gives an event with that id. Home, interval and lifetime are not written.
    """
    found = _rdf(format)
    triples = sorted(event.graph, key=str)
    name = _iri(event.id) if found in (TRIG, N_QUADS, JSON_LD, JELLY) else None
    if name is None:
        return _written(triples, found, prefixes)
    return _written([Quad(t.subject, t.predicate, t.object, name) for t in triples], found, prefixes)


def _rdf(format: str) -> Format:
    found = media_of(format).format
    if found not in RDF_FORMATS:
        known = ", ".join(each.name for each in RDF_FORMATS)
        raise UsageError(f"{found.name} cannot be written: the RDF syntaxes are {known}")
    return found


def _iri(text: str) -> NamedNode | None:
    try:
        return NamedNode(text)
    except ValueError:
        return None


def _written(statements: list[Triple] | list[Quad], format: Format, prefixes: Mapping[str, str] | None) -> bytes:
    if format is JELLY:
        return jelly.write_frame(statements)
    if format is RDF_XML:
        statements = _xml_safe([each.triple if isinstance(each, Quad) else each for each in statements])
    try:
        written = pyoxigraph.serialize(statements, format=format.syntax, prefixes=dict(prefixes or {}))
    except (OSError, ValueError) as error:
        raise UsageError(f"the graph cannot be written as {format.name}: {error}") from None
    assert written is not None  # noqa: S101 - it is, when no output file is given
    # A bare carriage return would be read as a line feed: XML normalizes line ends.
    return written.replace(b"\r", b"&#13;") if format is RDF_XML else written


def _xml_safe(triples: list[Triple]) -> list[Triple]:
    """Return the graph with blank node labels that are XML names; refuse what XML has no way to write."""
    for triple in _with_inner(triples):
        if not _SPLITTABLE.fullmatch(triple.predicate.value):
            raise UsageError(f"RDF/XML cannot write the property {triple.predicate}: it ends in no XML name")
        if isinstance(triple.object, Literal) and _NOT_XML.search(triple.object.value):
            raise UsageError(f"RDF/XML cannot write the control characters of {triple.object}")
    labels: set[str] = set()

    def noted(node: BlankNode) -> BlankNode:
        labels.add(node.value)
        return node

    for triple in triples:
        with_blank_nodes(triple, noted)
    renamed = {label: BlankNode(_free(f"n{label}", labels)) for label in labels if not _LABEL.fullmatch(label)}
    return [with_blank_nodes(triple, lambda node: renamed.get(node.value, node)) for triple in triples]  # type: ignore[misc]


def _with_inner(triples: Iterable[Triple]) -> Iterator[Triple]:
    """Yield each triple, and then the triple terms inside it."""
    for triple in triples:
        inner: Term = triple
        while isinstance(inner, Triple):
            yield inner
            inner = inner.object


def _free(label: str, taken: set[str]) -> str:
    label = re.sub(r"[^\w.-]", "_", label)
    while label in taken:
        label += "_"
    return label
