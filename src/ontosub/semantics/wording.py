"""Expressions in words: their text, and why one does not hold.

`expression_text` writes an expression as SPARQL would, with terms shown briefly for people, or exactly for machines.
`explain_failure` names the part of a filter that fails, and the values that make it fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any

from ontosub.model.expression import CASTS, Call, Exists, Expression, Function, variables_of
from ontosub.model.terms import XSD, BlankNode, NamedNode, Term, Triple, Variable
from ontosub.semantics.context import Assignment, Context
from ontosub.semantics.expressions import evaluate, holds
from ontosub.semantics.faults import ExpressionError

_SHOWN_LENGTH = 40
_BARE_TYPES = frozenset(XSD[name] for name in ("integer", "decimal", "double", "float", "boolean"))

_INFIX = {
    Function.OR: 1,
    Function.AND: 2,
    Function.EQUAL: 3,
    Function.NOT_EQUAL: 3,
    Function.LESS: 3,
    Function.LESS_OR_EQUAL: 3,
    Function.GREATER: 3,
    Function.GREATER_OR_EQUAL: 3,
    Function.IN: 3,
    Function.NOT_IN: 3,
    Function.ADD: 4,
    Function.SUBTRACT: 4,
    Function.MULTIPLY: 5,
    Function.DIVIDE: 5,
}
"""How tightly the infix operators bind."""

_COMPARISON = _INFIX[Function.EQUAL]
_MEMBERSHIP = frozenset({Function.IN, Function.NOT_IN})

_PREFIX = {Function.NOT: "!", Function.NEGATE: "-", Function.PLUS: "+"}
_PREFIX_BINDS = 6
_OPERAND = 7
"""The place after a prefix. Function calls and variables fit there without parentheses."""


Show = Callable[[Term | Variable], str]


def term_text(term: Term | Variable) -> str:
    """Show a term briefly: numbers bare, strings quoted and cut, IRIs by their last part."""
    match term:
        case NamedNode():
            return _cut(f"<{_last_part(term.value)}>")
        case BlankNode() | Variable():
            return str(term)
        case Triple():
            return f"<<( {term_text(term.subject)} {term_text(term.predicate)} {term_text(term.object)} )>>"
    if term.datatype in _BARE_TYPES:
        return _cut(term.value)
    shown = f'"{_cut(term.value)}"'
    if term.language is not None:
        direction = "" if term.direction is None else f"--{term.direction.value}"
        return f"{shown}@{term.language}{direction}"
    return shown if term.datatype == XSD["string"] else f"{shown}^^{_datatype_text(term.datatype)}"


def exact_text(term: Term | Variable) -> str:
    """Return a term as it is written in a query."""
    if isinstance(term, Triple):
        return f"<<( {exact_text(term.subject)} {exact_text(term.predicate)} {exact_text(term.object)} )>>"
    return str(term)


def _datatype_text(datatype: NamedNode) -> str:
    return f"xsd:{_last_part(datatype.value)}" if datatype.value.startswith(XSD) else term_text(datatype)


def _last_part(iri: str) -> str:
    return re.split("[#/:]", iri)[-1] or iri


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_LENGTH else f"{text[: _SHOWN_LENGTH - 1]}…"


@dataclass(frozen=True, slots=True)
class Words:
    """How the leaves of an expression are written: terms and variables, and the patterns of EXISTS."""

    term: Show = term_text
    pattern: Callable[[Any], str] = field(default=lambda pattern: "{ … }")


BRIEF = Words()
_EXACT = Words(exact_text)


def expression_text(expression: Expression, *, exact: bool = False, words: Words = BRIEF) -> str:
    """Write the expression as SPARQL. With `exact`, terms are in full and the text reads back as the expression.

    Function.NUMBER, which SPARQL does not have, is written as `number(…)`. The base that IRI was given is left out, and
    so is the pattern of an EXISTS, unless `words` writes it.
    """
    return _written(expression, _EXACT if exact else words, 0)


def _written(expression: Expression, words: Words, place: int) -> str:
    """Write an expression for a place that binds so tightly; parentheses go around what binds less."""
    if isinstance(expression, Exists):
        return f"EXISTS {words.pattern(expression.pattern)}"
    if not isinstance(expression, Call):
        # A constant after a sign is set apart, so that -(1) is not read as the number -1.
        shown = words.term(expression)
        return f"({shown})" if place == _OPERAND and not isinstance(expression, Variable) else shown
    function = expression.function
    if function is Function.NOT and isinstance(expression.arguments[0], Exists):
        return f"NOT {_written(expression.arguments[0], words, 0)}"
    arguments = expression.arguments[:1] if function is Function.IRI else expression.arguments
    texts = list(map(_written, arguments, repeat(words), _places(function)))
    binds = _PREFIX_BINDS if function in _PREFIX else _INFIX.get(function, _OPERAND)
    joined = _joined(function, texts, words)
    return f"({joined})" if binds < place else joined


def _places(function: Function) -> Iterator[int]:
    """Return how tightly the places of the arguments bind, first to last."""
    if function in _PREFIX:
        return repeat(_OPERAND)
    binds = _INFIX.get(function)
    if binds is None:
        return repeat(0)
    if function in _MEMBERSHIP:
        return chain((binds + 1,), repeat(0))
    # Comparisons do not chain; the other operators group to the left.
    return chain((binds + 1 if binds == _COMPARISON else binds,), repeat(binds + 1))


def _joined(function: Function, texts: list[str], words: Words) -> str:
    if function in _PREFIX:
        return _PREFIX[function] + texts[0]
    if function in _MEMBERSHIP:
        return f"{texts[0]} {function} ({', '.join(texts[1:])})"
    if function in _INFIX:
        return f" {function} ".join(texts)
    return f"{_name(function, words)}({', '.join(texts)})"


def _name(function: Function, words: Words) -> str:
    """Return how a function is called. A cast is named by an IRI."""
    if function not in CASTS:
        return function.value
    return f"<{function.value}>" if words is _EXACT else f"xsd:{_last_part(function.value)}"


_FAILURES = {
    Function.EQUAL: "is not =",
    Function.NOT_EQUAL: "is =",
    Function.LESS: "is not <",
    Function.LESS_OR_EQUAL: "is not <=",
    Function.GREATER: "is not >",
    Function.GREATER_OR_EQUAL: "is not >=",
    Function.IN: "is not in",
    Function.NOT_IN: "is in",
    Function.CONTAINS: "does not contain",
    Function.STARTS: "does not start with",
    Function.ENDS: "does not end with",
    Function.REGEX: "does not match",
    Function.SAME_TERM: "is not the same term as",
    Function.LANG_MATCHES: "does not match the language range",
}
"""What a relation that is false says of its first argument and the others."""


def explain_failure(
    expression: Expression, binding: Assignment, context: Context | None = None, words: Words = BRIEF
) -> str | None:
    """Say in a sentence why the filter does not hold, with the offending values; None when it holds.

    For `?3 < 400.00` it says `?3 = 450 is not < 400.00`, or `?3 = "abc" cannot be compared with 400.00`. All that is
    evaluated spends from the budget of the context. Raises LimitError when the budget does not suffice.
    """
    return _Case(binding, Context() if context is None else context, words).failure(expression)


@dataclass(frozen=True, slots=True)
class _Case:
    """A binding under which a filter is looked at."""

    binding: Assignment
    context: Context
    words: Words

    def failure(self, expression: Expression) -> str | None:
        if self._holds(expression):
            return None
        return ", and ".join(self._explain_part(part) for part in self._failing_parts(expression))

    def _holds(self, expression: Expression) -> bool:
        return holds(expression, self.binding, self.context)

    def _value(self, expression: Expression) -> Term:
        return evaluate(expression, self.binding, self.context)

    def _text(self, expression: Expression) -> str:
        return expression_text(expression, words=self.words)

    def _failing_parts(self, expression: Expression) -> list[Expression]:
        """Return what to blame: of an `&&` the first argument that fails, of an `||` all of them."""
        found: list[Expression] = []
        waiting = [expression]
        while waiting:
            part = waiting.pop()
            if not isinstance(part, Call) or part.function not in (Function.AND, Function.OR):
                found.append(part)
            elif part.function is Function.OR:
                waiting.extend(reversed(part.arguments))
            else:
                waiting.append(next(argument for argument in part.arguments if not self._holds(argument)))
        return found

    def _explain_part(self, expression: Expression) -> str:
        try:
            self._value(expression)
        except ExpressionError as error:
            return self._explain_error(expression, error)
        if isinstance(expression, Call) and (phrase := _FAILURES.get(expression.function)):
            return self._relation(expression, phrase)
        return f"{self._text(expression)} is not true{self._circumstances(expression)}"

    def _explain_error(self, expression: Expression, error: ExpressionError) -> str:
        unbound = [variable for variable in variables_of(expression) if variable not in self.binding]
        if unbound:
            names = sorted(map(self.words.term, unbound))
            return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} not bound"
        if isinstance(expression, Call) and self._compares_values(expression):
            return self._relation(expression, "cannot be compared with")
        return f"{self._text(expression)} cannot be evaluated{self._circumstances(expression)}: {error}"

    def _compares_values(self, expression: Call) -> bool:
        """Say whether the call is a comparison and what it compares has a value: the fault lies in comparing them."""
        if _INFIX.get(expression.function) != _COMPARISON:
            return False
        try:
            for argument in expression.arguments:
                self._value(argument)
        except ExpressionError:
            return False
        return True

    def _relation(self, expression: Call, phrase: str) -> str:
        show = self._distinguishing(expression)
        first, *others = (self._with_value(argument, show) for argument in expression.arguments)
        shown = ", ".join(others)
        if expression.function in _MEMBERSHIP:
            shown = f"({shown})"
        return f"{first} {phrase} {shown}"

    def _distinguishing(self, expression: Call) -> Show:
        """Return how to show the values: briefly, unless two different ones would look the same."""
        brief = self.words.term
        try:
            values = {self._value(argument) for argument in expression.arguments}
        except ExpressionError:
            return brief
        return brief if len(set(map(brief, values))) == len(values) else exact_text

    def _with_value(self, expression: Expression, show: Show) -> str:
        """Show an expression, and what it stands for unless it shows that itself."""
        if not isinstance(expression, Call | Exists | Variable):
            return show(expression)
        try:
            return f"{self._text(expression)} = {show(self._value(expression))}"
        except ExpressionError:
            return self._text(expression)

    def _circumstances(self, expression: Expression) -> str:
        known = sorted((variable for variable in variables_of(expression) if variable in self.binding), key=str)
        show = self.words.term
        shown = " and ".join(f"{show(variable)} = {show(self.binding[variable])}" for variable in known)
        return f" with {shown}" if known else ""
