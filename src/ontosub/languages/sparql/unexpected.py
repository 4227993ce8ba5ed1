"""What to say of a token that cannot stand where it stands, in words for people."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lark import Token

from ontosub.languages.prologue import shown
from ontosub.languages.sparql.source import Source
from ontosub.languages.sparql.tokens import CLOSING, OPENING, place
from ontosub.model.errors import LanguageError

_UPDATES = frozenset({"INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"})

_WORDS = {
    **dict.fromkeys(("VAR",), "a variable"),
    **dict.fromkeys(("IRIREF", "PNAME"), "an IRI"),
    **dict.fromkeys(("STRING", "NUMBER", "BOOLEAN"), "a literal"),
    **dict.fromkeys(("BLANK", "ANON", "LSQB"), "a blank node"),
    **dict.fromkeys(("FUNCTION", "AGGREGATE", "GROUP_CONCAT", "EXISTS"), "a function"),
    **dict.fromkeys(("AND", "OR", "EQUAL", "COMPARATOR", "IN"), "an operator"),
    **dict.fromkeys(("OPTIONAL", "FILTER", "BIND", "GRAPH", "SERVICE", "MINUS"), "a FILTER, OPTIONAL or the like"),
    **dict.fromkeys(("ORDER", "GROUP", "HAVING", "LIMIT", "OFFSET"), "ORDER BY, LIMIT or the like"),
    **dict.fromkeys(("SELECT", "ASK", "CONSTRUCT", "DESCRIBE"), "SELECT, ASK, CONSTRUCT or DESCRIBE"),
    **dict.fromkeys(("BASE", "PREFIX", "VERSION"), "a PREFIX declaration"),
    **{"LBRACE": '"{"', "RBRACE": '"}"', "LPAR": '"("', "RPAR": '")"', "RSQB": '"]"'},
    **{"RTRIPLE": '")>>"', "RREIFIED": '">>"', "RANNOTATION": '"|}"'},
    **{"DOT": '"."', "COMMA": '","', "SEMICOLON": '";"', "STAR": '"*"', "SLASH": '"/"', "A": '"a"', "$END": "the end"},
}
_SILENT = frozenset(
    {"NIL", "TYPED", "LANGTAG", "SIGNED", "BANG", "PLUS", "MINUS_SIGN", "QUESTION", "INVERSE", "BAR"}
    | {"NOT", "SILENT", "NAMED", "FROM", "LTRIPLE", "LREIFIED", "LANNOTATION", "TILDE"}
)
"""What would only lengthen the list."""
_SHOWN_MAX = 6


def unexpected(source: Source, token: Token, before: Sequence[Token], accepted: set[str], start: str) -> LanguageError:
    """Return the error for a token that cannot stand after those before it, where only `accepted` could."""
    if token.type == "$END":
        return _end(source, before, accepted, start)
    hint = f"Here could stand: {_choice(accepted)}."
    if token.type == "WORD":
        return _word(source, token, hint)
    begin, end = place(token)
    if token.type == "COMPARATOR" and (written := _MALFORMED.match(source.text, begin)):
        hint = "An IRI holds no spaces, quotes, braces or backslashes; a less-than sign needs a space after it."
        return source.error("malformed IRI", source.span(*written.span()), hint)
    if token.type == "IRIREF" and "COMPARATOR" in accepted:
        hint = "If < and > are meant as comparisons here, put a space after each."
    elif scheme := _BARE_IRI.search(source.text, max(0, begin - 10), end):
        begin = scheme.start()
        hint = f"An IRI in full stands in angle brackets: <{scheme[0]}…>."
    return source.error(f"unexpected {_shown(token)}", source.span(begin, end), hint)


def _end(source: Source, before: Sequence[Token], accepted: set[str], start: str) -> LanguageError:
    """Blame the innermost bracket that is still open, if there is one: the end itself is rarely where the slip is."""
    opened: list[Token] = []
    for token in before:
        if token.type in OPENING:
            opened.append(token)
        elif token.type in CLOSING and opened:
            opened.pop()
    hint = f"What should follow at the end is {_choice(accepted)}."
    if opened:
        return source.error(f'"{opened[-1]}" is never closed', source.span(*place(opened[-1])), hint)
    end = place(before[-1])[1] if before else 0
    return source.error(f"the {start} ends too early", source.span(max(0, end - 1), end), hint)


_BARE_IRI = re.compile(r"(?<![<:\w])(?:https?|ftp|file|urn|mailto):/*\Z")
_MALFORMED = re.compile(r"<[^\s<>():]*+:[^<>\n]*+>|<[^\s<>()]++>")


def _word(source: Source, token: Token, hint: str) -> LanguageError:
    span = source.span(*place(token))
    if token.upper() in _UPDATES:
        hint = "Ask with SELECT, ASK or CONSTRUCT; nothing is changed by a subscription."
        return source.error(f"{token.upper()} is an update, not a query", span, hint)
    if 1 < len(token) <= 40:
        hint += f" A variable is written ?{token}, a name with a prefix :{token}, a string '{token}'."
    return source.error(f'unexpected word "{shown(token)}"', span, hint)


def _shown(token: Token) -> str:
    text = shown(token)
    return text if text[0] in "\"'<" and not text.startswith("<<") else f'"{text}"'


def _choice(accepted: set[str]) -> str:
    """Return the possibilities, the plainest first, and no more than a reader takes in."""
    order = list(_WORDS)
    known = sorted((name for name in accepted if name in _WORDS), key=order.index)
    words = list(dict.fromkeys(_WORDS[name] for name in known))
    words += sorted(name for name in accepted if name not in _WORDS and name not in _SILENT)
    if not words:
        words = ["something else"]
    if len(words) > _SHOWN_MAX:
        words = [*words[:_SHOWN_MAX], "and more"]
        return ", ".join(words)
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
