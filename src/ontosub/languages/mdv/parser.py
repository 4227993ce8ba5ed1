"""From text to the tree of a rule, by recursive descent.

    rule        = { "PREFIX" prefix ":" iri } "search" search { "," search } "register" variable [ "where" condition ]
    search      = ( name | iri | string ) variable
    condition   = conjunction { "or" conjunction }
    conjunction = factor { "and" factor }
    factor      = "not" factor | "(" condition ")" | operand operator operand
    operand     = string | number | "true" | "false" | iri | prefixed name | path
    path        = variable { "." ( name | iri ) [ "?" ] }

A parser by hand is as short as a grammar here, and says in the writer's own words what is missing.
"""

from __future__ import annotations

from ontosub.languages.mdv.source import Source
from ontosub.languages.mdv.syntax import (
    RESERVED,
    And,
    Comparison,
    Condition,
    Declaration,
    Extension,
    Iri,
    Name,
    Not,
    Number,
    Operand,
    Operator,
    Or,
    Path,
    Rule,
    Search,
    Step,
    Text,
    Truth,
    VariableName,
)
from ontosub.languages.mdv.tokens import Kind, Token, string_value, tokenize
from ontosub.model.errors import Span

DEPTH_MAX = 100

_EXAMPLE = "search CycleProvider c register c where c.serverPort = 80"
_SPELLINGS = frozenset(operator.value for operator in Operator)
_OPERATORS = "The operators are =, !=, <, <=, >, >= and contains."
_VARIABLE = "A variable is a plain word that is no keyword, without a question mark in front: c."
_PREDICATE = "A predicate reads, for example: c.serverInformation.memory > 64."
_MEANT_WORD = {"&&": "and", "||": "or", "&": "and", "|": "or", "!": "not"}
_MEANT_OPERATOR = {"==": "=", "<>": "!=", "like": "contains"}


def parse_tree(text: str, *, name: str | None = None) -> Rule:
    """Return the tree of a rule's text; `name` is what error messages call the rule.

    Raises LanguageError with position and hint, and LimitError when the text is too long or too deeply nested.
    """
    source = Source(text, name)
    return _Parser(source, tokenize(source)).rule()


class _Parser:
    """Reads tokens from left to right, one method for each line of the grammar."""

    def __init__(self, source: Source, tokens: list[Token]) -> None:
        self._source = source
        self._tokens = tokens
        self._position = 0

    def _peek(self) -> Token:
        return self._tokens[self._position]

    def _take(self) -> Token:
        token = self._peek()
        self._position += token.kind is not Kind.END
        return token

    def _took_word(self, word: str) -> bool:
        return self._peek().is_word(word) and bool(self._take())

    def _took_symbol(self, symbol: str) -> bool:
        return self._peek().is_symbol(symbol) and bool(self._take())

    def _refuse(self, expected: str, hint: str | None = None) -> Exception:
        meant = _MEANT_WORD.get(self._peek().text)
        hint = f'Write "{meant}".' if meant else hint
        return self._source.error(f"expected {expected}, found {self._peek()}", self._peek().span, hint)

    def rule(self) -> Rule:
        prefixes = []
        while self._took_word("prefix"):
            prefixes.append(self._declaration())
        if not self._took_word("search"):
            raise self._refuse('"search"', f"A rule reads, for example: {_EXAMPLE}.")
        searches = [self._search()]
        while self._took_symbol(","):
            searches.append(self._search())
        self._register()
        registered = self._variable('a variable after "register"')
        condition = self._condition(0) if self._took_word("where") else None
        if self._peek().kind is not Kind.END:
            expected = '"where" or the end of the rule' if condition is None else '"and", "or" or the end of the rule'
            hint = "A bracket is closed that was not opened." if self._peek().is_symbol(")") else None
            raise self._refuse(expected, hint)
        return Rule(tuple(prefixes), tuple(searches), registered, condition)

    def _declaration(self) -> Declaration:
        hint = "A declaration reads, for example: PREFIX ex: <http://example.org/schema#>."
        if self._peek().kind is not Kind.PREFIXED or not self._peek().text.endswith(":"):
            raise self._refuse("a prefix that ends in a colon", hint)
        prefix = self._take().text.removesuffix(":")
        if self._peek().kind is not Kind.IRI:
            raise self._refuse("an IRI in angle brackets", hint)
        return Declaration(prefix, self._iri())

    def _search(self) -> Search:
        extension: Extension
        if self._peek().kind is Kind.STRING:
            token = self._take()
            extension = Text(string_value(token, self._source), token.span)
        else:
            extension = self._name("a class or the name of a rule", 'A search reads, for example: "CycleProvider c".')
        variable = self._variable("a variable after the extension")
        return Search(extension, variable, _across(extension.span, variable.span))

    def _register(self) -> None:
        if self._took_word("register"):
            return
        hint = f"Say which variable the rule registers, for example: {_EXAMPLE}."
        if self._peek().kind is Kind.END or self._peek().is_word("where"):
            raise self._source.error('the rule has no "register" part', self._peek().span, hint)
        raise self._refuse('"," or "register"', hint)

    def _variable(self, expected: str, hint: str = _VARIABLE) -> VariableName:
        if self._peek().kind is not Kind.WORD or self._peek().is_word(*RESERVED):
            raise self._refuse(expected, hint)
        token = self._take()
        return VariableName(token.text, token.span)

    def _name(self, expected: str, hint: str) -> Name | Iri:
        token = self._peek()
        if token.is_word(*RESERVED):
            raise self._refuse(expected, f'"{token.text}" is a keyword: as a name it is written :{token.text}.')
        match token.kind:
            case Kind.IRI:
                return self._iri()
            case Kind.PREFIXED:
                return self._prefixed()
            case Kind.WORD:
                return Name(None, self._take().text, token.span)
            case _:
                raise self._refuse(expected, hint)

    def _iri(self) -> Iri:
        token = self._take()
        return Iri(token.text[1:-1], token.span)

    def _prefixed(self) -> Name:
        token = self._take()
        prefix, _, local = token.text.partition(":")
        return Name(prefix, local, token.span)

    def _condition(self, depth: int) -> Condition:
        parts = [self._conjunction(depth)]
        while self._took_word("or"):
            parts.append(self._conjunction(depth))
        return Or(tuple(parts)) if len(parts) > 1 else parts[0]

    def _conjunction(self, depth: int) -> Condition:
        parts = [self._factor(depth)]
        while self._took_word("and"):
            parts.append(self._factor(depth))
        return And(tuple(parts)) if len(parts) > 1 else parts[0]

    def _factor(self, depth: int) -> Condition:
        if depth > DEPTH_MAX:
            message = f"the condition is nested more than {DEPTH_MAX} deep"
            raise self._source.limit(message, self._peek().span, "Leave out brackets that are not needed.")
        if self._took_word("not"):
            return Not(self._factor(depth + 1))
        if not self._took_symbol("("):
            return self._comparison()
        condition = self._condition(depth + 1)
        if not self._took_symbol(")"):
            raise self._refuse('"and", "or" or ")"', "A bracket is still open here.")
        return condition

    def _comparison(self) -> Comparison:
        left = self._operand()
        operator = self._operator()
        right = self._operand()
        return Comparison(left, operator, right, _across(left.span, right.span))

    def _operator(self) -> Operator:
        token = self._peek()
        spelling = token.text.lower()
        if spelling in _SPELLINGS and token.kind in (Kind.SYMBOL, Kind.WORD):
            return Operator(self._take().text.lower())
        if token.kind is Kind.END or token.is_word("and", "or", "where") or token.text in tuple(").,?"):
            raise self._refuse("an operator", _OPERATORS)
        if token.is_word("not"):
            hint = "Write the negation in front: not c.serverHost contains 'x'."
        else:
            hint = f'Write "{_MEANT_OPERATOR[spelling]}".' if spelling in _MEANT_OPERATOR else _OPERATORS
        raise self._source.error(f"unknown operator {token}", token.span, hint)

    def _operand(self) -> Operand:
        token = self._peek()
        match token.kind:
            case Kind.STRING:
                return Text(string_value(self._take(), self._source), token.span)
            case Kind.NUMBER:
                return Number(self._take().text, token.span)
            case Kind.IRI:
                return self._iri()
            case Kind.PREFIXED:
                return self._prefixed()
            case _ if token.is_word("true", "false"):
                return Truth(self._take().is_word("true"), token.span)
            case _:
                return self._path()

    def _path(self) -> Path:
        variable = self._variable("a constant or a path that starts with a variable", _PREDICATE)
        steps = []
        while self._took_symbol("."):
            name = self._name('a property after "."', "A path reads, for example: c.serverInformation.memory.")
            steps.append(Step(name, self._took_symbol("?"), name.span))
        end = self._tokens[self._position - 1].span
        return Path(variable, tuple(steps), _across(variable.span, end))


def _across(first: Span | None, last: Span | None) -> Span | None:
    return first.to(last) if first and last else None
