"""Everything Ontosub raises, and how a fault is shown.

    OntosubError
    ├── InputError            something was given that cannot be accepted: text, position, hint
    │   ├── FormatError         an event payload or an ontology file is malformed
    │   ├── LanguageError       a subscription's text is malformed, or says what no subscription may say
    │   └── OntologyError       an ontology is readable but cannot be used (a missing import, …)
    ├── EventLogError         an event log is damaged, foreign or in use (`ontosub.event_log`)
    ├── IndexDirectoryError   a stored index cannot be opened or saved: corrupt, foreign, in use, not writable
    ├── LimitError            the input is larger, deeper or more costly than allowed
    ├── PipelineError         a pipeline has failed, and goes on when it is started again (`ontosub.pipeline`)
    ├── Unavailable           a database, broker or endpoint does not answer now: trying again may help
    ├── UnknownSubscription   no subscription has that id
    └── UsageError            a call or an option makes no sense

Messages are short and lowercase; a hint is a full sentence that says what to do. Rejected events on a stream are
data (`ontosub.matching.batch`), not exceptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ontosub.model.terminal import printable


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of source text: lines and columns count from 1, the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def of(cls, text: str, start: int, end: int) -> Span:
        """Return the span of `text[start:end]`."""
        line, column = _line_and_column(text, start)
        end_line, end_column = _line_and_column(text, max(start, end))
        return cls(line, column, end_line, end_column)

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of `other`."""
        return Span(self.line, self.column, other.end_line, other.end_column)


def _line_and_column(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


class Severity(StrEnum):
    """How bad a diagnostic is: an error refuses the input, a warning only says so, a note merely informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a text or an ontology, printable by itself: control characters in it are shown as codes.

    `line_start` is the offset of the span's first line in the text. Without it the line is looked for when it is to be
    shown.
    """

    message: str
    severity: Severity = Severity.ERROR
    hint: str | None = None
    text: str | None = None
    span: Span | None = None
    source: str | None = None
    line_start: int | None = None

    @property
    def offending(self) -> str | None:
        """The text that the span covers (its first line, if it covers several), or None."""
        if self.text is None or self.span is None:
            return None
        start = self._line_start(self.text, self.span)
        if start is None:
            return ""
        end = start + self.span.end_column - 1 if self.span.end_line == self.span.line else len(self.text)
        return self.text[start + self.span.column - 1 : end].partition("\n")[0]

    def _line_start(self, text: str, span: Span) -> int | None:
        if self.line_start is not None:
            return self.line_start
        start = 0
        for _ in range(span.line - 1):
            start = text.find("\n", start) + 1
            if not start:
                return None
        return start if span.line >= 1 else None

    def __str__(self) -> str:
        where = [self.source] if self.source else []
        if self.span is not None:
            where.append(f"line {self.span.line}, column {self.span.column}")
        shown = [printable(": ".join([", ".join(where), self.message]) if where else self.message)]
        if self.text is not None and self.span is not None:
            start = self._line_start(self.text, self.span)
            shown.extend([] if start is None else _underlined(self.text, start, self.span))
        if self.hint:
            shown.append(printable(f"hint: {self.hint}"))
        return "\n".join(shown)


_SHOWN_WIDTH = 120


def _underlined(text: str, start: int, span: Span) -> list[str]:
    """Return the line that starts there, cut to a readable width, and a line of carets under what is meant."""
    cut = max(0, span.column - 1 - _SHOWN_WIDTH // 2)
    shown = text[start + cut : start + cut + _SHOWN_WIDTH].partition("\n")[0].rstrip("\r").replace("\t", " ")
    first = span.column - 1 - cut
    width = span.end_column - span.column if span.end_line == span.line else len(shown)
    before, meant = printable(shown[:first]), printable(shown[first : max(first, first + width)])
    return [f"  {printable(shown)}", "  " + " " * max(first, len(before)) + "^" * max(1, len(meant))]


class OntosubError(Exception):
    """The root of all errors that Ontosub raises on purpose."""

    @property
    def diagnostic(self) -> Diagnostic:
        """What it says: more than a message, if it was made with a diagnostic."""
        [told] = self.args if len(self.args) == 1 else [str(self)]
        return told if isinstance(told, Diagnostic) else Diagnostic(str(self))


class InputError(OntosubError):
    """Something was given that cannot be accepted. Carries a `Diagnostic` with text, position and hint.

    `str()` shows the diagnostic. It is put together when it is asked for: of many faults few are shown.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        text: str | None = None,
        span: Span | None = None,
        source: str | None = None,
        line_start: int | None = None,
    ) -> None:
        self._diagnostic = Diagnostic(message, Severity.ERROR, hint, text, span, source, line_start)
        super().__init__(message)

    @property
    def diagnostic(self) -> Diagnostic:
        return self._diagnostic

    def __str__(self) -> str:
        return str(self.diagnostic)

    @property
    def message(self) -> str:
        return self.diagnostic.message

    @property
    def hint(self) -> str | None:
        return self.diagnostic.hint

    @property
    def span(self) -> Span | None:
        return self.diagnostic.span

    @property
    def line(self) -> int | None:
        return self.diagnostic.span.line if self.diagnostic.span else None

    @property
    def column(self) -> int | None:
        return self.diagnostic.span.column if self.diagnostic.span else None


class FormatError(InputError):
    """An event payload or an ontology file is malformed."""


class LanguageError(InputError):
    """A subscription's text is malformed, or says what no subscription may say."""


class OntologyError(InputError):
    """An ontology is readable but cannot be used."""


class IndexDirectoryError(OntosubError):
    """A stored index cannot be opened or saved: it is corrupt, foreign, in use, or its place is not writable."""

    def __init__(self, message: str, path: str | None = None, hint: str | None = None) -> None:
        self.message, self.path, self.hint = message, path, hint
        super().__init__(message, path, hint)

    @property
    def diagnostic(self) -> Diagnostic:
        return Diagnostic(self.message, hint=self.hint, source=self.path)

    def __str__(self) -> str:
        return str(self.diagnostic)


class LimitError(OntosubError):
    """The input is larger, deeper or more costly than allowed."""


class Unavailable(OntosubError):
    """A database, a broker or an endpoint does not answer now: trying again may help.

    `wait_s` is how long it asks to be left alone, 0 if it says nothing of the kind. `has_progressed` says that part of
    what was to be done has been done this time.
    """

    def __init__(self, message: str, *, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.wait_s = wait_s
        self.has_progressed = False


class UnknownSubscription(OntosubError, KeyError):
    """No subscription has that id."""

    def __str__(self) -> str:
        return f"no subscription has the id {self.args[0]!r}"


class UsageError(OntosubError, ValueError):
    """A call or an option makes no sense."""


class SubscriptionFault(RuntimeWarning):
    """A subscription failed on an event for a reason that is no limit: a fault of ours, which harms it alone."""


class OntosubWarning(UserWarning):
    """Something accepted that is probably not meant: an unknown class, a property that nobody declared."""
