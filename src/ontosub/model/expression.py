"""Filter expressions: SPARQL's operators and functions over variables and terms.

An expression is a variable, a term, the call of a `Function` on expressions, or EXISTS with a pattern. What it means is
in `ontosub.semantics.expressions`; this module is only its shape. All built-in functions of SPARQL 1.1 and 1.2 are
here, and the casts of XSD; other functions that are named by IRIs cannot be expressed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from ontosub.model.errors import LimitError, Span
from ontosub.model.terms import XSD, Literal, NamedNode, Triple, Variable

DEPTH_MAX = 320
"""How many calls may lie inside each other: whatever goes through an expression may use two frames for each."""


class Function(StrEnum):
    """What a call applies. The value is the SPARQL spelling, of a cast its IRI; only NUMBER is ours."""

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
    TIMEZONE = "TIMEZONE"
    TZ = "TZ"
    IF = "IF"
    COALESCE = "COALESCE"
    IRI = "IRI"
    """Of a text, and perhaps of a second one: the base against which a relative IRI is resolved."""
    BNODE = "BNODE"
    RAND = "RAND"
    UUID = "UUID"
    STRUUID = "STRUUID"
    NOW = "NOW"
    CEIL = "CEIL"
    FLOOR = "FLOOR"
    ROUND = "ROUND"
    CONCAT = "CONCAT"
    SUBSTR = "SUBSTR"
    REPLACE = "REPLACE"
    BEFORE = "STRBEFORE"
    AFTER = "STRAFTER"
    ENCODE_FOR_URI = "ENCODE_FOR_URI"
    STRLANG = "STRLANG"
    STRDT = "STRDT"
    MD5 = "MD5"
    SHA1 = "SHA1"
    SHA256 = "SHA256"
    SHA384 = "SHA384"
    SHA512 = "SHA512"
    TRIPLE = "TRIPLE"
    SUBJECT = "SUBJECT"
    PREDICATE = "PREDICATE"
    OBJECT = "OBJECT"
    IS_TRIPLE = "ISTRIPLE"
    LANGDIR = "LANGDIR"
    HAS_LANG = "HASLANG"
    HAS_LANGDIR = "HASLANGDIR"
    STRLANGDIR = "STRLANGDIR"
    TO_BOOLEAN = XSD + "boolean"
    TO_DECIMAL = XSD + "decimal"
    TO_FLOAT = XSD + "float"
    TO_DOUBLE = XSD + "double"
    TO_STRING = XSD + "string"
    TO_DATE_TIME = XSD + "dateTime"
    TO_DATE = XSD + "date"
    TO_TIME = XSD + "time"
    TO_YEAR = XSD + "gYear"
    TO_YEAR_MONTH = XSD + "gYearMonth"
    TO_MONTH = XSD + "gMonth"
    TO_MONTH_DAY = XSD + "gMonthDay"
    TO_DAY = XSD + "gDay"
    TO_DURATION = XSD + "duration"
    TO_DAY_TIME_DURATION = XSD + "dayTimeDuration"
    TO_YEAR_MONTH_DURATION = XSD + "yearMonthDuration"
    TO_INTEGER = XSD + "integer"
    TO_LONG = XSD + "long"
    TO_INT = XSD + "int"
    TO_SHORT = XSD + "short"
    TO_BYTE = XSD + "byte"
    TO_NON_NEGATIVE_INTEGER = XSD + "nonNegativeInteger"
    TO_POSITIVE_INTEGER = XSD + "positiveInteger"
    TO_UNSIGNED_LONG = XSD + "unsignedLong"
    TO_UNSIGNED_INT = XSD + "unsignedInt"
    TO_UNSIGNED_SHORT = XSD + "unsignedShort"
    TO_UNSIGNED_BYTE = XSD + "unsignedByte"
    TO_NON_POSITIVE_INTEGER = XSD + "nonPositiveInteger"
    TO_NEGATIVE_INTEGER = XSD + "negativeInteger"
    NUMBER = "number"
    """MDV's reading of a value: a numeric literal as it is, a plain string by the number that it spells."""


CASTS = frozenset(function for function in Function if function.value.startswith(XSD))
"""The functions that make a literal of another datatype."""

FRESH = frozenset({Function.RAND, Function.UUID, Function.STRUUID, Function.BNODE})
"""The functions whose value belongs to one solution, and is another one in the next."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function applied to arguments. The position in the source text does not take part in equality.

    Raises LimitError when more than DEPTH_MAX calls would lie inside each other.
    """

    function: Function
    arguments: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False)
    depth: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        depth = 1
        for argument in self.arguments:
            if isinstance(argument, Call) and argument.depth >= depth:
                depth = argument.depth + 1
        if depth > DEPTH_MAX:
            raise LimitError(f"more than {DEPTH_MAX} function calls lie inside each other")
        object.__setattr__(self, "depth", depth)


@dataclass(frozen=True, slots=True)
class Exists:
    """EXISTS. The pattern is a node of whatever algebra the evaluator of patterns understands.

    NOT EXISTS is `Call(Function.NOT, (Exists(…),))`.
    """

    pattern: Any
    span: Span | None = field(default=None, compare=False)


Expression: TypeAlias = Variable | NamedNode | Literal | Triple | Call | Exists
"""A triple is a ground triple term, a constant like an IRI or a literal."""


def variables_of(expression: Expression) -> frozenset[Variable]:
    """Return the variables that the expression mentions, but for those inside the patterns of EXISTS."""
    return frozenset(part for part in walk(expression) if isinstance(part, Variable))


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and everything inside it, outermost first. The patterns of EXISTS are not gone into."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, Call):
            waiting.extend(reversed(part.arguments))
