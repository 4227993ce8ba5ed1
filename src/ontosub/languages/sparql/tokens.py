r"""From text to tokens: one regular expression, every alternative linear, and none empty but the end.

The tokens are those of SPARQL 1.2, section 19.8, and the longest one wins, as there. OPS shares them, and so does
the template cache, which therefore sees a text exactly as the parser does. Two liberties: \u escapes are read inside
strings and IRIs only; and `?x<<urn:a>` is a comparison with an IRI, as in SPARQL 1.1, not the start of a triple.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lark import Token

from ontosub.languages.sparql.source import Source

TEXT_MAX = 1_000_000
TOKENS_MAX = 20_000
DEPTH_MAX = 100

_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = f"{_BASE}_0-9\u00b7\u0300-\u036f\u203f-\u2040"
_CHAR = rf"{_NAME}\-"
_PREFIX = (
    rf"(?:[{_BASE}](?:[{_CHAR}.]{{0,100}}+(?<!\.))?+)?+"  # bounded, because a word that is no prefix is read again
)
_DOTTED = rf"[{_CHAR}]*+(?:\.++[{_CHAR}]++)*+"
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%]"
_IN_IRI = r"""(?:[^\x00-\x20<>"{}|^`\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*+"""
_DIGITS = r"(?:(?:[0-9]++\.?[0-9]*+|\.[0-9]++)[eE][+-]?[0-9]++|[0-9]*+\.[0-9]++|[0-9]++)"

TOKEN = re.compile(
    rf"""(?:[ \t\r\n]++|\#[^\r\n]*+)*+
    (?: (?P<VAR> [?$][{_BASE}_0-9][{_NAME}]*+ )
      | (?P<IRIREF> <{_IN_IRI}> )
      | (?P<BLANK> _:[{_BASE}_0-9]{_DOTTED} )
      | (?P<PNAME> {_PREFIX}: (?:(?:[{_BASE}_0-9:]|{_ESCAPED})(?:\.*+(?:[{_CHAR}:]|{_ESCAPED}))*+)?+ )
      | (?P<WORD> [A-Za-z_][A-Za-z0-9_]*+ )
      | (?P<SIGNED> [+-]{_DIGITS} )
      | (?P<NUMBER> {_DIGITS} )
      | (?P<STRING> \"\"\"(?:(?:\"\"?)?(?:[^"\\]|\\.))*+\"\"\" | '''(?:(?:''?)?(?:[^'\\]|\\.))*+'''
                  | "(?:[^"\\\r\n]|\\.)*+" | '(?:[^'\\\r\n]|\\.)*+' )
      | (?P<LANGTAG> @[A-Za-z]++(?:-[A-Za-z0-9]++)*+(?:--[A-Za-z]++)?+ )
      | (?P<NIL> \([ \t\r\n]*+\) )
      | (?P<ANON> \[[ \t\r\n]*+\] )
      | (?P<SYMBOL> \^\^ | && | \|\| | != | <= | >= | <<(?!{_IN_IRI}>(?!>))\(?+ | \)?+>> | \{{\| | \|\}}
                  | [{{}}()\[\].,;*/|^!+\-=<>?~] )
      | (?P<BAD> [^ \t\r\n] )
      | (?P<END> \Z )
    )""",
    re.VERBOSE | re.DOTALL,
)


def _words(text: str) -> list[str]:
    return text.split()


FUNCTIONS = {
    **dict.fromkeys(_words("NOW RAND UUID STRUUID"), (0, 0)),
    **dict.fromkeys(_words("STR LANG DATATYPE IRI URI BOUND ABS CEIL FLOOR ROUND STRLEN UCASE LCASE"), (1, 1)),
    **dict.fromkeys(_words("ENCODE_FOR_URI YEAR MONTH DAY HOURS MINUTES SECONDS TIMEZONE TZ"), (1, 1)),
    **dict.fromkeys(_words("MD5 SHA1 SHA256 SHA384 SHA512 ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC"), (1, 1)),
    **dict.fromkeys(_words("ISTRIPLE SUBJECT PREDICATE OBJECT LANGDIR HASLANG HASLANGDIR"), (1, 1)),
    **dict.fromkeys(_words("LANGMATCHES CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER"), (2, 2)),
    **dict.fromkeys(_words("STRLANG STRDT SAMETERM"), (2, 2)),
    **dict.fromkeys(_words("REGEX SUBSTR"), (2, 3)),
    **dict.fromkeys(_words("CONCAT COALESCE"), (0, None)),
    **{"BNODE": (0, 1), "IF": (3, 3), "REPLACE": (3, 4), "TRIPLE": (3, 3), "STRLANGDIR": (3, 3)},
}
"""The built-in functions, and how many arguments each takes: at least, and at most."""

_AGGREGATES = frozenset(_words("COUNT SUM MIN MAX AVG SAMPLE"))
_KEYWORDS = frozenset(
    _words(
        "SELECT CONSTRUCT DESCRIBE ASK BASE PREFIX VERSION DISTINCT REDUCED AS WHERE FROM NAMED ORDER BY GROUP HAVING"
    )
    + _words("ASC DESC LIMIT OFFSET VALUES UNDEF OPTIONAL UNION MINUS GRAPH SERVICE SILENT FILTER BIND EXISTS NOT IN")
    + _words("SEPARATOR GROUP_CONCAT")
)
_SYMBOLS = {
    **dict.fromkeys(("!=", "<", "<=", ">", ">="), "COMPARATOR"),
    **{"{": "LBRACE", "}": "RBRACE", "(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB"},
    **{".": "DOT", ",": "COMMA", ";": "SEMICOLON", "^^": "TYPED", "^": "INVERSE", "|": "BAR", "?": "QUESTION"},
    **{"&&": "AND", "||": "OR", "!": "BANG", "=": "EQUAL", "+": "PLUS", "-": "MINUS_SIGN", "*": "STAR", "/": "SLASH"},
    **{"<<(": "LTRIPLE", ")>>": "RTRIPLE", "<<": "LREIFIED", ">>": "RREIFIED"},
    **{"{|": "LANNOTATION", "|}": "RANNOTATION", "~": "TILDE"},
}


def terminal(kind: str, value: str) -> str:
    """Return what the grammar calls a token that the regular expression found."""
    if kind == "SYMBOL":
        return _SYMBOLS[value]
    if kind != "WORD":
        return kind
    upper = value.upper()
    if upper in _KEYWORDS:
        return upper
    if upper in FUNCTIONS:
        return "FUNCTION"
    if upper in _AGGREGATES:
        return "AGGREGATE"
    if upper in ("TRUE", "FALSE"):
        return "BOOLEAN"
    return "A" if value == "a" else "WORD"


def tokenize(source: Source) -> list[Token]:
    """Return the tokens of a text, without spaces and comments.

    Raises LanguageError where no token starts, and LimitError when the text is too long or nested too deeply: what
    comes after may use recursion.
    """
    text = source.text
    if len(text) > TEXT_MAX:
        hint = "Split it into several subscriptions."
        raise source.limit(f"the text has {len(text):,} characters; {TEXT_MAX:,} are allowed", None, hint)
    _check_surrogates(source)
    tokens: list[Token] = []
    for match in TOKEN.finditer(text):
        kind = match.lastgroup or "END"
        token = Token(terminal(kind, match[kind]), match[kind], match.start(kind), end_pos=match.end())
        if kind == "BAD":
            # At once: behind a quote that is never closed, each further quote would be looked for in vain.
            raise _bad(source, token)
        if len(tokens) >= TOKENS_MAX:
            hint = "Split it into several subscriptions."
            raise source.limit(f"the text has more than {TOKENS_MAX:,} tokens", source.span(*place(token)), hint)
        if kind != "END":
            tokens.append(token)
    _check_depth(source, tokens)
    return tokens


def place(token: Token) -> tuple[int, int]:
    """Return where a token starts and ends."""
    start = token.start_pos or 0
    return start, start + len(token)


def _bad(source: Source, token: Token) -> Exception:
    start, end = place(token)
    if token in ('"', "'"):
        line_end = source.text.find("\n", start)
        span = source.span(start, len(source.text) if line_end < 0 else line_end)
        hint = f"Close it with {token}; a string over several lines needs three quotes at both ends."
        return source.error("unterminated string", span, hint)
    if token == "\\":  # noqa: S105 - a token of the language
        hint = "Outside of strings and IRIs, write the character itself."
        return source.error("an escape cannot stand here", source.span(start, end), hint)
    hint = "Names in plain words need a ? (a variable), a prefix and a colon (an IRI), or quotes (a string)."
    return source.error(f"unexpected character {token.value!r}", source.span(start, end), hint)


def _check_surrogates(source: Source) -> None:
    try:
        source.text.encode()
    except UnicodeEncodeError as error:
        hint = "Half of a surrogate pair stands for nothing; the text was probably decoded wrongly."
        # The error must be printable itself.
        shown = Source(source.text.encode(errors="replace").decode())
        raise shown.error("a lone surrogate is no character", shown.span(error.start, error.end), hint) from None


def _check_depth(source: Source, tokens: list[Token]) -> None:
    """Refuse what nests too deeply, by brackets or by chains of arithmetic, before anything recurses into it."""
    levels = [_Level("LPAR")]
    for before, token in zip(["", *(token.type for token in tokens)], tokens, strict=False):
        level = levels[-1]
        if token.type in OPENING:
            levels.append(_Level(token.type))
        elif token.type in CLOSING and len(levels) > 1:
            inner = max(level.operand, level.greatest) + 1
            levels.pop()
            levels[-1].operand = max(levels[-1].operand, inner)
        elif token.type in _BREAKS:
            level.operand, level.greatest = 0, max(level.operand, level.greatest)
        elif level.opening == "LPAR" and (
            token.type in _ARITHMETIC or (token.type == "SIGNED" and before in _OPERAND_ENDS)
        ):
            level.operand += 1
        if len(levels) > DEPTH_MAX or levels[-1].operand > DEPTH_MAX:
            hint = f"At most {DEPTH_MAX} brackets and arithmetic operators may lie inside each other."
            raise source.limit("nested too deeply", source.span(*place(token)), hint)


@dataclass(slots=True)
class _Level:
    """An open bracket: how high the operand is that is being read, and the highest one before it."""

    opening: str
    operand: int = 0
    greatest: int = 0


OPENING = frozenset({"LBRACE", "LPAR", "LSQB", "LTRIPLE", "LREIFIED", "LANNOTATION"})
CLOSING = frozenset({"RBRACE", "RPAR", "RSQB", "RTRIPLE", "RREIFIED", "RANNOTATION"})
"""The tokens that open a bracket, and those that close one."""

_ARITHMETIC = frozenset({"PLUS", "MINUS_SIGN", "STAR", "SLASH"})
_OPERAND_ENDS = frozenset({"VAR", "RPAR", "RTRIPLE", "STRING", "NUMBER", "SIGNED", "LANGTAG", "IRIREF", "PNAME"})
_BREAKS = frozenset({"COMMA", "SEMICOLON", "DOT", "AND", "OR", "LBRACE", "EQUAL", "COMPARATOR"})
