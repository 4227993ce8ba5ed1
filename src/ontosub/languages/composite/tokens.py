"""From text to tokens: SPARQL's, so that conditions and inline subscriptions are read as they are there.

A character that SPARQL does not know is a token as well: `&` is one of ours, and inside an inline subscription another
language may have a use for it.
"""

from __future__ import annotations

from typing import NamedTuple

from lark import Token as SparqlToken

from ontosub.languages.sparql.source import Source
from ontosub.languages.sparql.tokens import TOKEN, terminal

TEXT_MAX = 200_000
TOKENS_MAX = 20_000


class Token(NamedTuple):
    """A token, and where it stands. Words are compared in lower case."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The word in lower case, or the symbol as it is."""
        return self.text.lower() if self.kind == "WORD" else self.text if self.kind in ("SYMBOL", "BAD") else ""

    def for_sparql(self) -> SparqlToken:
        """Return the token as the reader of SPARQL's expressions takes it."""
        return SparqlToken(terminal(self.kind, self.text), self.text, self.start, end_pos=self.end)


def is_variable(name: str) -> bool:
    """Say whether a text can be the name of a variable, without its question mark.

    >>> is_variable("room"), is_variable("room where"), is_variable("")
    (True, False, False)
    """
    found = TOKEN.match(f"?{name}")
    return found is not None and found.lastgroup == "VAR" and found.end() == len(name) + 1


def tokenize(source: Source) -> list[Token]:
    """Return the tokens of a text; the last is the end.

    Raises LanguageError for a string that is not closed, LimitError when the text is too long.
    """
    text = source.text
    hint = "Split it into several composite subscriptions."
    if len(text) > TEXT_MAX:
        raise source.limit(f"the text has {len(text):,} characters; {TEXT_MAX:,} are allowed", None, hint)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        shown = Source(text.encode(errors="replace").decode())
        fault = "Half of a surrogate pair stands for nothing; the text was probably decoded wrongly."
        raise shown.error("a lone surrogate is no character", shown.span(error.start, error.end), fault) from None
    tokens: list[Token] = []
    for found in TOKEN.finditer(text):
        kind = found.lastgroup or "END"
        token = Token(kind, found[kind], found.start(kind), found.end())
        if kind == "BAD" and token.text in "\"'":
            # At once: behind a quote that is never closed, each further quote would be looked for in vain.
            raise source.error(
                "unterminated string", source.span(token.start, len(text)), f"Close it with {token.text}."
            )
        if kind == "END":
            break
        tokens.append(token)
        if len(tokens) > TOKENS_MAX:
            raise source.limit(f"the text has more than {TOKENS_MAX:,} tokens", source.span(*token[2:]), hint)
    end = len(text.rstrip())
    return [*tokens, Token("END", "", end, end)]
