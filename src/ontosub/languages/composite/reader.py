"""What the parser reads with: tokens, declarations, variables, and the suffixes of operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lark import Token as SparqlToken

from ontosub.languages.composite.durations import read_duration
from ontosub.languages.composite.syntax import RESTRICT, Applied, Syntax
from ontosub.languages.composite.tokens import Token, tokenize
from ontosub.languages.composite.words import AGGREGATES, RESERVED, SUFFIXES
from ontosub.languages.prologue import Fault, Prologue
from ontosub.languages.sparql import literals, parse_expression
from ontosub.languages.sparql.source import Source
from ontosub.languages.sparql.terms_reader import TermsReader
from ontosub.model.composite import Aggregate, AggregateFunction, Policy
from ontosub.model.errors import LanguageError, Span
from ontosub.model.pattern import Filter

_T = TypeVar("_T")

CONDITION_MAX = 500
"""How many tokens a condition may have."""
_ENDS_CONDITION = (RESERVED - {"not", "as"}) | {"|", "&"}


class Reader:
    """Reads tokens from left to right."""

    def __init__(self, source: Source, prologue: Prologue) -> None:
        self.source = source
        self.prologue = prologue
        self._terms = TermsReader(source, prologue)
        self._tokens = tokenize(source)
        self._next = 0

    def peek(self, ahead: int = 0) -> Token:
        """Return a token that comes next, without taking it."""
        return self._tokens[min(self._next + ahead, len(self._tokens) - 1)]

    def take(self) -> Token:
        """Take the next token; the end can be taken again and again."""
        token = self.peek()
        self._next += token.kind != "END"
        return token

    def expect(self, word: str, wanted: str) -> Token:
        """Take a word or symbol that must come next."""
        if self.peek().word != word:
            raise self.unexpected(wanted)
        return self.take()

    def span(self, token: Token) -> Span:
        """Return where a token stands."""
        return self.source.span(token.start, token.end)

    def unexpected(self, wanted: str, token: Token | None = None) -> LanguageError:
        """Return the error that says what should stand here."""
        token = token or self.peek()
        hint = f"Here should stand {wanted}."
        if token.kind == "END":
            return self.source.error(
                "the text ends too early", self.source.span(max(0, token.end - 1), token.end), hint
            )
        return self.source.error(f'unexpected "{token.text[:40]}"', self.span(token), hint)

    def declaration(self) -> None:
        """Read a PREFIX or BASE line."""
        if self.take().word == "base":
            self._terms.declare_base(self._sparql("IRIREF", "an IRI in angle brackets"))
        else:
            name = self._sparql("PNAME", "a prefix with a colon")
            self._terms.declare_prefix(name, self._sparql("IRIREF", "an IRI in angle brackets"))

    def _sparql(self, kind: str, wanted: str) -> SparqlToken:
        if self.peek().kind != kind:
            raise self.unexpected(wanted)
        return self.take().for_sparql()

    def variable(self) -> tuple[str, Span]:
        """Read a variable; return its name without the question mark."""
        token = self.peek()
        if token.kind != "VAR":
            raise self.unexpected("a variable such as ?sensor")
        return self.take().text[1:], self.span(token)

    def string(self, token: Token) -> str:
        """Return what a quoted string stands for."""
        return self.make(self.span(token), literals.string, token.text)

    def make(self, span: Span, maker: Callable[..., str], *arguments: str) -> str:
        """Return what `maker` makes of the arguments; a fault in them is an error there."""
        try:
            return maker(*arguments)
        except Fault as fault:
            raise self.source.error(fault.message, span, fault.hint) from None

    def at_suffix(self) -> bool:
        """Say whether a suffix comes next; `_10min` is one, too."""
        token = self.peek()
        return token.word in SUFFIXES or (token.kind == "WORD" and token.text.startswith("_"))

    def suffix(self, target: Applied) -> None:
        """Read one suffix for an operator that has none of this kind yet; conditions may be several."""
        token = self.take()
        match token.word:
            case "where":
                target.where += self._condition()
            case "per":
                self._per(target)
            case "with":
                target.aggregates = [self._aggregate(), *self._more(self._aggregate)]
            case "reuse" | "consume":
                target.policy = Policy(token.word)
            case "within":
                self._window(target, self.peek().start)
            case _:
                self._window(target, token.start + 1)

    def _per(self, target: Applied) -> None:
        """Read variables; behind `only`, there may be none: `per only ()`."""
        if self.peek().word == "only":
            self.take()
            target.only = True
        if target.only and self.peek().kind == "NIL":
            self.take()
        else:
            target.per = [self.variable(), *self._more(self.variable)]

    def only_suffix(self, target: Applied) -> None:
        """Read one suffix and nothing else."""
        self.suffix(target)
        if self.peek().kind != "END":
            raise self.unexpected("the end; in a condition, write && for and, || for or")

    def _window(self, target: Applied, start: int) -> None:
        try:
            target.window, end = read_duration(self.source.text, start)
        except Fault as fault:
            while self.peek().start < start:
                self.take()
            last = max(self.peek().end, start + 1)
            raise self.source.error(fault.message, self.source.span(start, last), fault.hint) from None
        while self.peek().start < end and self.peek().kind != "END":
            self.take()

    def _more(self, read: Callable[[], _T]) -> list[_T]:
        """Read what follows after commas."""
        found = []
        while self.peek().word == ",":
            self.take()
            found.append(read())
        return found

    def _condition(self) -> list[Filter]:
        """Read a condition: up to the next word of ours, or the end of the bracket that it stands in."""
        tokens: list[Token] = []
        depth = 0
        while (token := self.peek()).kind != "END":
            if depth == 0 and (token.word in _ENDS_CONDITION or token.word == ")" or self.at_suffix()):
                break
            depth += {"(": 1, ")": -1}.get(token.word, 0)
            tokens.append(self.take())
        if not tokens:
            raise self.unexpected("a condition such as ?t2 > ?t1 + 5")
        if len(tokens) > CONDITION_MAX:
            span = self.source.span(tokens[0].start, tokens[-1].end)
            raise self.source.limit("the condition is too long", span, f"At most {CONDITION_MAX} tokens are allowed.")
        return parse_expression([token.for_sparql() for token in tokens], self.source, self.prologue)

    def _aggregate(self) -> tuple[Aggregate, Span]:
        first = self.peek()
        if first.word not in AGGREGATES:
            raise self.unexpected(f"an aggregate: {', '.join(AGGREGATES)}")
        function = AggregateFunction(self.take().word)
        variable = None
        if function is AggregateFunction.COUNT:
            if self.peek().kind == "NIL":
                self.take()
        else:
            self.expect("(", "the variable in brackets, for example avg(?value)")
            variable, _ = self.variable()
            self.expect(")", "the closing bracket")
        self.expect("as", "as, and the variable to bind: count as ?n")
        name, end = self.variable()
        return Aggregate(function, variable, name), self.span(first).to(end)


def has(target: Applied, word: str) -> bool:
    """Say whether an operator has a suffix of a kind already."""
    given = {
        "per": target.per or target.only,
        "with": target.aggregates,
        "reuse": target.policy,
        "consume": target.policy,
    }
    return False if word == "where" else bool(given.get(word, target.window))


def restricted(operand: Syntax, span: Span) -> Applied:
    """Return the operand as one that suffixes can be said of."""
    return Applied(RESTRICT, [operand], span)
