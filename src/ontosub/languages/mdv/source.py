"""A rule's text, and the errors that point into it."""

from __future__ import annotations

from dataclasses import dataclass

from ontosub.model.errors import Diagnostic, LanguageError, LimitError, Span

_MESSAGE_MAX = 300


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one rule, with the rule's name when it is one of several."""

    text: str
    name: str | None = None

    def error(self, message: str, span: Span | None, hint: str | None = None) -> LanguageError:
        """Return the error that says what is wrong at `span`."""
        return LanguageError(
            _cut(message), hint=_cut(hint) if hint else None, text=self.text, span=span, source=self.name
        )

    def limit(self, message: str, span: Span | None, hint: str | None = None) -> LimitError:
        """Return the error that says what is too much at `span`."""
        return LimitError(Diagnostic(message, hint=hint, text=self.text, span=span, source=self.name))


def _cut(message: str) -> str:
    """A message repeats what was written, which may be as long as the text."""
    half = _MESSAGE_MAX // 2
    return message if len(message) <= _MESSAGE_MAX else f"{message[:half]} … {message[-half:]}"
