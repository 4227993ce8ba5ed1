"""Filter expressions: SPARQL's operators and functions over variables and terms.

An expression is a variable, a term, or the call of a `Function` on expressions. What it means is in
`ontosub.semantics.expressions`; this module is only its shape. A SPARQL function that is not in `Function` cannot be
expressed here: a query that uses one keeps it in its residual.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from ontosub.model.errors import Span
from ontosub.model.terms import Literal, NamedNode, Variable


class Function(StrEnum):
    """What a call applies. The value is the SPARQL spelling, except for NUMBER, which is ours."""

    OR = "||"
    AND = "&&"
    NOT = "!"
    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    IN = "IN"
    NOT_IN = "NOT IN"
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    NEGATE = "unary -"
    PLUS = "unary +"
    BOUND = "BOUND"
    SAME_TERM = "SAMETERM"
    IS_IRI = "ISIRI"
    IS_BLANK = "ISBLANK"
    IS_LITERAL = "ISLITERAL"
    IS_NUMERIC = "ISNUMERIC"
    STR = "STR"
    LANG = "LANG"
    LANG_MATCHES = "LANGMATCHES"
    DATATYPE = "DATATYPE"
    REGEX = "REGEX"
    CONTAINS = "CONTAINS"
    STARTS = "STRSTARTS"
    ENDS = "STRENDS"
    LENGTH = "STRLEN"
    UPPER = "UCASE"
    LOWER = "LCASE"
    ABS = "ABS"
    YEAR = "YEAR"
    MONTH = "MONTH"
    DAY = "DAY"
    HOURS = "HOURS"
    MINUTES = "MINUTES"
    SECONDS = "SECONDS"
    NUMBER = "number"
    """MDV's reading of a value: a numeric literal as it is, a plain string by the number that it spells."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function applied to arguments. The position in the source text does not take part in equality."""

    function: Function
    arguments: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False)


Expression: TypeAlias = Variable | NamedNode | Literal | Call


def variables_of(expression: Expression) -> frozenset[Variable]:
    """Return the variables that the expression mentions."""
    return frozenset(part for part in walk(expression) if isinstance(part, Variable))


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and everything inside it, outermost first."""
    yield expression
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from walk(argument)
