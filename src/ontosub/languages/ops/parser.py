"""From text to statement patterns, by recursive descent over the tokens of SPARQL.

text       = { "PREFIX" prefix ":" iri | "BASE" iri } statement { statement }
statement  = "(" subject "," object "," "(" class "," property "," class ")" [ "," filter ] ")"
subject    = "_:H" | variable | iri
object     = subject | literal
filter     = an expression of SPARQL
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lark import Token

from ontosub.languages.prologue import Prologue
from ontosub.languages.sparql import parse_expression
from ontosub.languages.sparql.source import Source
from ontosub.languages.sparql.syntax import Occurrence
from ontosub.languages.sparql.terms_reader import TermsReader
from ontosub.languages.sparql.tokens import place, tokenize
from ontosub.model.errors import LanguageError, Span
from ontosub.model.pattern import Filter
from ontosub.model.terms import HOME, NamedNode

_EXAMPLE = "(_:H, ?1, (:Selling, :price, :MoneyValue))"
_LITERALS = ("STRING", "NUMBER", "SIGNED", "BOOLEAN")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement pattern."""

    subject: Occurrence
    object: Occurrence
    subject_class: NamedNode
    property: NamedNode
    object_class: NamedNode
    filters: tuple[Filter, ...] = ()
    span: Span | None = field(default=None, compare=False)


def parse_statements(source: Source, prefixes: Mapping[str, str]) -> list[Statement]:
    """Return the statement patterns of a text, at least one.

    Raises LanguageError with position and hint, LimitError when the text is too long or nested too deeply.
    """
    return _Parser(source, Prologue(prefixes)).text()


class _Parser:
    """Reads tokens from left to right, one method for each line of the grammar."""

    def __init__(self, source: Source, prologue: Prologue) -> None:
        self._source = source
        self._prologue = prologue
        self._terms = TermsReader(source, prologue)
        end = len(source.text.rstrip())
        self._tokens = [*tokenize(source), Token("$END", "", end, end_pos=end)]
        self._next = 0

    def text(self) -> list[Statement]:
        """Read declarations, then statement patterns up to the end."""
        while self._peek().type in ("PREFIX", "BASE"):
            self._declaration()
        statements = [self._statement()]
        while self._peek().type != "$END":
            statements.append(self._statement())
        return statements

    def _declaration(self) -> None:
        if self._take().type == "BASE":
            self._terms.declare_base(self._expect("IRIREF", "an IRI in angle brackets"))
        else:
            name = self._expect("PNAME", "a prefix with a colon")
            self._terms.declare_prefix(name, self._expect("IRIREF", "an IRI in angle brackets"))

    def _statement(self) -> Statement:
        start = self._expect("LPAR", f"a statement pattern such as {_EXAMPLE}")
        subject = self._vertex(allow_literal=False)
        self._expect("COMMA", "a comma and the object")
        object_ = self._vertex(allow_literal=True)
        self._expect("COMMA", "a comma and the meta-statement (class, property, class)")
        subject_class, property_, object_class = self._meta_statement()
        filters = self._filters() if self._peek().type == "COMMA" else ()
        end = self._expect("RPAR", "a comma and a filter, or the closing bracket")
        span = self._source.span(place(start)[0], place(end)[1])
        return Statement(subject, object_, subject_class, property_, object_class, filters, span)

    def _meta_statement(self) -> tuple[NamedNode, NamedNode, NamedNode]:
        self._expect("LPAR", "the meta-statement (class, property, class)")
        subject_class = self._resource("the class of the subject")
        self._expect("COMMA", "a comma and the property")
        property_ = self._resource("the property")
        self._expect("COMMA", "a comma and the class of the object")
        object_class = self._resource("the class of the object")
        self._expect("RPAR", "the closing bracket of the meta-statement")
        return subject_class, property_, object_class

    def _resource(self, wanted: str) -> NamedNode:
        if self._peek().type not in ("IRIREF", "PNAME"):
            raise self._unexpected(f"{wanted}, an IRI")
        return self._terms.resource(self._take())

    def _vertex(self, *, allow_literal: bool) -> Occurrence:
        token = self._peek()
        if token.type == "VAR":
            return self._terms.variable(self._take())
        if token.type in ("IRIREF", "PNAME"):
            return Occurrence(self._terms.resource(self._take()), self._terms.span(token))
        if token == str(HOME):
            return Occurrence(HOME, self._terms.span(self._take()))
        if token.type in ("BLANK", "ANON"):
            hint = "Only the home vertex is written as a blank node, _:H; give any other vertex a variable."
            raise self._terms.error(f"the blank node {token} cannot stand in a statement pattern", token, hint)
        if token.type in _LITERALS and allow_literal:
            return self._literal()
        if token.type in _LITERALS:
            hint = "Only _:H, a variable or an IRI can be the subject of a statement."
            raise self._terms.error("a literal cannot be a subject", token, hint)
        raise self._unexpected("_:H, a variable, an IRI" + (" or a literal" if allow_literal else ""))

    def _literal(self) -> Occurrence:
        first = last = self._take()
        suffix: Token | Occurrence | None = None
        if first.type == "STRING" and self._peek().type == "LANGTAG":
            suffix = last = self._take()
        elif first.type == "STRING" and self._peek().type == "TYPED":
            self._take()
            last = self._peek()
            suffix = Occurrence(self._resource("a datatype"))
        span = self._source.span(place(first)[0], place(last)[1])
        return Occurrence(self._terms.constant(span, first, suffix), span)

    def _filters(self) -> tuple[Filter, ...]:
        """Read the filter: all that is left of the statement pattern, up to its closing bracket."""
        self._take()
        start, depth = self._next, 0
        while self._peek().type != "$END" and (depth > 0 or self._peek().type != "RPAR"):
            depth += {"LPAR": 1, "RPAR": -1}.get(self._take().type, 0)
        if start == self._next:
            raise self._unexpected("a filter, for example ?1 < 400")
        return tuple(parse_expression(self._tokens[start : self._next], self._source, self._prologue))

    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _expect(self, type: str, wanted: str) -> Token:
        if self._peek().type != type:
            raise self._unexpected(wanted)
        return self._take()

    def _unexpected(self, wanted: str) -> LanguageError:
        token = self._peek()
        hint = f"Here should stand {wanted}."
        if token.type == "$END":
            end = place(token)[0]
            return self._source.error("the text ends too early", self._source.span(max(0, end - 1), end), hint)
        return self._terms.error(f'unexpected "{token}"', token, hint)
