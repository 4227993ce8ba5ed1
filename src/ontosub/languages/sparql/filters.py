"""From expressions of a query to expressions of a filter, as far as these go."""

from __future__ import annotations

from collections.abc import Iterator, Set

from ontosub.languages.sparql.syntax import Builtin, Expression, Occurrence, Operation
from ontosub.model import expression as model
from ontosub.model.errors import Span
from ontosub.model.terms import Literal, NamedNode, Variable


def conjuncts(expression: Expression) -> Iterator[Expression]:
    """Yield the expressions that must all be true for this one to be."""
    if isinstance(expression, Operation) and expression.operator == "&&":
        for operand in expression.operands:
            yield from conjuncts(operand)
    else:
        yield expression


_FUNCTIONS = {function.value: function for function in model.Function} | {"ISURI": model.Function.IS_IRI}


def express(expression: Expression) -> model.Expression | None:
    """Return the expression as filters have it, or None when it cannot be said there."""
    match expression:
        case Occurrence(term=Variable() | NamedNode() | Literal() as term):
            return term
        case Operation(operator, operands, span):
            return _call(_FUNCTIONS.get(operator), operands, span)
        case Builtin(name, arguments, span):
            return _call(_FUNCTIONS.get(name), arguments, span)
        case _:
            return None


def _call(
    function: model.Function | None, operands: tuple[Expression, ...], span: Span | None
) -> model.Expression | None:
    if function is None:
        return None
    arguments = [expressed for operand in operands if (expressed := express(operand)) is not None]
    if len(arguments) != len(operands):
        return None
    if function in (model.Function.AND, model.Function.OR):
        return _balanced(function, arguments, span)
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
        case model.Call(function=model.Function.OR | model.Function.AND, arguments=arguments):
            return all(fails_without(argument, unbound) for argument in arguments)
        case model.Call(function=model.Function.IN | model.Function.NOT_IN, arguments=(first, *choices)):
            return bool(choices) and fails_without(first, unbound)
        case model.Call(arguments=arguments):
            return any(fails_without(argument, unbound) for argument in arguments)
        case _:
            return False


_BY_SPELLING = frozenset({model.Function.STR, model.Function.DATATYPE, model.Function.SAME_TERM, model.Function.REGEX})
"""What looks at how a literal is spelled, or reads patterns: engines differ there."""


def means_the_same(expression: model.Expression) -> bool:
    """Say whether the expression means the same to an engine that keeps values and not their spellings."""
    return not any(isinstance(part, model.Call) and part.function in _BY_SPELLING for part in model.walk(expression))
