"""RDF syntaxes to triples and quads: pyoxigraph does the parsing, this module bounds it and places its faults."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator

import pyoxigraph
from pyoxigraph import DefaultGraph, Quad, RdfFormat

from ontosub.formats import json_ld, xml_guard
from ontosub.formats.blank import relabel, written_in
from ontosub.formats.jelly import read_frames
from ontosub.formats.limits import DEFAULT, Limits
from ontosub.formats.media import JELLY, JSON_LD, N3, N_QUADS, N_TRIPLES, RDF_FORMATS, RDF_XML, Format, Media, media_of
from ontosub.formats.source import Source, decode, xml_charset
from ontosub.formats.turtle_scan import check_nesting
from ontosub.model.errors import FormatError, LimitError, Span, UsageError
from ontosub.model.terms import Literal, Triple

Place = Callable[[Span], Span]


def read_triples(
    data: bytes | str, format: str, base: str | None = None, limits: Limits = DEFAULT, name: str | None = None
) -> list[Triple]:
    """Read one graph from a payload in an RDF syntax; `name` is what errors call the payload.

    A dataset is accepted when it holds one graph only, default or named. Raises FormatError, with line and column,
    when the payload is malformed, LimitError when it is too large; reads all of it or nothing.
    """
    quads = read_quads(data, format, base, limits, name)
    graphs = dict.fromkeys(quad.graph_name for quad in quads)
    if len(graphs) > 1:
        raise FormatError(
            f"the payload holds {len(graphs)} graphs where one is expected",
            hint="Send each graph by itself, or read the payload as a stream of events.",
            source=name,
        )
    return [quad.triple for quad in quads]


def read_quads(
    data: bytes | str, format: str, base: str | None = None, limits: Limits = DEFAULT, name: str | None = None
) -> list[Quad]:
    """Read a dataset from a payload in an RDF syntax; see `read_triples`."""
    media = media_of(format)
    if media.format not in RDF_FORMATS:
        known = ", ".join(each.name for each in RDF_FORMATS)
        raise UsageError(f"{media.format.name} is not an RDF syntax: those are {known}")
    if media.format is JELLY:
        return [quad for frame in read_frames(data, limits, name).frames for quad in frame]
    return quads_of(text_of(data, media, limits, name), media.format, base, limits)


def text_of(data: bytes | str, media: Media, limits: Limits = DEFAULT, name: str | None = None) -> Source:
    """Return a payload as text, in the encoding that its media type or, for XML, the document itself names."""
    charset = media.charset
    if isinstance(data, bytes) and media.format.name in ("rdfxml", "xml"):
        charset = charset or xml_charset(data[:256])
    return decode(data, limits, charset, name)


def quads_of(source: Source, format: Format, base: str | None = None, limits: Limits = DEFAULT) -> list[Quad]:
    """Read a dataset from text, with the same blank node labels on every reading."""
    quads = bounded(parse(source, format, base, limits), limits)
    # Line-based syntaxes have no anonymous blank nodes: every label is the publisher's.
    return list(quads) if format in (N_TRIPLES, N_QUADS) else relabel(quads, written_in(source.text))


def bounded(quads: Iterable[Quad], limits: Limits) -> Iterator[Quad]:
    """Yield the quads of one message; raise LimitError when they are too many."""
    for count, quad in enumerate(quads, 1):
        if count > limits.triples:
            limits.check("triples", count, "the event has {} triples or more")
        yield quad


def parse(
    source: Source,
    format: Format,
    base: str | None = None,
    limits: Limits = DEFAULT,
    *,
    text: str | None = None,
    place: Place | None = None,
) -> Iterator[Quad]:
    """Yield the quads of a text as the parser finds them.

    `text`, when given, is parsed in place of the source's own; `place` then says where a span of it lies in the
    source, which is what faults show.
    """
    if text is None:
        text = source.text
        _guard(source, format, limits)
    if format is RDF_XML:
        text = _without_declaration(text)
    try:
        yield from _sized(_quads(text, format, base), _reach(text, format, limits), limits)
    except MemoryError:
        # The parser's own buffer is full: a token of more than 16 MiB.
        raise LimitError("a literal, IRI or comment is longer than the parser's buffer of 16 MiB") from None
    except SyntaxError as error:
        raise _fault(error, source, format, base, text, place) from None


def _guard(source: Source, format: Format, limits: Limits) -> None:
    """Refuse what the parser would take too long over, or fall over."""
    if format is RDF_XML:
        if source.text.strip():
            xml_guard.parse(source, limits)
    elif format is JSON_LD:
        json_ld.check(source, limits)
    else:
        check_nesting(source.text, limits)


def _quads(text: str | io.RawIOBase, format: Format, base: str | None) -> Iterator[Quad]:
    try:
        parser = pyoxigraph.parse(text, format=format.syntax, base_iri=base)  # type: ignore[arg-type]
    except ValueError as error:
        raise UsageError(f"the base {base!r} is not an absolute IRI: {error}") from None
    for quad in parser:
        if format is N3 and not isinstance(quad.graph_name, DefaultGraph):
            raise SyntaxError("formulas are not RDF", (None, None, None, None, None, None))
        yield quad


def _reach(text: str, format: Format, limits: Limits) -> int:
    """Return how many characters a text can have once its XML entities are expanded."""
    return len(text) + (limits.entity_chars if format is RDF_XML and "<!ENTITY" in text else 0)


def _sized(quads: Iterator[Quad], size: int, limits: Limits) -> Iterator[Quad]:
    """Pass the quads on while their terms, written out, stay within the limits.

    A text of n characters cannot spell n² characters of terms, nor a literal longer than itself, so small payloads
    need no counting.
    """
    if size * size <= limits.term_chars and size <= limits.literal_chars:
        yield from quads
        return
    total = 0
    for quad in quads:
        length = len(str(quad))
        total += length
        limits.check("term_chars", total, "the terms of the payload have {} characters together")
        if length > limits.literal_chars and isinstance(quad.object, Literal):
            length = len(quad.object.value)
            limits.check("literal_chars", length, "a literal has {} characters")
        yield quad


_DECLARATION = re.compile(r"<\?xml\s[^>]*\?>")


def _without_declaration(text: str) -> str:
    """Blank the XML declaration: the text is decoded already, and its encoding would only mislead the parser."""
    declaration = _DECLARATION.match(text)
    if not declaration:
        return text
    return re.sub(r"[^\n]", " ", declaration[0]) + text[declaration.end() :]


_PREAMBLE = re.compile(r"^Parser error [^:]*: ")
_QUOTED = re.compile(r"['`]([^'`]+)['`]")
_KEYWORD = re.compile(r"@[a-z]+")
_QUOTED_MAX = 10
"""How many of the words that a message quotes are looked for in the payload: it may quote the whole of it."""

_HINTS = (
    ("prefix", "Declare it, for example: @prefix ex: <http://example.org/> ."),
    ("No scheme found", "Write the IRI in full, or give the base= that relative IRIs are resolved against."),
    ("Invalid IRI", "Percent-encode characters that an IRI may not hold; a space is %20."),
    ("MESSAGE is not", 'Begin a message log with VERSION "1.2-messages".'),
    ("@message is not", 'Begin a message log with @version "1.2-messages" .'),
    ("Line jumps", "Write \\n, or put the string between triple quotes."),
    ("Unexpected end", "The payload may have been cut off: close what it opens."),
    ("formulas", "Send plain triples; a rule or a quoted graph is no event."),
    ("variables", "Send plain triples; a rule or a quoted graph is no event."),
)


def _fault(
    error: SyntaxError, source: Source, format: Format, base: str | None, text: str, place: Place | None
) -> FormatError:
    raw = _PREAMBLE.sub("", str(error.args[0]))
    message = raw[0].lower() + raw[1:] if raw[1:2].islower() or raw[1:2] == " " else raw
    hint = next((hint for sign, hint in _HINTS if sign in raw), None)
    span = _span(error, text, format)
    if span is not None and place is not None:
        span = place(span)
    if span is None:
        span = _named_in(raw, source)
    if span is None and place is None:
        span = _last_line_read(text, format, base)
    return source.fault_in(message, span, hint=hint)


def _named_in(message: str, source: Source) -> Span | None:
    """Return the place of what a message quotes or, if it occurs only once, of the JSON-LD keyword that it names."""
    quoted = _QUOTED.findall(message)[:_QUOTED_MAX]
    keywords = [f'"{keyword}"' for keyword in _KEYWORD.findall(message)[:_QUOTED_MAX]]
    keywords = [keyword for keyword in keywords if source.text.count(keyword) == 1]
    return source.find(*(f'"{text}"' for text in quoted), *quoted, *keywords)


def _span(error: SyntaxError, text: str, format: Format) -> Span | None:
    """Return what the parser says about the place of its error, in characters."""
    details = error.args[1] if len(error.args) > 1 else None
    if not details or details[1] is None:
        return None
    _, line, column, _, end_line, end_column = details
    if format.syntax == RdfFormat.JSON_LD:  # counts bytes
        shown = text.split("\n")[line - 1].encode()
        column = len(shown[: column - 1].decode(errors="replace")) + 1
        end_column = max(column + 1, len(shown[: end_column - 1].decode(errors="replace")) + 1)
    return Span(line, column, end_line, max(end_column, column + 1) if end_line == line else end_column)


class _Lines(io.RawIOBase):
    """A file that never gives more than one line at a reading, to see how far a parser came."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.given = 0
        self.rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next line or, of a line longer than `size`, the next piece; nothing at the end."""
        if not self.rest and self.given < len(self.lines):
            self.rest = self.lines[self.given].encode() + b"\n"
            self.given += 1
        size = len(self.rest) if size < 0 else size
        piece, self.rest = self.rest[:size], self.rest[size:]
        return piece


def _last_line_read(text: str, format: Format, base: str | None) -> Span | None:
    """Return the line that makes the parser fail, for faults that it does not place itself."""
    if format is JSON_LD:  # its parser reads ahead
        return None
    lines = _Lines(text)
    try:
        for _ in _quads(lines, format, base):
            pass
    except SyntaxError:
        line = lines.lines[lines.given - 1].rstrip()
        start = len(line) - len(line.lstrip())
        return Span(lines.given, start + 1, lines.given, len(line) + 1)
    return None
