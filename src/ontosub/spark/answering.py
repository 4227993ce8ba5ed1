"""A table of payloads against a matcher: matches and dead letters, each with the row that it is from."""

from __future__ import annotations

import pyarrow as pa

from ontosub.matching import Matcher
from ontosub.matching.batch import Batch
from ontosub.model.errors import OntosubError
from ontosub.spark.decoding import dead_letters
from ontosub.spark.passing import Made
from ontosub.spark.payloads import Options, Payloads
from ontosub.spark.schemas import ARROW_REJECT


class Numbered(Batch):
    """Events of a batch of payloads. Their ids are their numbers; `names` has what they are called.

    `sources` has the row of each event, `faults` what is wrong, with the row that it is in.
    """

    names: list[str]
    sources: list[int]
    faults: list[tuple[int, OntosubError]]


def matched(
    matcher: Matcher, table: pa.Table, options: Options | None, *, bindings: bool, encoded: bool = False
) -> Made:
    """Match a table of payloads, whose ids need neither be there nor be different; see `Matcher.match_batch`."""
    batch = Batch(table)
    return answered(matcher, batch, Payloads(batch, options), bindings=bindings, encoded=encoded)


def answered(
    matcher: Matcher, batch: Batch, events: Payloads | Numbered, *, bindings: bool, encoded: bool = False
) -> Made:
    """Match the events of a batch of payloads."""
    matches, rejects = matcher.match_batch(events, bindings=bindings, encoded=encoded)
    names = pa.array(events.names, pa.string())
    if encoded:
        numbers = _numbers(matches["event_id"])
        unique = names.dictionary_encode()
        named = pa.DictionaryArray.from_arrays(unique.indices.take(numbers), unique.dictionary)
        matches = matches.set_column(0, matches.schema.field(0), named)
    else:
        numbers = matches["event_id"].cast(pa.int64()).combine_chunks()
        matches = matches.set_column(0, "event_id", names.take(numbers))
    sources = pa.array(events.sources, pa.int64())
    return Made(matches, sources.take(numbers), *rejected(batch, events, rejects))


def _numbers(ids: pa.ChunkedArray) -> pa.Array:
    """Return the numbers that ids are, of which each chunk has a dictionary."""
    chunks = [chunk.dictionary.cast(pa.int64()).take(chunk.indices) for chunk in ids.chunks]
    return pa.concat_arrays([pa.array([], pa.int64()), *chunks])


def rejected(batch: Batch, events: Payloads | Numbered, rejects: pa.Table) -> tuple[pa.StructArray, pa.Array]:
    """Return the dead letters of a batch, and their rows: what could not be read, then those that `rejects` has."""
    told = pa.StructArray.from_arrays(
        [rejects[field.name].combine_chunks() for field in ARROW_REJECT], fields=list(ARROW_REJECT)
    )
    unread, rows = dead_letters(batch, events.faults)
    given_up = pa.array(events.sources, pa.int64()).take(rejects["event_id"].cast(pa.int64()).combine_chunks())
    return pa.concat_arrays([unread, told]), pa.concat_arrays([rows, given_up])
