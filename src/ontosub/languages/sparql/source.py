"""A text and the errors that point into it."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from ontosub.model.errors import Diagnostic, LanguageError, LimitError, Span


def line_starts(text: str) -> list[int]:
    """Return where each line of a text starts."""
    return [0, *[match.end() for match in re.finditer("\n", text)]]


class Source:
    """The text of a subscription. Places in it are offsets; spans are made of them on demand."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line starts. A text is asked for many spans, so lines are counted once."""
        return line_starts(self.text)

    def span(self, start: int, end: int) -> Span:
        """Return the span of `text[start:end]`."""
        return Span(*self._place(start), *self._place(max(start, end)))

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def error(self, message: str, span: Span | None, hint: str) -> LanguageError:
        """Return the error that says what is wrong at a span."""
        return LanguageError(message, hint=hint, text=self.text, span=span)

    def limit(self, message: str, span: Span | None, hint: str) -> LimitError:
        """Return the error that says what is too much at a span."""
        return LimitError(Diagnostic(message, hint=hint, text=self.text, span=span))
