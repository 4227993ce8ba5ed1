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
from ontosub.languages.sparql.syntax import Occurrence, TripleTerm, is_value
from ontosub.languages.sparql.tokens import place
from ontosub.model.errors import LanguageError, Span
from ontosub.model.terms import RDF, TYPE, BlankNode, Literal, NamedNode, Triple, Variable

_T = TypeVar("_T")

NIL = RDF["nil"]


@v_args(meta=True)
class TermsReader(Transformer_NonRecursive[Token, Any]):
    """Reads variables, IRIs, literals, blank nodes, triple terms. Each method is named after the rule that it reads."""

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

    def version(self, _meta: Meta, children: list[Token]) -> None:
        """Let the text say which SPARQL it is written in: all that is known here can be used in any case."""
        if children[0].startswith(('"""', "'''")):
            raise self.error("a version is a short string", children[0], 'Write for example: VERSION "1.2".')

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
        return Occurrence(BlankNode(token[2:]) if token.type == "BLANK" else self.fresh_blank(), self.span(token))

    def nil(self, _meta: Meta, children: list[Token]) -> Occurrence:
        return Occurrence(NIL, self.span(children[0]))

    def triple_term(self, meta: Meta, children: list[Any]) -> Occurrence:
        subject, verb, object_ = children
        return self.triple(subject, verb, object_, self.span(meta))

    def triple(self, subject: Occurrence, verb: Any, object_: Occurrence, at: Span | None) -> Occurrence:
        """Return a triple as a term: a constant if it holds constants only."""
        self.check_subject(subject)
        if not isinstance(verb, Occurrence):
            hint = "A triple term has an IRI or a variable between its subject and its object."
            raise self.error("a property path cannot stand in a triple term", at, hint)
        match subject.term, verb.term, object_.term:
            case NamedNode() as first, NamedNode() as second, NamedNode() | Literal() | Triple() as third:
                return Occurrence(Triple(first, second, third), at)
        return Occurrence(TripleTerm(subject, verb, object_), at)

    def check_subject(self, subject: Occurrence) -> None:
        """Refuse what no triple has as its subject."""
        if is_value(subject.term):
            kind, advice = "literal", "turn the triple around if you can"
            if not isinstance(subject.term, Literal):
                kind, advice = "triple term", "<< … >>, without parentheses, stands for a reifier of the triple"
            hint = f"Only a variable, an IRI or a blank node has properties; {advice}."
            raise self.error(f"a {kind} cannot be a subject", subject.span, hint)
