"""Mapping documents: JSON that says a `RecordMapping`. A document that says something else is a UsageError."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ontosub.formats import json_text
from ontosub.formats.datatypes import misfit_of
from ontosub.formats.limits import Limits
from ontosub.formats.mapping import NodeMapping, PropertyMapping, RecordMapping, Template
from ontosub.formats.reading import Document, document_text
from ontosub.formats.source import Source
from ontosub.model.errors import UsageError
from ontosub.model.terms import RDF, RDFS, XSD, BlankNode, Literal, NamedNode

_PREFIXES = {"rdf": str(RDF), "rdfs": str(RDFS), "xsd": str(XSD)}
_NODE = {"subject", "class", "properties"}
_WHOLE = _NODE | {"prefixes", "records", "id", "time"}
_PROPERTY = {"property", "from", "datatype", "language", "iri", "object", "default"}


def read_mapping(document: Document, limits: Limits) -> RecordMapping:
    """Read a mapping document.

    Raises FormatError when it is not JSON, UsageError, with the place in the document, when it is no mapping.
    """
    return _mapping(document_text(document), limits)


@lru_cache(maxsize=64)
def _mapping(text: str, limits: Limits) -> RecordMapping:
    value = json_text.load(Source.of(text, "mapping"), limits)
    whole = _object(value, "mapping", _WHOLE)
    prefixes = _PREFIXES | _prefixes(whole.get("prefixes", {}))
    named = _text(whole, "id", "mapping")
    return RecordMapping(
        _Reader(prefixes).node(whole, "mapping"),
        _text(whole, "records", "mapping"),
        None if named is None else Template(named, encoded=False),
        _text(whole, "time", "mapping"),
        prefixes,
    )


class _Reader:
    """Reads the parts of a mapping under its prefixes."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self.prefixes = prefixes

    def node(self, value: Mapping[str, Any], where: str) -> NodeMapping:
        classes = value.get("class", [])
        classes = classes if isinstance(classes, list) else [classes]
        properties = value.get("properties", [])
        if not isinstance(properties, list):
            raise UsageError(f"{where}.properties must be a list")
        if not classes and not properties:
            raise UsageError(f"{where} says nothing: give it a class or properties")
        return NodeMapping(
            _subject(_text(value, "subject", where)),
            tuple(self.name(cls, f"{where}.class") for cls in classes),
            tuple(self.property(each, f"{where}.properties[{i}]") for i, each in enumerate(properties)),
        )

    def property(self, value: Any, where: str) -> PropertyMapping:
        _object(value, where, _PROPERTY)
        if "property" not in value:
            raise UsageError(f"{where} lacks the property")
        datatype, iri, nested = value.get("datatype"), _text(value, "iri", where), value.get("object")
        mapped = PropertyMapping(
            self.name(value["property"], f"{where}.property"),
            _text(value, "from", where),
            None if datatype is None else self.name(datatype, f"{where}.datatype"),
            _text(value, "language", where),
            None if iri is None else Template(self.expanded(iri)),
            None if nested is None else self.node(_object(nested, f"{where}.object", _NODE), f"{where}.object"),
            _text(value, "default", where),
        )
        _check_kind(mapped, where)
        return mapped

    def name(self, value: Any, where: str) -> NamedNode:
        """Return the IRI that a prefixed name or an IRI stands for."""
        if not isinstance(value, str):
            raise UsageError(f"{where} must be a prefixed name or an IRI")
        try:
            return NamedNode(self.expanded(value))
        except ValueError as error:
            raise UsageError(
                f"{where} {value!r} is neither an IRI nor a name with a declared prefix: {error}"
            ) from None

    def expanded(self, value: str) -> str:
        prefix, colon, local = value.partition(":")
        if colon and prefix in self.prefixes and not local.startswith("//"):
            return self.prefixes[prefix] + local
        return value


def _check_kind(mapped: PropertyMapping, where: str) -> None:
    if mapped.iri is not None and mapped.object is not None:
        raise UsageError(f"{where} gives both iri and object: a value is one of them")
    if mapped.iri is None and mapped.object is None and mapped.path is None:
        raise UsageError(f"{where} says not where its value is from: give from, iri or object")
    if mapped.iri is not None and mapped.path is not None:
        raise UsageError(f"{where} gives both from and iri: name the column in the template, as {{{mapped.path}}}")
    literal = mapped.iri is None and mapped.object is None
    if not literal and (mapped.datatype or mapped.language):
        raise UsageError(f"{where} gives a datatype or language to a value that is no literal")
    if mapped.datatype and mapped.language:
        raise UsageError(f"{where} gives both datatype and language: a literal has one of them")
    if mapped.default is not None and mapped.datatype:
        misfit = misfit_of(Literal(mapped.default, datatype=mapped.datatype))
        if misfit is not None:
            raise UsageError(f"{where}.default: {misfit}")
    if mapped.language and not re.fullmatch(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*", mapped.language):
        raise UsageError(f"{where}.language {mapped.language!r} is no language tag")


def _subject(value: str | None) -> Template | BlankNode | None:
    if value is None or not value.startswith("_:"):
        return None if value is None else Template(value)
    try:
        return BlankNode(value.removeprefix("_:"))
    except ValueError as error:
        raise UsageError(f"the subject {value!r} is no blank node: {error}") from None


def _prefixes(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(iri, str) for iri in value.values()):
        raise UsageError("mapping.prefixes must be an object of IRIs")
    return value


def _object(value: Any, where: str, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{where} must be an object")
    if unknown := [key for key in value if key not in known]:
        raise UsageError(f"{where} has the unknown member {unknown[0]!r}: known are {', '.join(sorted(known))}")
    return value


def _text(value: Mapping[str, Any], key: str, where: str) -> str | None:
    text = value.get(key)
    if text is not None and not isinstance(text, str):
        raise UsageError(f"{where}.{key} must be a text")
    return text
