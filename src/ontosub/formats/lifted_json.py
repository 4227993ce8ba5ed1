"""JSON to RDF: JSON-LD by its own context, plain JSON by a context that is given beside it.

The payload is wrapped, as text, into `{"@context": …, "@graph": [payload]}`, so a context of the payload's own still
applies inside. JSON-LD decides what numbers mean: 350 is an xsd:integer, 350.5 an xsd:double.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pyoxigraph import Quad

from ontosub.formats import json_ld, json_text
from ontosub.formats.blank import relabel, written_in
from ontosub.formats.datatypes import misfit_of
from ontosub.formats.limits import Limits
from ontosub.formats.media import JSON_LD
from ontosub.formats.rdf import bounded, parse
from ontosub.formats.reading import Options, document_text, each
from ontosub.formats.source import Source
from ontosub.model.errors import LimitError, Span
from ontosub.model.terms import Literal

_CONTEXT_LINE_MAX = 1 << 16
"""The longest context line of JSON lines, in characters: it is read again for every line after it."""

_CHARS_PER_STEP = 500
"""How many characters of a context are read in the time that a term of it takes."""


@dataclass(frozen=True, slots=True)
class Context:
    """A context beside a payload: its JSON text, and what it costs."""

    text: str
    census: json_ld.Census


def read_json(source: Source, options: Options, *, plain: bool = True) -> list[Quad]:
    """Read one JSON value. A plain one, that no JSON-LD keyword describes, needs `context=` or `vocab=` beside it.

    Raises FormatError when a plain payload says nothing under its context.
    """
    return _read(source, options, context_beside(options), plain)


def read_json_lines(source: Source, options: Options) -> Iterator[list[Quad]]:
    """Read one value a line, as NDJSON-LD: a line that is only a context holds for the lines after it."""
    context = context_beside(options)
    beside, work = context, 0

    def read(line: Source) -> list[Quad] | None:
        nonlocal context, work
        if '"@context"' in line.text and _is_context(json_text.load(line, options.limits)):
            context = _context_line(line, options.limits)
            return None
        if context is not None and context is not beside:
            # The context is read again for this line. That may cost as much as the lines do, and little more.
            work += max(0, context.census.definitions + len(context.text) // _CHARS_PER_STEP - len(line.text))
            options.limits.check(
                "context_work", work, "context lines cause {} steps (terms times the lines after them)"
            )
        return _read(line, options, context, plain=True)

    read_lines = each(_lines(source), read, options)
    return (quads for quads in read_lines if quads is not None)


def _lines(source: Source) -> Iterator[Source]:
    at = 0
    for line in source.text.split("\n"):
        if line.strip():
            yield source.part(at, at + len(line))
        at += len(line) + 1


def _context_line(line: Source, limits: Limits) -> Context:
    if len(line.text) > _CONTEXT_LINE_MAX:
        raise LimitError(f"a context line has {len(line.text):,} characters: the limit is {_CONTEXT_LINE_MAX:,}")
    json_ld.check(line, limits)
    return _context(line.text, None, limits)


def context_beside(options: Options) -> Context | None:
    """Return the context that the options give, None if they give none."""
    if options.context is None and options.vocab is None:
        return None
    return _context("[]" if options.context is None else document_text(options.context), options.vocab, options.limits)


@lru_cache(maxsize=64)
def _context(text: str, vocab: str | None, limits: Limits) -> Context:
    source = Source.of(text, "context")
    json_ld.check(source, limits)
    value = json.loads(source.text)
    value = value["@context"] if _is_context(value) else value
    contexts = value if isinstance(value, list) else [value]
    if vocab is not None:
        contexts = [{"@vocab": vocab}, *contexts]
    census = json_ld.survey({"@context": contexts})
    if census.remote:
        raise source.fault_in(
            f"the context {census.remote[0]} lies elsewhere",
            source.find(f'"{census.remote[0]}"'),
            hint="Nothing is fetched: give the context itself.",
        )
    return Context(json.dumps(contexts), census)


def _is_context(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"@context"}


def _read(source: Source, options: Options, context: Context | None, plain: bool) -> list[Quad]:
    value = json_ld.check(source, options.limits, context.census if context else None)
    plain = plain and not _describes_itself(value)
    if plain and context is None:
        raise source.fault(
            "plain JSON has no meaning without a context",
            0,
            hint='Give context={"price": "http://example.org/price", …} or vocab="http://example.org/".',
        )
    quads = _quads(source, options, context)
    if plain and not quads:
        raise source.fault(
            "the context gives no member of the payload a meaning",
            0,
            hint="Define the payload's keys in the context, or give vocab= for all of them.",
        )
    if plain:
        _check_datatypes(source, quads)
    return quads


def _check_datatypes(source: Source, quads: list[Quad]) -> None:
    """Refuse a value that does not belong to the datatype which the context beside the payload states for it."""
    for quad in quads:
        if isinstance(quad.object, Literal) and (misfit := misfit_of(quad.object)):
            where = json_text.find_scalar(source, quad.object.value)
            hint = "Correct the value, or the context's @type; a decimal with a fraction must be sent as a string."
            raise source.fault_in(f"{misfit}, as the context has it", where, hint=hint)


def _describes_itself(value: Any) -> bool:
    """Say whether a value is JSON-LD already, by a keyword of it (`@context`, `@id`, `@graph`, …), or empty."""
    values = value if isinstance(value, list) else [value]
    return all(isinstance(each, dict) and (not each or any(key.startswith("@") for key in each)) for each in values)


def _quads(source: Source, options: Options, context: Context | None) -> list[Quad]:
    opening = f'{{"@context":{context.text},"@graph":[' if context else ""
    text = f"{opening}{source.text}]}}" if context else source.text

    def place(span: Span) -> Span:
        return Span(
            span.line,
            max(1, span.column - (len(opening) if span.line == 1 else 0)),
            span.end_line,
            max(1, span.end_column - (len(opening) if span.end_line == 1 else 0)),
        )

    found = parse(source, JSON_LD, options.base, options.limits, text=text, place=place)
    return relabel(bounded(found, options.limits), written_in(text))
