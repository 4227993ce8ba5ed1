"""The stage that decodes: payloads of any format in, one row per event out, in canonical N-Triples.

That is what the matcher reads without making objects, and what is easy to store and to compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from ontosub.formats.lifted_json import context_beside
from ontosub.formats.limits import DEFAULT, Limits
from ontosub.formats.mapping_document import read_mapping
from ontosub.formats.media import media_of
from ontosub.formats.reading import Document, document_text
from ontosub.formats.reading import Options as ReadingOptions
from ontosub.matching.batch import Batch, reason_of
from ontosub.model import Event
from ontosub.model.errors import OntosubError, UsageError
from ontosub.spark.canonical import canonical
from ontosub.spark.passing import Made, Passing, staged
from ontosub.spark.payloads import Options, events_in
from ontosub.spark.schemas import ARROW_EVENTS, ARROW_REJECT


def decode(
    *,
    base: str | None = None,
    context: Document | list[Any] | None = None,
    vocab: str | None = None,
    mapping: Document | None = None,
    delimiter: str | None = None,
    limits: Limits = DEFAULT,
    formats: Mapping[str, Mapping[str, Any]] | None = None,
) -> Decode:
    """Return the stage that turns a frame of payloads (EVENTS) into one with a row for each event in them.

    The options are those of `Event.read_stream`; files are read here, not on workers. `formats` has options that hold
    for payloads of one format only, by its name: `{"csv": {"mapping": Path("lots.mapping.json")}}`.

    The rows are in N-Triples, or in N-Quads in the rare case that their home needs it. An event that is alone in its
    payload has the id of its row; one of several has its own name or, if it has none, that of the row, with `#2`, `#3`
    behind those after the first. The column `reject` is null, except in rows for what could not be read, which
    `outcomes` passes on and `match` leaves out; see `accepted` and `rejected`. Columns beyond EVENTS are repeated on
    each row.

    Raises UsageError or FormatError when an option cannot be used.
    """
    general = {
        "base": base,
        "context": context,
        "vocab": vocab,
        "mapping": mapping,
        "delimiter": delimiter,
        "limits": limits,
    }
    options = {"": _checked(general)}
    for name, own in (formats or {}).items():
        unknown = own.keys() - general.keys()
        if unknown:
            raise UsageError(f"the format {name} has no option {min(unknown)}: choose from {', '.join(general)}")
        options[media_of(name).format.name] = _checked({**general, **own})
    return Decode(options)


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as they go to workers, who cannot read files that are here."""
    if given["mapping"] is not None:
        read_mapping(given["mapping"], given["limits"])
    options = {**given, "context": _text(given["context"]), "mapping": _text(given["mapping"])}
    context_beside(ReadingOptions.of(options))
    return options


def _text(document: Document | list[Any] | None) -> str | None:
    return None if document is None else document_text(document)


@dataclass(frozen=True, slots=True)
class Decode:
    """The stage that decodes, with its options; see `decode`. To match in the same pass, give it to `match`."""

    options: Options

    def __call__(self, frame: DataFrame) -> DataFrame:
        return staged(frame, ARROW_EVENTS, lambda through: Decoding(self.options, through).run, keeps_rejects=True)


@dataclass(frozen=True, slots=True)
class Decoding:
    """What a worker is sent: how payloads are read, and how columns pass."""

    options: Options
    through: Passing

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Decode the rows of one task."""
        return self.through.batches(batches, lambda table: decoded(table, self.options))


def decoded(table: pa.Table, options: Options) -> Made:
    """Decode a table of payloads."""
    batch = Batch(table)
    rows: list[dict[str, Any]] = []
    sources: list[int] = []
    told: list[tuple[int, OntosubError]] = []
    for row in range(len(batch)):
        faults: list[OntosubError] = []
        written = [*filter(None, (_written(event, faults) for event in events_in(batch, row, options, faults)))]
        rows += written
        sources += [row] * len(written)
        told += [(row, fault) for fault in faults]
    rejects, reject_sources = dead_letters(batch, told)
    return Made(pa.Table.from_pylist(rows, schema=ARROW_EVENTS), pa.array(sources, pa.int64()), rejects, reject_sources)


def _written(event: Event, faults: list[OntosubError]) -> dict[str, Any] | None:
    try:
        content_type, payload = canonical(event)
    except UsageError as error:
        faults.append(error)
        return None
    when = event.interval
    return {
        "event_id": event.id,
        "content_type": content_type,
        "payload": payload,
        "time_start": None if when is None else when.start,
        "time_end": None if when is None else when.end,
    }


def dead_letters(batch: Batch, faults: list[tuple[int, OntosubError]]) -> tuple[pa.StructArray, pa.Array]:
    """Return what is wrong, and the rows that it is in.

    A payload stands with its first fault only: a large one may have as many faults as lines.
    """
    before: set[int] = set()
    rows = []
    for row, fault in faults:
        kept = None if row in before else batch.payloads[row]
        rows.append({"content_type": batch.content_types[row], "payload": kept, **reason_of(fault)._asdict()})
        before.add(row)
    return pa.array(rows, ARROW_REJECT), pa.array([row for row, _ in faults], pa.int64())
