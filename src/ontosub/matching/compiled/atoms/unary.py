"""Atoms: tests of one term that parts of a filter come down to.

`CONTAINS(STR(?x), "abc")` asks something of the term ?x alone, and so can be decided once per event for all
subscriptions that ask it. This module only tells such parts from others and brings them to one form; what they mean is
said by `ontosub.semantics.expressions`.

Negations are not atoms, but for those of the four kinds: of the strings that do not contain a needle there are many,
so that an index gains nothing by listing them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from ontosub.model.expression import Call, Expression, Function
from ontosub.model.terms import XSD, Literal, NamedNode, Variable
from ontosub.semantics import regex
from ontosub.semantics.faults import ExpressionError

NEEDLE_BYTES_MAX = 1_000
"""The longest text that an automaton is built for."""


class Test(StrEnum):
    """What is asked of a term."""

    __test__ = False  # not one of pytest's

    CONTAINS = "contains"
    STARTS = "starts"
    ENDS = "ends"
    EQUALS = "equals"
    REGEX = "regex"
    LANGUAGE = "language"
    RANGE = "range"
    DATATYPE = "datatype"
    KIND = "kind"
    OTHER_KIND = "other kind"


class Domain(StrEnum):
    """Which terms have the text that a test reads; for any other it is an error."""

    STRINGS = "strings"
    """Strings, with a language or without: what SPARQL's string functions take."""
    UNTAGGED = "untagged"
    """Strings without a language."""
    TEXTS = "texts"
    """IRIs and literals: what STR takes."""


class Case(StrEnum):
    """How the text is written before it is tested."""

    KEPT = "kept"
    LOWER = "lower"
    UPPER = "upper"


class View(NamedTuple):
    """What a test reads: the text of which terms, in which case."""

    domain: Domain
    case: Case


class Atom(NamedTuple):
    """A test of one term. `text` is the needle, pattern, language, range, datatype or kind; see `Test`."""

    test: Test
    text: str
    view: View | None = None
    flags: str = ""


_STRING_TESTS = {Function.CONTAINS: Test.CONTAINS, Function.STARTS: Test.STARTS, Function.ENDS: Test.ENDS}
_KINDS = frozenset({Function.IS_IRI, Function.IS_BLANK, Function.IS_LITERAL, Function.IS_NUMERIC})
_EQUALITIES = frozenset({Function.EQUAL, Function.SAME_TERM})
_CASES = {Function.LOWER: Case.LOWER, Function.UPPER: Case.UPPER}


def atoms_of(expression: Expression) -> tuple[Variable, frozenset[Atom]] | None:
    """Return the variable and the atoms of which one must hold for the expression to hold; None when it is not so.

    >>> x = Variable("x")
    >>> atoms_of(Call(Function.STARTS, (x, Literal("a"))))[1]
    frozenset({Atom(test=<Test.STARTS: 'starts'>, text='a', view=View(domain=<Domain.STRINGS: 'strings'>, \
case=<Case.KEPT: 'kept'>), flags='')})
    """
    variables: set[Variable] = set()
    atoms: set[Atom] = set()
    for alternative in _alternatives(expression):
        read = _atom(alternative)
        if read is None:
            return None
        variables.add(read[0])
        atoms.add(read[1])
    return (variables.pop(), frozenset(atoms)) if len(variables) == 1 else None


def _alternatives(expression: Expression) -> Iterator[Expression]:
    pending = [expression]
    while pending:
        match pending.pop():
            case Call(Function.OR, arguments):
                pending.extend(arguments)
            case Call(Function.IN, (sought, *members)):
                pending.extend(Call(Function.EQUAL, (sought, member)) for member in members)
            case part:
                yield part


def _atom(part: Expression) -> tuple[Variable, Atom] | None:
    match part:
        case Call(Function.NOT, (Call(kind, (Variable() as variable,)),)) if kind in _KINDS:
            return variable, Atom(Test.OTHER_KIND, kind.value)
        case Call(kind, (Variable() as variable,)) if kind in _KINDS:
            return variable, Atom(Test.KIND, kind.value)
        case Call(function, (whole, Literal() as needle)) if function in _STRING_TESTS:
            return _string_test(_STRING_TESTS[function], whole, needle)
        case Call(Function.REGEX, (whole, Literal() as pattern)):
            return _regex(whole, pattern, Literal(""))
        case Call(Function.REGEX, (whole, Literal() as pattern, Literal() as flags)):
            return _regex(whole, pattern, flags)
        case Call(Function.LANG_MATCHES, (Call(Function.LANG, (Variable() as variable,)), Literal() as wanted)):
            return (variable, Atom(Test.RANGE, wanted.value.lower())) if _is_plain(wanted) else None
        case Call(equality, (first, NamedNode() | Literal() as second)) if equality in _EQUALITIES:
            return _equality(first, second)
        case Call(equality, (NamedNode() | Literal() as first, second)) if equality in _EQUALITIES:
            return _equality(second, first)
    return None


def _string_test(test: Test, whole: Expression, needle: Literal) -> tuple[Variable, Atom] | None:
    viewed = _view(whole)
    if viewed is None or not _is_plain(needle) or len(needle.value.encode()) > NEEDLE_BYTES_MAX:
        return None
    return viewed[0], Atom(test, needle.value, viewed[1])


def _regex(whole: Expression, pattern: Literal, flags: Literal) -> tuple[Variable, Atom] | None:
    viewed = _view(whole)
    if viewed is None or not _is_plain(pattern) or not _is_plain(flags):
        return None
    try:
        regex.matches("", pattern.value, flags.value)
    except ExpressionError:
        return None
    return viewed[0], Atom(Test.REGEX, pattern.value, viewed[1], "".join(sorted(set(flags.value))))


def _equality(reading: Expression, constant: NamedNode | Literal) -> tuple[Variable, Atom] | None:
    """Return the atom of `f(?x) = constant`. Between ?x itself and a constant, equality goes by value, and is none."""
    match reading, constant:
        case Call(Function.DATATYPE, (Variable() as variable,)), NamedNode():
            return variable, Atom(Test.DATATYPE, constant.value)
        case Call(Function.LANG, (Variable() as variable,)), Literal() if _is_plain(constant):
            return variable, Atom(Test.LANGUAGE, constant.value)
        case Call(), Literal() if _is_plain(constant) and (viewed := _view(reading)) is not None:
            variable, view = viewed
            domain = Domain.UNTAGGED if view.domain is Domain.STRINGS else view.domain
            return variable, Atom(Test.EQUALS, constant.value, View(domain, view.case))
    return None


def _view(whole: Expression) -> tuple[Variable, View] | None:
    """Return what is read by `?x`, `STR(?x)`, and LCASE or UCASE of either."""
    case, domain = Case.KEPT, Domain.STRINGS
    if isinstance(whole, Call) and whole.function in _CASES:
        case, (whole,) = _CASES[whole.function], whole.arguments
    if isinstance(whole, Call) and whole.function is Function.STR:
        domain, (whole,) = Domain.TEXTS, whole.arguments
    return (whole, View(domain, case)) if isinstance(whole, Variable) else None


def _is_plain(literal: Literal) -> bool:
    return literal.datatype == XSD["string"]
