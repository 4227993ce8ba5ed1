"""Text under a reader's eyes, and where it lies in what was given.

A `Source` may be a part of a larger text (a line of JSON lines, the data of a CloudEvent); a fault found in the part
is shown at its place in the whole.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from encodings import normalize_encoding
from encodings.aliases import aliases
from pathlib import Path

from ontosub.formats.datatypes import shown
from ontosub.formats.limits import DEFAULT, Limits
from ontosub.model.errors import FormatError, Span, UsageError


class Lines:
    """A text, and where its lines are.

    Whoever asks for places in order is answered in linear time: the search goes on from the last place.
    """

    __slots__ = ("_line", "_offset", "_start", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._offset = 0  # the last place,
        self._line = 1  # its line
        self._start = 0  # and where that starts

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of a place."""
        if offset >= self._offset:
            passed = self.text.count("\n", self._offset, offset)
            if passed:
                self._start = self.text.rfind("\n", self._offset, offset) + 1
            self._line += passed
        else:
            passed = self.text.count("\n", offset, self._offset)
            if passed:
                self._start = self.text.rfind("\n", 0, offset) + 1
            self._line -= passed
        self._offset = offset
        return self._line, offset - self._start + 1

    def start(self, line: int) -> int:
        """Return where a line of the text starts. Of lines that the text does not have, the nearest is meant."""
        while self._line < line and (end := self.text.find("\n", self._start)) >= 0:
            self._line, self._start = self._line + 1, end + 1
        while self._line > max(line, 1):
            self._line, self._start = self._line - 1, self.text.rfind("\n", 0, self._start - 1) + 1
        self._offset = self._start
        return self._start

    def __getitem__(self, line: int) -> str:
        """Return a line, without its end."""
        start = self.start(line)
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else None].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Source:
    """A text, the whole that it is part of, where in it, and what the whole is called (a file's name)."""

    text: str
    whole: Lines
    offset: int = 0
    name: str | None = None

    @classmethod
    def of(cls, text: str, name: str | None = None) -> Source:
        """Return a text that is part of nothing larger."""
        return cls(text, Lines(text), 0, name)

    def part(self, start: int, end: int) -> Source:
        """Return `text[start:end]`, which knows where it came from."""
        return Source(self.text[start:end], self.whole, self.offset + start, self.name)

    def fault(self, message: str, start: int, end: int | None = None, *, hint: str | None = None) -> FormatError:
        """Return the error that something is wrong with `text[start:end]`."""
        end = start + 1 if end is None else end
        place = self.whole.place(self.offset + start)
        line_start = self.offset + start - place[1] + 1
        return self._fault(message, Span(*place, *self.whole.place(self.offset + max(start, end))), line_start, hint)

    def fault_in(
        self, message: str, span: Span | None, *, hint: str | None = None, line_start: int | None = None
    ) -> FormatError:
        """Return the error that something is wrong at `span`, counted from the start of this text.

        `line_start` is the offset of the span's first line in the whole, for those who know it.
        """
        if span is None:
            return self._fault(message, None, None, hint)
        if self.offset:
            origin = self.whole.place(self.offset)
            place = _moved(span.line, span.column, origin)
            span = Span(*place, *_moved(span.end_line, span.end_column, origin))
        return self._fault(message, span, self.whole.start(span.line) if line_start is None else line_start, hint)

    def _fault(self, message: str, span: Span | None, line_start: int | None, hint: str | None) -> FormatError:
        text = self.whole.text
        return FormatError(message, hint=hint, text=text, span=span, source=self.name, line_start=line_start)

    def find(self, *wanted: str) -> Span | None:
        """Return where the first of `wanted` that occurs in this text occurs, for faults known by their text only."""
        for piece in wanted:
            if piece and (at := self.text.find(piece)) >= 0:
                return Span.of(self.text, at, at + len(piece))
        return None


def _moved(line: int, column: int, origin: tuple[int, int]) -> tuple[int, int]:
    return line + origin[0] - 1, column + (origin[1] - 1 if line == 1 else 0)


_ENCODINGS = ("utf-8", "utf-16", "utf-32", "ascii", "iso8859", "cp125", "gb", "big5", "euc", "shift", "koi8")
"""What a charset may name. Python knows stranger ones, and not all of them decode in linear time."""

_KNOWN_ENCODINGS = frozenset({*aliases.values(), "iso8859_1", "koi8_t", "koi8_u", "utf_8_sig"})


def decode(data: bytes | str, limits: Limits = DEFAULT, charset: str | None = None, name: str | None = None) -> Source:
    """Return a payload as text: of the allowed size, without byte order mark, UTF-8 unless `charset` says otherwise.

    Raises FormatError at the first byte that is not text in that encoding.
    """
    if isinstance(data, str):
        limits.check("payload_bytes", len(data), "the payload has {} characters")
        encode(data)
        return Source.of(data.removeprefix("\ufeff"), name)
    limits.check("payload_bytes", len(data), "the payload has {} bytes")
    codec = codec_of(charset)
    try:
        return Source.of(data.decode(codec).removeprefix("\ufeff"), name)
    except UnicodeDecodeError as error:
        readable = data[: error.start].decode(codec, "replace")
        text = readable + data[error.start : error.start + 60].decode(codec, "replace")
        raise Source.of(text, name).fault(
            f"the byte 0x{data[error.start]:02x} is not {codec}",
            len(readable),
            hint="Send UTF-8, or name the encoding in the media type, for example text/csv; charset=iso-8859-1.",
        ) from None


def contents(path: Path, limits: Limits = DEFAULT) -> bytes:
    """Return the bytes of a file of the allowed size. Raises FormatError, with the file's name, when it has none."""
    try:
        limits.check("payload_bytes", path.stat().st_size, "the file has {} bytes")
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: no file is named so
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        hint = "Give the path of a file that is there, or the payload itself as bytes or text."
        raise FormatError(f"cannot be read: {reason.lower()}", hint=hint, source=str(path)) from error


def encode(text: str) -> bytes:
    """Return the text as UTF-8. Raises FormatError when it holds half of a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        readable = Source.of(text.encode(errors="replace").decode())
        raise readable.fault("a lone surrogate is not text", error.start, hint="Send well-formed Unicode.") from None


def codec_of(charset: str | None) -> str:
    """Return Python's name of an encoding, UTF-8 unless one is named. Raises UsageError for one that is not read.

    Names that Python does not know are not looked up: it would remember each of them.
    """
    charset = charset or "utf-8"
    name = normalize_encoding(charset).lower() if charset.isascii() else ""
    known = aliases.get(name, name)
    codec = codecs.lookup(known).name if known in _KNOWN_ENCODINGS else ""
    if not codec.startswith(_ENCODINGS):
        raise UsageError(f"unknown charset {shown(charset)!r}: send UTF-8")
    return codec


_DECLARED = re.compile(rb"""^(?:\xef\xbb\xbf)?<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


def xml_charset(data: bytes) -> str | None:
    """Return the encoding that an XML document names, by its byte order mark or its declaration."""
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    declared = _DECLARED.match(data)
    return declared[1].decode() if declared else None
