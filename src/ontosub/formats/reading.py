"""What every reader takes and gives: the options of a call, and the members of a payload that become events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from pyoxigraph import Quad

from ontosub.formats.limits import DEFAULT, Limits
from ontosub.formats.source import contents, decode
from ontosub.model.errors import InputError, LimitError, OntosubError, UsageError
from ontosub.model.interval import Interval
from ontosub.model.terms import Resource, Triple

Document = Mapping[str, Any] | str | Path
"""A JSON document given beside a payload: as a mapping, as JSON text, or as a file."""

OnFault = Callable[[OntosubError], None]
Record = TypeVar("Record")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a call. Those that a format has no use for are ignored, so one set serves a mixed stream.

    `base` resolves relative IRIs. `context` and `vocab` give plain JSON its meaning, `vocab` also lifts XML and CSV.
    `mapping` says how XML and CSV become RDF. `headers` carry a CloudEvent's attributes. `delimiter` parts CSV cells.
    `dataset` makes one event of a whole dataset: its default graph, with the named graphs kept for GRAPH. `on_fault`
    is told of a record that cannot be read; without it, the first one ends the stream.
    """

    base: str | None = None
    context: Document | list[Any] | None = None
    vocab: str | None = None
    mapping: Document | None = None
    headers: Mapping[str, str | bytes] | None = None
    delimiter: str | None = None
    dataset: bool = False
    on_fault: OnFault | None = None
    limits: Limits = DEFAULT

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Options:
        """Check the names of options and return their values."""
        known = [field.name for field in fields(cls)]
        unknown = [name for name in options if name not in known]
        if unknown:
            raise UsageError(f"unknown option {unknown[0]!r}: known are {', '.join(known)}")
        return cls(**options)


@dataclass(frozen=True, slots=True)
class Member:
    """What one event of a payload says, before it has an id. `name` is what the payload itself calls it."""

    triples: list[Triple] = field(default_factory=list)
    name: str | None = None
    home: Resource | None = None
    interval: Interval | None = None
    type: str | None = None
    named_graphs: frozenset[Quad] = frozenset()


def each(records: Iterable[Record], read: Callable[[Record], Result], options: Options) -> Iterator[Result]:
    """Yield what is read from each record. One that cannot be read is told to `on_fault`, and the others go on.

    Of very many faults only the first are told, and at the end how many more there were.
    """
    faults = 0
    for record in records:
        try:
            result = read(record)
        except (InputError, LimitError) as error:
            faults += 1
            if options.on_fault is None:
                raise
            if faults <= options.limits.faults:
                options.on_fault(error)
        else:
            yield result
    more = faults - options.limits.faults
    if more > 0 and options.on_fault is not None:
        told = f"{more:,} more records cannot be read: the limit is faults = {options.limits.faults:,}"
        options.on_fault(LimitError(told))


def document_text(document: Mapping[str, Any] | list[Any] | str | Path) -> str:
    """Return the JSON text of a document given beside a payload."""
    if isinstance(document, Path):
        return decode(contents(document), name=str(document)).text
    if isinstance(document, str):
        return document
    try:
        return json.dumps(document, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"a context or mapping must be JSON: {error}") from None
