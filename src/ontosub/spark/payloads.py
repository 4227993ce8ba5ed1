"""A table of payloads as a batch of the events in them, each with the row that it is from.

What the matcher reads as bytes stays as it is. Everything else is read here, once, into objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ontosub.formats import media
from ontosub.matching.batch import Batch, fault_of
from ontosub.model import Event, Interval
from ontosub.model.errors import OntosubError

Options = Mapping[str, Mapping[str, Any]]
"""How payloads that may hold several events are read: the options of `Event.read_stream` by the names of formats, with
those of all others under an empty name."""

_UNNAMED = re.compile(r"sha256:[0-9a-f]{32}(#\d+)?")
"""What `Event.read_stream` calls an event that its payload does not name: a digest, and its number."""

_LAST_TERM = re.compile(rb"(\S+)[ \t]*\.[ \t]*$", re.MULTILINE)


class Payloads(Batch):
    """The events of a batch of payloads, in order. Their ids are their numbers; `names` has what they are called.

    With `options`, a payload may hold several events; else it holds one. `sources` has the row of each event, `faults`
    what is wrong, with the row that it is in.
    """

    def __init__(self, batch: Batch, options: Options | None = None) -> None:
        self.faults: list[tuple[int, OntosubError]] = []
        self.names: list[str] = []
        self.sources: list[int] = []
        self._batch = batch
        self._events: list[Event | None] = []
        for row, name in enumerate(batch.ids):
            if name and (options is None or _is_one_event(batch, row)):
                self._add(row, name, None)
            else:
                for event in self._read(row, options):
                    self._add(row, event.id, event)
        self.ids = [str(number) for number in range(len(self.sources))]
        self.content_types = [batch.content_types[row] for row in self.sources]
        self.payloads = [batch.payloads[row] for row in self.sources]

    def _add(self, row: int, name: str, event: Event | None) -> None:
        self._events.append(None if event is None else replace(event, id=str(len(self._events))))
        self.sources.append(row)
        self.names.append(name)

    def _read(self, row: int, options: Options | None) -> list[Event]:
        faults: list[OntosubError] = []
        if options is not None:
            events = events_in(self._batch, row, options, faults)
        else:
            events = []
            try:
                events.append(self._batch.event(row))
            except OntosubError as error:
                faults.append(error)
        self.faults += [(row, fault) for fault in faults]
        return events

    def interval(self, row: int) -> Interval | None:
        return self._batch.interval(self.sources[row])

    def is_read(self, row: int) -> bool:
        return self._events[row] is not None

    def event(self, row: int) -> Event:
        return self._events[row] or replace(self._batch.event(self.sources[row]), id=str(row))


_FAST = {name: each for each in (media.N_TRIPLES, media.N_QUADS) for name in each.media_types}


def _is_one_event(batch: Batch, row: int) -> bool:
    """Say whether a payload is in N-Triples or N-Quads, with no more than one event, as far as is seen at a glance.

    In N-Quads all lines end with the same name of a graph then, or, if they have none, with the same object.
    """
    syntax, payload = _FAST.get(batch.content_types[row] or ""), batch.payloads[row] or b""
    if syntax is None or b"@message" in payload:
        return False
    return syntax is media.N_TRIPLES or len(set(_LAST_TERM.findall(payload))) <= 1


def events_in(batch: Batch, row: int, options: Options, faults: list[OntosubError]) -> list[Event]:
    """Return the events of a row under their names; what is wrong is added to `faults`.

    What comes before a fault stays, and what comes after it, where the format can go on.
    """
    events = list(_events(batch, row, options, faults))
    name = batch.ids[row]
    return _named(events, name, alone=len(events) == 1 and not faults) if name else events


def _events(batch: Batch, row: int, options: Options, faults: list[OntosubError]) -> Iterator[Event]:
    payload, content_type = batch.payloads[row] or b"", batch.content_types[row]
    try:
        time, chosen = batch.interval(row), _chosen(options, content_type)
        yield from Event.read_stream(payload, content_type, time=time, on_fault=faults.append, **chosen)
    except Exception as error:
        faults.append(fault_of(error))


def _chosen(options: Options, content_type: str | None) -> Mapping[str, Any]:
    if len(options) > 1 and content_type:
        return options.get(media.media_of(content_type).format.name, options[""])
    return options.get("", {})


def _named(events: list[Event], name: str, *, alone: bool) -> list[Event]:
    """Name events after their row: one that is alone, and those that their payload does not name."""
    if alone:
        return [replace(events[0], id=name)]
    unnamed = [_UNNAMED.fullmatch(event.id) for event in events]
    return [
        event if found is None else replace(event, id=name + (found[1] or ""))
        for event, found in zip(events, unnamed, strict=True)
    ]
