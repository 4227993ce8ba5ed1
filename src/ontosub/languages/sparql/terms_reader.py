"""From the leaves of a parse tree to terms: the first of three readers, each built upon the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from lark import Token, v_args
from lark.tree import Meta
from lark.visitors import Transformer_NonRecursive

from ontosub.languages.prologue import Fault, Prologue
from ontosub.languages.sparql import literals
from ontosub.languages.sparql.source import Source
from ontosub.languages.sparql.syntax import Occurrence
from ontosub.languages.sparql.tokens import place
from ontosub.model.errors import LanguageError, Span
from ontosub.model.terms import RDF, TYPE, BlankNode, Literal, NamedNode, Variable

_T = TypeVar("_T")

NIL = RDF["nil"]


@v_args(meta=True)
class TermsReader(Transformer_NonRecursive[Token, Any]):
    """Reads variables, IRIs, literals and blank nodes. Each method is named after the rule that it reads."""

    def __init__(self, source: Source, prologue: Prologue, labels: Iterable[str] = ()) -> None:
        super().__init__(visit_tokens=False)
        self.source = source
        self.prologue = prologue
        self._labels = set(labels)
        self._anonymous = 0

    def span(self, meta: Meta | Token) -> Span | None:
        """Return the position of a rule or a token."""
        if isinstance(meta, Token):
            return self.source.span(*place(meta))
        return None if meta.empty else self.source.span(meta.start_pos, meta.end_pos)

    def error(self, message: str, at: Meta | Token | Span | None, hint: str) -> LanguageError:
        """Return the error that says what is wrong there."""
        return self.source.error(message, at if isinstance(at, Span) or at is None else self.span(at), hint)

    def make(self, at: Token | Meta | Span | None, maker: Callable[..., _T], *arguments: Any) -> _T:
        """Return what `maker` makes of the arguments; a fault in them is an error there."""
        try:
            return maker(*arguments)
        except Fault as fault:
            raise self.error(fault.message, at, fault.hint) from None

    def fresh_blank(self) -> BlankNode:
        """Return a blank node whose label the text does not use."""
        while True:
            self._anonymous += 1
            if (label := f"anon{self._anonymous}") not in self._labels:
                return BlankNode(label)

    def base(self, _meta: Meta, children: list[Token]) -> None:
        self.declare_base(children[0])

    def declare_base(self, iri: Token) -> None:
        """Let relative IRIs be resolved against this one from now on."""
        self.make(iri, self.prologue.declare_base, iri[1:-1])

    def prefix(self, _meta: Meta, children: list[Token]) -> None:
        self.declare_prefix(children[0], children[1])

    def declare_prefix(self, name: Token, iri: Token) -> None:
        """Let a prefix stand for an IRI from now on."""
        if name.count(":") != 1 or not name.endswith(":"):
            raise self.error("a prefix ends with a colon", name, "Write for example: PREFIX ex: <http://example.org/>.")
        self.make(iri, self.prologue.declare_prefix, name[:-1], iri[1:-1])

    def var(self, _meta: Meta, children: list[Token]) -> Occurrence:
        return self.variable(children[0])

    def variable(self, token: Token) -> Occurrence:
        """Return the variable that a token names."""
        return Occurrence(Variable(token[1:]), self.span(token))

    def iri(self, _meta: Meta, children: list[Token]) -> Occurrence:
        return Occurrence(self.resource(children[0]), self.span(children[0]))

    def resource(self, token: Token) -> NamedNode:
        """Return the resource that a token names."""
        if token.type == "PNAME":
            return self.make(token, self.prologue.expand, str(token))
        return self.make(token, self.prologue.iri, token[1:-1])

    def type(self, meta: Meta, _children: list[Token]) -> Occurrence:
        return Occurrence(TYPE, self.span(meta))

    def literal(self, meta: Meta, children: list[Any]) -> Occurrence:
        token, *rest = children
        return Occurrence(self.constant(meta, token, rest[0] if rest else None), self.span(meta))

    def constant(self, at: Meta | Span | None, token: Token, suffix: Token | Occurrence | None) -> Literal:
        """Return the literal of a token; what follows a string is a language tag or a datatype."""
        if token.type == "BOOLEAN":
            return literals.boolean(token)
        if token.type != "STRING":
            return literals.number(str(token))
        value = self.make(token, literals.string, str(token))
        if suffix is None:
            return Literal(value)
        if isinstance(suffix, Token):
            return self.make(suffix, literals.tagged, value, str(suffix))
        return self.make(at, literals.typed, value, suffix.term)

    def blank(self, _meta: Meta, children: list[Token]) -> Occurrence:
        token = children[0]
        if token.type == "NIL":
            return Occurrence(NIL, self.span(token))
        return Occurrence(BlankNode(token[2:]) if token.type == "BLANK" else self.fresh_blank(), self.span(token))
