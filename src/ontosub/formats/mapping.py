"""The mapping language: how a record (an XML element, a CSV row) becomes RDF.

A mapping is written as a JSON document (`mapping_document`, `docs/FORMATS.md`). It is small on purpose: prefixes,
which elements are records, a subject, classes, and properties whose values are literals, IRIs or nested nodes. A
record is anything that answers `values(path)` and `nodes(path)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol
from urllib.parse import quote

from ontosub.formats.datatypes import misfit_of, shown
from ontosub.formats.reading import Member
from ontosub.model.errors import FormatError, UsageError
from ontosub.model.interval import Interval
from ontosub.model.terms import TYPE, BlankNode, Literal, NamedNode, Resource, Triple


class Record(Protocol):
    """What a mapping reads from."""

    def values(self, path: str) -> list[str]:
        """Return the texts at `path`."""

    def nodes(self, path: str) -> Sequence[Record]:
        """Return the records at `path`, for a nested mapping."""

    def fault(
        self, message: str, path: str | None = None, *, value: str | None = None, hint: str | None = None
    ) -> FormatError:
        """Return the error that something is wrong with this record, or with the value that it has at `path`."""


@dataclass(frozen=True, slots=True)
class Template:
    """Text with `{path}` for a value made safe for an IRI, and `{+path}` for a value as it is."""

    text: str
    encoded: bool = True

    def fill(self, record: Record) -> str | None:
        """Return the text with the record's values in it, or None when the record lacks one."""
        values = {path: record.values(path) for _, path in self._holes()}
        if not all(values.values()):
            return None
        return _HOLE.sub(lambda hole: self._value(hole[1], values[hole[2]][0]), self.text)

    def missing(self, record: Record) -> str | None:
        """Return the first path that the record has no value for."""
        return next((path for _, path in self._holes() if not record.values(path)), None)

    def _value(self, plus: str, value: str) -> str:
        return value if plus or not self.encoded else _UNSAFE.sub(lambda character: quote(character[0], safe=""), value)

    def _holes(self) -> list[tuple[str, str]]:
        return _HOLE.findall(self.text)


_HOLE = re.compile(r"\{(\+?)([^{}+][^{}]*)\}")
_UNSAFE = re.compile(r"[^\w.~-]")


@dataclass(frozen=True, slots=True)
class PropertyMapping:
    """One property of a node: a literal from a path, an IRI from a template, or a nested node."""

    property: NamedNode
    path: str | None = None
    datatype: NamedNode | None = None
    language: str | None = None
    iri: Template | None = None
    object: NodeMapping | None = None
    default: str | None = None


@dataclass(frozen=True, slots=True)
class NodeMapping:
    """A node: its subject (a template, a blank node label, or None for a fresh blank node), classes and properties."""

    subject: Template | BlankNode | None
    classes: tuple[NamedNode, ...] = ()
    properties: tuple[PropertyMapping, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordMapping:
    """A whole mapping: where the records are, what each becomes, and what gives the event its id and time."""

    node: NodeMapping
    records: str | None = None
    id: Template | None = None
    time: str | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def member(self, record: Record) -> Member:
        """Return what one record says. Raises FormatError at the record when a value cannot be used."""
        maker = _Maker()
        home = maker.make(self.node, record)
        name = None if self.id is None else _required(self.id, record)
        return Member(maker.triples, name, home if maker.triples else None, self._interval(record))

    def _interval(self, record: Record) -> Interval | None:
        if self.time is None or not (values := record.values(self.time)):
            return None
        return instant(values[0], lambda message: record.fault(message, self.time))


class _Maker:
    """Makes the triples of one record and numbers its blank nodes."""

    def __init__(self) -> None:
        self.triples: list[Triple] = []
        self.blank = 0

    def make(self, node: NodeMapping, record: Record) -> Resource:
        subject = self._subject(node, record)
        self.triples += [Triple(subject, TYPE, cls) for cls in node.classes]
        for mapped in node.properties:
            for value in self._objects(mapped, record):
                self.triples.append(Triple(subject, mapped.property, value))
        return subject

    def _subject(self, node: NodeMapping, record: Record) -> Resource:
        if isinstance(node.subject, BlankNode):
            return node.subject
        if node.subject is None:
            self.blank += 1
            return BlankNode(f"b{self.blank - 1}")
        return _iri(_required(node.subject, record), record)

    def _objects(self, mapped: PropertyMapping, record: Record) -> Iterator[NamedNode | BlankNode | Literal]:
        if mapped.object is not None:
            for nested in [record] if mapped.path is None else record.nodes(mapped.path):
                yield self.make(mapped.object, nested)
        elif mapped.iri is not None:
            filled = mapped.iri.fill(record)
            value = mapped.default if filled is None else filled
            if value is not None:
                yield _iri(value, record)
        elif mapped.path is not None:
            default = [] if mapped.default is None else [mapped.default]
            for value in record.values(mapped.path) or default:
                literal = Literal(value, datatype=mapped.datatype, language=mapped.language)
                if misfit := misfit_of(literal):
                    raise record.fault(misfit, mapped.path, value=value, hint=_HINT)
                yield literal


_HINT = "Correct the value, or state another datatype for it; without one it is a plain string."


def _required(template: Template, record: Record) -> str:
    filled = template.fill(record)
    if filled is None:
        missing = template.missing(record)
        raise record.fault(
            f"the record has no value for {{{missing}}}", hint=f"The mapping needs it to make {template.text!r}."
        )
    return filled


def _iri(value: str, record: Record) -> NamedNode:
    try:
        return NamedNode(value)
    except ValueError as error:
        raise record.fault(
            f"{shown(value)!r} is not an IRI: {shown(str(error))}",
            value=value,
            hint="Check the template and the value.",
        ) from None


_LEAP_SECOND = re.compile(r"([T ]\d\d:?59:?)60(?:[.,]\d+)?", re.ASCII)


def instant(value: str, fault: Callable[[str], FormatError]) -> Interval:
    """Return the instant that an RFC 3339 time names; `fault(message)` makes the error when it names none.

    A leap second (`23:59:60`), which a datetime cannot say, is the start of the second after it.
    """
    text, leap_seconds = _LEAP_SECOND.subn(r"\g<1>59", value.strip().upper(), count=1)
    try:
        moment = datetime.fromisoformat(text) + timedelta(seconds=leap_seconds)
    except (OverflowError, ValueError):
        raise fault(f"{shown(value)!r} is not a time such as 2026-01-31T12:00:00Z") from None
    if moment.tzinfo is None:
        raise fault(f"the time {shown(value)!r} has no time zone: end it in Z or an offset")
    try:
        return Interval.instant(moment)
    except UsageError as error:
        raise fault(str(error)) from None
