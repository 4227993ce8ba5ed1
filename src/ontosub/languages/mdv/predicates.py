"""What a predicate demands of the values that it compares, as a filter expression.

Documents carry untyped strings, so the constant decides how a value is read: as a number beside a number, as text
beside a string (for a resource, its URI reference), as it is beside a resource or another path.
"""

from __future__ import annotations

from typing import TypeAlias

from ontosub.languages.mdv.syntax import Number, Operator, Text, Truth
from ontosub.model.expression import Call, Expression, Function
from ontosub.model.terms import XSD, Literal, NamedNode, Variable

Side: TypeAlias = Variable | NamedNode | Text | Number | Truth
"""One side of a predicate: the vertex at the end of a path, or a constant."""

ORDER = frozenset({Operator.LESS, Operator.LESS_OR_EQUAL, Operator.GREATER, Operator.GREATER_OR_EQUAL})

_MIRRORED = {
    Operator.LESS: Operator.GREATER,
    Operator.LESS_OR_EQUAL: Operator.GREATER_OR_EQUAL,
    Operator.GREATER: Operator.LESS,
    Operator.GREATER_OR_EQUAL: Operator.LESS_OR_EQUAL,
}
_SPELLS_NUMBER = Literal(r"^[ \t\r\n]*[+-]?([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t\r\n]*$")


def expression_of(left: Side, operator: Operator, right: Side) -> Expression:
    """Return the condition under which the predicate holds. At least one side is a variable."""
    if operator is Operator.CONTAINS:
        return Call(Function.CONTAINS, (_as_text(left), _as_text(right)))
    if not isinstance(left, Variable):
        return expression_of(right, _MIRRORED.get(operator, operator), left)
    function = Function(operator.value)
    match right:
        case Text():
            return Call(function, (_as_text(left), _as_text(right)))
        case Number():
            return Call(function, (_as_number(left), number(right)))
        case Truth(value):
            return _compare_truth(left, operator, value)
        case Variable() if operator in ORDER:
            return _compare_order(function, left, right)
        case _:
            return Call(function, (left, right))


def number(constant: Number) -> Literal:
    """Return a number as SPARQL types it: integer, decimal with a point, double with an exponent."""
    lexical = constant.lexical.lower()
    datatype = "double" if "e" in lexical else "decimal" if "." in lexical else "integer"
    return Literal(constant.lexical, datatype=XSD[datatype])


def _compare_truth(value: Variable, operator: Operator, wanted: bool) -> Expression:
    """Both spellings of XSD count; whatever is neither is different from true and from false."""
    spellings = ("true", "1") if wanted else ("false", "0")
    first, second = (Call(Function.EQUAL, (_as_text(value), Literal(spelling))) for spelling in spellings)
    equal = Call(Function.OR, (first, second))
    return equal if operator is Operator.EQUAL else Call(Function.NOT, (equal,))


def _compare_order(function: Function, left: Variable, right: Variable) -> Expression:
    """Compare as numbers; as plain values too, unless both are texts that spell numbers ("9" comes before "10")."""
    both_spell = Call(Function.AND, tuple(Call(Function.REGEX, (_as_text(x), _SPELLS_NUMBER)) for x in (left, right)))
    as_numbers = Call(function, (_as_number(left), _as_number(right)))
    as_values = Call(Function.AND, (Call(Function.NOT, (both_spell,)), Call(function, (left, right))))
    return Call(Function.OR, (as_numbers, as_values))


def _as_number(side: Variable) -> Expression:
    return Call(Function.NUMBER, (side,))


def _as_text(side: Side) -> Expression:
    match side:
        case Variable():
            return Call(Function.STR, (side,))
        case Number(lexical):
            return Literal(lexical)
        case Truth(value):
            return Literal("true" if value else "false")
        case Text() | NamedNode():
            return Literal(side.value)
