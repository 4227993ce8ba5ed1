"""From text to tree: tokens, grammar, readers, checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedToken, VisitError
from lark.lexer import Lexer

from ontosub.languages.prologue import Prologue
from ontosub.languages.sparql.checks import check
from ontosub.languages.sparql.query_reader import QueryReader
from ontosub.languages.sparql.source import Source
from ontosub.languages.sparql.syntax import Expression, Query
from ontosub.languages.sparql.tokens import tokenize
from ontosub.languages.sparql.unexpected import unexpected


class _NoLexer(Lexer):
    """Stands for the lexer that Lark asks for: tokens are fed to the parser directly."""

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any) -> Any:
        """Yield nothing; see `_tree`."""
        return iter(())


@cache
def _grammar() -> Lark:
    """Return the compiled grammar. It takes half a second, so it waits until a text needs it."""
    text = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer=_NoLexer, start=["query", "expression"], propagate_positions=True)


def parse_query(text: str, prefixes: Mapping[str, str] | None = None, base: str | None = None) -> Query:
    """Return the tree of a query.

    Raises LanguageError with position and hint, LimitError when the text is too long or nested too deeply.
    """
    source = Source(text)
    tokens = tokenize(source)
    query = read_query(tokens, QueryReader(source, Prologue(prefixes, base), labels_of(tokens)))
    check(query, source)
    return query


def read_query(tokens: Sequence[Token], reader: QueryReader) -> Query:
    """Return the tree of a query whose tokens are known, before it is checked."""
    query: Query = _read(tokens, "query", reader)
    return query


def read_expression(tokens: Sequence[Token], source: Source, prologue: Prologue) -> Expression:
    """Return the tree of an expression that stands somewhere in a text of another language."""
    expression: Expression = _read(tokens, "expression", QueryReader(source, prologue))
    return expression


def labels_of(tokens: Sequence[Token]) -> set[str]:
    """Return the blank-node labels that a text uses."""
    return {token[2:] for token in tokens if token.type == "BLANK"}


def _read(tokens: Sequence[Token], start: str, reader: QueryReader) -> Any:
    try:
        return reader.transform(_tree(tokens, start, reader.source))
    except VisitError as error:
        # Lark wraps what a reader raises; the positioned error inside is the one to show.
        raise error.orig_exc from None


def _tree(tokens: Sequence[Token], start: str, source: Source) -> Tree[Token]:
    state = _grammar().parse_interactive(start=start)
    read = 0
    try:
        for token in tokens:
            state.feed_token(token)
            read += 1
        tree: Tree[Token] = state.feed_token(Token("$END", ""))
    except UnexpectedToken as error:
        before = tokens[:read]
        raise unexpected(source, error.token, before, _accepted(before, start), start) from None
    return tree


def _accepted(tokens: Sequence[Token], start: str) -> set[str]:
    """Return what could follow the tokens. A failed parser has already given up some of it, so they are read again."""
    state = _grammar().parse_interactive(start=start)
    for token in tokens:
        state.feed_token(token)
    return set(state.accepts())  # type: ignore[no-untyped-call]
