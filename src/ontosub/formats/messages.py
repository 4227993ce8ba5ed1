"""Message logs: several events in one text of the Turtle family, as RDF Messages (W3C RSP community group) has them.

A log announces itself with `VERSION "1.2-messages"` (or "1.1-messages", "1.2-basic-messages"), and `MESSAGE` or
`@message .` ends a message. The comment line `# @message`, of earlier drafts, does so without any announcement.
Prefixes and the base persist from one message to the next; blank nodes do not, since every event is a graph of its
own. A delimiter at the very end opens no further message.

Each delimiter is replaced by a marker statement and the text is parsed once, so prefixes need no bookkeeping and
faults keep their lines.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from pyoxigraph import DefaultGraph, Quad

from ontosub.formats.blank import relabel, written_in
from ontosub.formats.limits import DEFAULT, Limits
from ontosub.formats.media import N_QUADS, N_TRIPLES, Media
from ontosub.formats.rdf import parse, quads_of
from ontosub.formats.source import Source
from ontosub.formats.turtle_scan import check_nesting, scan
from ontosub.model.errors import Span
from ontosub.model.terms import Literal, NamedNode

_ANNOUNCED = re.compile(r"""^[ \t]*(?:version|@version)[ \t]+["'][\d.]+(?:-basic)?-messages["']""", re.I | re.M)
_VERSION = re.compile(r'^[ \t]*VERSION[ \t]+"[^"\n]*"', re.M)
_COMMENT = re.compile(r"#[ \t]*@message\b")


class _Delimiter(NamedTuple):
    start: int
    end: int


def read_messages(
    source: Source, media: Media, base: str | None = None, limits: Limits = DEFAULT
) -> Iterator[list[Quad]]:
    """Yield the quads of each message of a log. A text without delimiters is one message."""
    delimiters = _delimiters(source.text, media)
    if media.format in (N_TRIPLES, N_QUADS):  # whose parser does not know the directive yet
        source = replace(source, text=_VERSION.sub(lambda found: " " * len(found[0]), source.text))
    if not delimiters:
        yield quads_of(source, media.format, base, limits)
        return
    check_nesting(source.text, limits)
    marker = NamedNode(f"urn:sha256:{hashlib.sha256(source.text.encode()).hexdigest()}")
    marked, shifts = _marked(source.text, delimiters, marker)
    statements = parse(source, media.format, base, limits, text=marked, place=lambda span: _placed(span, shifts))
    written = written_in(source.text)
    for message in _parted(statements, marker, delimiters, source, limits):
        yield relabel(message, written)


def _parted(
    statements: Iterator[Quad], marker: NamedNode, delimiters: list[_Delimiter], source: Source, limits: Limits
) -> Iterator[list[Quad]]:
    """Yield the statements between markers; those behind the last one only if there are any."""
    waiting: list[Quad] = []
    remaining = iter(delimiters)
    for quad in statements:
        if quad.predicate != marker:
            waiting.append(quad)
            limits.check("triples", len(waiting), "the event has {} triples or more")
            continue
        delimiter = next(remaining)
        if not isinstance(quad.graph_name, DefaultGraph):
            hint = "Close the graph with } before the message ends."
            raise source.fault("a message ends inside a graph", *delimiter, hint=hint)
        yield waiting
        waiting = []
    if waiting:
        yield waiting


def _delimiters(text: str, media: Media) -> list[_Delimiter]:
    """Return where messages end. Directives count only in a text that announces them."""
    if "message" not in text.lower():
        return []
    announced = media.parameters.get("version", "").endswith("-messages") or bool(_ANNOUNCED.search(text))
    found = []
    for token in scan(text):
        directive = token.lastgroup == "message" and announced
        comment = token.lastgroup == "comment" and _COMMENT.match(token[0]) and _starts_line(text, token.start())
        if directive or comment:
            found.append(_Delimiter(*token.span()))
    return found


def _starts_line(text: str, at: int) -> bool:
    """Say whether only white space stands before a place in its line."""
    while at and text[at - 1] != "\n":
        if not text[at - 1].isspace():
            return False
        at -= 1
    return True


def _marked(text: str, delimiters: list[_Delimiter], marker: NamedNode) -> tuple[str, dict[int, list[tuple[int, int]]]]:
    """Return the text with a marker statement for each delimiter and, by line, where columns moved and by how much.

    The marker's object is a literal, so that it can neither complete a statement left open before it nor be taken for
    the name of a graph.
    """
    statement = f"{marker} {marker} {Literal('')} ."
    pieces: list[str] = []
    shifts: dict[int, list[tuple[int, int]]] = {}
    at, line, line_start = 0, 1, 0
    for start, end in delimiters:
        line += text.count("\n", at, start)
        line_start = max(line_start, text.rfind("\n", at, start) + 1)
        pieces += [text[at:start], statement]
        if "\n" in text[start:end]:
            pieces.append(re.sub(r"[^\n]", " ", text[text.index("\n", start) : end]))
        else:
            shifts.setdefault(line, []).append((end - line_start + 1, len(statement) - (end - start)))
        line += text.count("\n", start, end)
        at = end
    return "".join([*pieces, text[at:]]), shifts


def _placed(span: Span, shifts: dict[int, list[tuple[int, int]]]) -> Span:
    """Return where a span of the marked text lies in the text itself."""
    return Span(
        span.line,
        _column(span.column, shifts.get(span.line, ())),
        span.end_line,
        _column(span.end_column, shifts.get(span.end_line, ())),
    )


def _column(column: int, shifts: list[tuple[int, int]] | tuple[()]) -> int:
    for end, grown in shifts:
        if column < end:
            break
        column = max(end, column - grown)
    return column
