"""From expressions of a query to those of the model: all of them, or as far as a filter of the core may go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import Any

from ontosub.languages.sparql.syntax import (
    Aggregate,
    Builtin,
    Exists,
    Expression,
    FunctionCall,
    Occurrence,
    Operation,
    Pattern,
)
from ontosub.model import expression as model
from ontosub.model.errors import Span
from ontosub.model.terms import Literal, NamedNode, Triple, Variable


def conjuncts(expression: Expression) -> Iterator[Expression]:
    """Yield the expressions that must all be true for this one to be."""
    if isinstance(expression, Operation) and expression.operator == "&&":
        for operand in expression.operands:
            yield from conjuncts(operand)
    else:
        yield expression


_FUNCTIONS = {function.value: function for function in model.Function if function is not model.Function.NUMBER} | {
    "ISURI": model.Function.IS_IRI,
    "URI": model.Function.IRI,
}

_NOT_IN_CORE = model.FRESH | {model.Function.NOW}
"""What is told of a whole solution, or of the event's time; those who match a core know neither."""


def express(expression: Expression, base: str | None = None) -> model.Expression | None:
    """Return the expression as the filters of a core have it, or None when it cannot be said there.

    `base` is what relative IRIs are resolved against. Without one IRI() cannot be said.
    """
    try:
        found = _Translation(base, _inexpressible, _inexpressible).expression(expression)
    except _Inexpressible:
        return None
    excluded = _NOT_IN_CORE if base is not None else _NOT_IN_CORE | {model.Function.IRI}
    for part in model.walk(found):
        if isinstance(part, Triple) or (isinstance(part, model.Call) and part.function in excluded):
            return None
    return found


def express_all(
    expression: Expression,
    pattern_of: Callable[[Pattern], Any],
    aggregate: Callable[[Aggregate], Variable],
    base: str | None = None,
) -> model.Expression:
    """Return the expression, whatever is in it.

    `pattern_of` gives what the pattern of an EXISTS becomes, `aggregate` the variable that an aggregate is bound to.
    `base` is what relative IRIs are resolved against.
    """
    return _Translation(base, pattern_of, aggregate).expression(expression)


class _Inexpressible(Exception):
    """Raised for what a core cannot say."""


def _inexpressible(node: object) -> Any:
    raise _Inexpressible


class _Translation:
    """Translates expressions that were read, whose functions are therefore known."""

    def __init__(
        self, base: str | None, pattern_of: Callable[[Pattern], Any], aggregate: Callable[[Aggregate], Variable]
    ) -> None:
        self._base = base
        self._pattern_of = pattern_of
        self._aggregate = aggregate

    def expression(self, expression: Expression) -> model.Expression:
        match expression:
            case Occurrence(term=Variable() | NamedNode() | Literal() | Triple() as term):
                return term
            case Operation(operator, operands, span):
                return self._call(operator, operands, span)
            case Builtin(name, arguments, span):
                return self._call(name, arguments, span)
            case FunctionCall(function, arguments, _, span):
                return self._call(function.value, arguments, span)
            case Exists(pattern, negated, span):
                exists = model.Exists(self._pattern_of(pattern), span)
                return model.Call(model.Function.NOT, (exists,), span) if negated else exists
            case Aggregate():
                return self._aggregate(expression)
        raise AssertionError(expression)

    def _call(self, name: str, operands: tuple[Expression, ...], span: Span | None) -> model.Expression:
        function = _FUNCTIONS.get(name)
        if function is None:
            raise _Inexpressible
        arguments = list(map(self.expression, operands))
        if function in (model.Function.AND, model.Function.OR):
            return _balanced(function, arguments, span)
        if function is model.Function.IRI and self._base is not None:
            arguments.append(Literal(self._base))
        return model.Call(function, tuple(arguments), span)


def _balanced(function: model.Function, operands: list[model.Expression], span: Span | None) -> model.Expression:
    """Return a chain as calls with two arguments each. Both operators are associative, so it need not grow deep."""
    if len(operands) == 1:
        return operands[0]
    middle = (len(operands) + 1) // 2
    halves = (operands[:middle], operands[middle:])
    return model.Call(function, tuple(_balanced(function, half, span) for half in halves), span)


def fails_without(expression: model.Expression, unbound: Set[Variable]) -> bool:
    """Say whether the expression is an error, and so not true, whenever these variables are not bound."""
    match expression:
        case Variable():
            return expression in unbound
        case model.Call(function=model.Function.BOUND):
            return False
        case model.Call(function=model.Function.OR | model.Function.AND | model.Function.COALESCE, arguments=arguments):
            return all(fails_without(argument, unbound) for argument in arguments)
        case model.Call(function=model.Function.IN | model.Function.NOT_IN, arguments=(first, *choices)):
            return bool(choices) and fails_without(first, unbound)
        case model.Call(function=model.Function.IF, arguments=(condition, first, second)):
            chosen = fails_without(first, unbound) and fails_without(second, unbound)
            return chosen or fails_without(condition, unbound)
        case model.Call(arguments=arguments):
            return any(fails_without(argument, unbound) for argument in arguments)
        case _:
            return False
