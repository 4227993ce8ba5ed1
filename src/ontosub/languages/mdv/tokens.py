"""From text to tokens: one regular expression, every alternative linear, none of them empty."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from ontosub.languages.mdv.source import Source
from ontosub.model.errors import Span

TEXT_MAX = 1_000_000
TOKENS_MAX = 200_000
"""No rule with more tokens could stay below the limits of the compiler."""
NUMBER_MAX = 100


class Kind(StrEnum):
    """What a token is; the value is how an error message calls it."""

    IRI = "IRI"
    PREFIXED = "prefixed name"
    WORD = "word"
    NUMBER = "number"
    STRING = "string"
    SYMBOL = "symbol"
    END = "end"


class Token(NamedTuple):
    """A token with its text as written. No token spans two lines."""

    kind: Kind
    text: str
    span: Span

    def __str__(self) -> str:
        return "the end of the rule" if self.kind is Kind.END else self.text if self.quoted else f'"{self.text}"'

    @property
    def quoted(self) -> bool:
        """Whether the text carries delimiters of its own."""
        return self.kind in (Kind.STRING, Kind.IRI)

    def is_word(self, *words: str) -> bool:
        """Say whether this is one of the words, in any case."""
        return self.kind is Kind.WORD and self.text.lower() in words

    def is_symbol(self, symbol: str) -> bool:
        """Say whether this is the symbol."""
        return self.kind is Kind.SYMBOL and self.text == symbol


_TOKEN = re.compile(
    r"""(?P<newline> \n )
      | (?P<space> [ \t\r\f]++ | \#[^\n]*+ )
      | (?P<IRI> <[^<>"{}|^`\\\x00-\x20]++> )
      | (?P<PREFIXED> (?:[^\W\d][\w-]*+)?+ : [\w-]*+ )
      | (?P<WORD> [^\W\d][\w-]*+ )
      | (?P<NUMBER> [+-]?[0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+ )
      | (?P<STRING> '(?:[^'\\\n\r]|\\[^\n\r])*+' | "(?:[^"\\\n\r]|\\[^\n\r])*+" )
      | (?P<SYMBOL> != | <= | >= | == | <> | && | \|\| | [=<>().,?!&|~*/+^%-] )
      | (?P<unknown> . )""",
    re.VERBOSE | re.DOTALL,
)

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def tokenize(source: Source) -> list[Token]:
    """Return the tokens of a rule's text; the last is the end, right behind the last word.

    Raises LanguageError where the text is no sequence of tokens, LimitError when it is too long.
    """
    _check_text(source)
    tokens: list[Token] = []
    line, start = 1, 0
    for found in _TOKEN.finditer(source.text):
        if found.lastgroup == "newline":
            line, start = line + 1, found.end()
        elif found.lastgroup != "space":
            span = Span(line, found.start() - start + 1, line, found.end() - start + 1)
            tokens.append(_token(found, span, source))
            if len(tokens) > TOKENS_MAX:
                raise source.limit(f"the rule has more than {TOKENS_MAX:,} words", span, "Split it into several rules.")
    end = tokens[-1].span if tokens else Span(1, 1, 1, 1)
    tokens.append(Token(Kind.END, "", Span(end.end_line, end.end_column, end.end_line, end.end_column)))
    return tokens


def string_value(token: Token, source: Source) -> str:
    """Return what a quoted string stands for."""

    def replace(escape: re.Match[str]) -> str:
        digits = escape[1] or escape[2]
        character = _ESCAPED.get(escape[3]) if digits is None else _character(int(digits, 16))
        if character is None:
            hint = "Use one of \\t \\n \\r \\b \\f \\\" \\' \\\\ or the code of a character: \\u00E4."
            raise source.error(f"unknown escape {escape[0]} in a string", token.span, hint)
        return character

    return _ESCAPE.sub(replace, token.text[1:-1])


def _character(code: int) -> str | None:
    return None if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF else chr(code)


def _check_text(source: Source) -> None:
    if len(source.text) > TEXT_MAX:
        message = f"the rule has {len(source.text):,} characters; at most {TEXT_MAX:,} are allowed"
        raise Source("", source.name).limit(message, None, "Split it into several rules.")
    try:
        source.text.encode()
    except UnicodeEncodeError as error:
        span = Span.of(source.text, error.start, error.start + 1)
        hint = "Decode the text properly before it is parsed."
        # The text itself cannot be printed, so the error does not carry it.
        raise Source("", source.name).error("the rule holds half of a surrogate pair", span, hint) from None


def _token(found: re.Match[str], span: Span, source: Source) -> Token:
    text = found[0]
    if found.lastgroup == "unknown":
        if text in "'\"":
            hint = f"Close it with {text} on the same line; a line break inside is written \\n."
            raise source.error("unterminated string", span, hint)
        raise source.error(f"unexpected character {text!r}", span, "Names are made of letters, digits, _ and -.")
    kind = Kind[found.lastgroup or ""]
    if kind is Kind.NUMBER and len(text) > NUMBER_MAX:
        raise source.error(f"a number has more than {NUMBER_MAX} characters", span, "Write it shorter: 1e200.")
    return Token(kind, text, span)
