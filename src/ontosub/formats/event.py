"""Events from payloads: what `Event.read` and `Event.read_stream` do."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from pyoxigraph import Quad

from ontosub.formats import cloudevents, jelly, media, tables, trees
from ontosub.formats.graphs import members_of, whole_dataset
from ontosub.formats.lifted_json import read_json, read_json_lines
from ontosub.formats.mapping_document import read_mapping
from ontosub.formats.media import Media, media_of, media_of_path
from ontosub.formats.messages import read_messages
from ontosub.formats.rdf import quads_of, text_of
from ontosub.formats.reading import Member, Options, each
from ontosub.formats.source import Source, contents, encode
from ontosub.model.errors import FormatError, UsageError
from ontosub.model.event import Event, Time, interval_of
from ontosub.model.interval import Interval
from ontosub.model.terms import BlankNode, NamedNode, Resource


def read_event(
    data: bytes | str | Path,
    format: str | None = None,
    *,
    id: str | None = None,
    home: Resource | str | None = None,
    time: Time | None = None,
    lifetime: timedelta | None = None,
    **options: Any,
) -> Event:
    """Read the one event that a payload holds; see `Event.read`."""
    payload = _Payload.of(data, format, Options.of(options))
    interval = interval_of(time)
    members = payload.members()
    member = next(members, None)
    if member is None:
        raise FormatError("the payload holds no event", source=payload.name)
    if next(members, None) is not None:
        raise FormatError(
            "the payload holds more than one event",
            hint="Read it with Event.read_stream, which yields them all.",
            source=payload.name,
        )
    return _event(member, id or member.name or payload.digest, _resource(home), interval, lifetime)


def read_stream(
    data: bytes | str | Path,
    format: str | None = None,
    *,
    home: Resource | str | None = None,
    time: Time | None = None,
    lifetime: timedelta | None = None,
    **options: Any,
) -> Iterator[Event]:
    """Yield the events that a payload holds; see `Event.read_stream`.

    An event that the payload does not name is called after the payload's digest; those that follow the first have
    their number behind it: `#2`, `#3`. The events before a fault have been yielded when it is raised: take a list of
    them all for all or nothing, or give `on_fault` to go on with the records after it (JSON lines, CSV, mapped XML,
    CloudEvents batches).
    """
    payload = _Payload.of(data, format, Options.of(options))
    digest, vertex, interval = payload.digest, _resource(home), interval_of(time)
    return (
        _event(member, member.name or _numbered(digest, number), vertex, interval, lifetime)
        for number, member in enumerate(payload.members(), 1)
    )


def _numbered(digest: str, number: int) -> str:
    return digest if number == 1 else f"{digest}#{number}"


def _event(
    member: Member, id: str, home: Resource | None, interval: Interval | None, lifetime: timedelta | None
) -> Event:
    vertex, when = home or member.home, interval or member.interval
    return Event(id, frozenset(member.triples), vertex, when, lifetime, member.type, member.named_graphs)


def _resource(home: Resource | str | None) -> Resource | None:
    if not isinstance(home, str):
        return home
    try:
        return BlankNode(home.removeprefix("_:")) if home.startswith("_:") else NamedNode(home)
    except ValueError as error:
        raise UsageError(f"the home {home!r} is neither an IRI nor a blank node such as _:H: {error}") from None


class _Payload:
    """A payload with its format and options: what its members are, and what it is called."""

    def __init__(self, data: bytes | Source, media: Media | None, options: Options, name: str | None = None) -> None:
        self.data = data
        self.media = media
        self.options = options
        self.name = name

    @classmethod
    def of(cls, data: bytes | str | Path, format: str | None, options: Options) -> _Payload:
        """Open a payload. Raises UsageError when nothing says what its format is."""
        found = media_of(format) if format is not None else None
        name = None
        if isinstance(data, Path):
            found, name = found or media_of_path(data), str(data)
            data = contents(data, options.limits)
        content_type = cloudevents.content_type_of(options.headers)
        if found is None and content_type is not None:
            found = media_of(content_type)
        if found is None and options.headers is None:
            raise UsageError('give the format of the payload, for example format="text/turtle"')
        return cls(encode(data) if isinstance(data, str) else data, found, options, name)

    @property
    def digest(self) -> str:
        """The id of an event that nobody named."""
        data = self.data if isinstance(self.data, bytes) else self.data.text.encode()
        return f"sha256:{hashlib.sha256(data).hexdigest()[:32]}"

    def members(self) -> Iterator[Member]:
        """Yield what the events of the payload say."""
        headers = self.options.headers
        if headers and isinstance(self.data, bytes):
            envelope = cloudevents.read_binary(self.data, headers, self.media)
            if envelope is not None:
                yield self._opened(envelope)
                return
        if self.media is None:
            raise UsageError("the headers name neither a content-type nor a CloudEvent: give the format")
        if self.media.format is media.JELLY:
            for quads in self._jelly():
                yield from self._members_of(quads)
            return
        source = self.data
        if isinstance(source, bytes):
            source = text_of(source, self.media, self.options.limits, self.name)
        yield from self._from_text(source, self.media)

    def _jelly(self) -> Iterator[list[Quad]]:
        if not isinstance(self.data, bytes):
            raise UsageError("Jelly is a binary format: give bytes")
        return jelly.iter_quads(jelly.read_frames(self.data, self.options.limits, self.name))

    def _from_text(self, source: Source, found: Media) -> Iterator[Member]:
        options, kind = self.options, found.format
        if kind in media.TURTLE_FAMILY:
            for quads in read_messages(source, found, options.base, options.limits):
                yield from self._members_of(quads)
        elif kind in (media.JSON, media.JSON_LD):
            yield from self._members_of(read_json(source, options, plain=kind is media.JSON))
        elif kind is media.JSON_LINES:
            for quads in read_json_lines(source, options):
                yield from self._members_of(quads)
        elif kind is media.XML:
            yield from _from_xml(source, options)
        elif kind in (media.CSV, media.TSV):
            yield from _from_table(source, options, "\t" if kind is media.TSV else ",")
        elif kind is media.CLOUDEVENTS:
            yield self._opened(cloudevents.read_structured(source, options.limits))
        elif kind is media.CLOUDEVENTS_BATCH:
            yield from each(cloudevents.read_batch(source, options.limits), self._enclosed, options)
        else:
            yield from self._members_of(quads_of(source, kind, options.base, options.limits))

    def _members_of(self, quads: list[Quad]) -> list[Member]:
        return [whole_dataset(quads)] if self.options.dataset else members_of(quads)

    def _enclosed(self, source: Source) -> Member:
        return self._opened(cloudevents.read_structured(source, self.options.limits))

    def _opened(self, envelope: cloudevents.Envelope) -> Member:
        """Return the event in an envelope: the payload's triples under the envelope's id, time and type."""
        members = [Member()]
        if envelope.data is not None:
            inner = _Payload(envelope.data, envelope.media, replace(self.options, headers=None), self.name)
            members = list(inner.members())
        if len(members) != 1:
            raise FormatError(
                f"the CloudEvent {envelope.id!r} holds {len(members)} events where one is expected",
                hint="Send each event in an envelope of its own.",
                source=self.name,
            )
        interval = envelope.interval or members[0].interval
        return replace(members[0], name=envelope.id, interval=interval, type=envelope.type)


def _from_xml(source: Source, options: Options) -> Iterator[Member]:
    root = trees.read_tree(source, options.limits)
    if options.mapping is None:
        yield trees.lift(root, options.vocab, source)
        return
    mapping = read_mapping(options.mapping, options.limits)
    records = trees.records_of(root, mapping.records, source, mapping.prefixes)
    yield from each(records, mapping.member, options)


def _from_table(source: Source, options: Options, delimiter: str) -> Iterator[Member]:
    mapping = None if options.mapping is None else read_mapping(options.mapping, options.limits)

    def read(row: tables.Row | FormatError) -> Member:
        if isinstance(row, FormatError):
            raise row
        row.check(options.limits)
        if mapping is not None:
            return mapping.member(row)
        if options.vocab is not None:
            return tables.lift(row, options.vocab)
        raise row.fault(
            "a table has no meaning without a vocabulary",
            hint='Give vocab="http://example.org/" for its columns, or a mapping= for its rows.',
        )

    yield from each(tables.read_rows(source, options.delimiter or delimiter, options.limits), read, options)
