"""What an expression means: SPARQL's evaluation, with errors, within a budget.

`evaluate` gives the term that an expression denotes under a binding, or raises ExpressionError; `holds` asks for its
effective boolean value, and an error does not hold. This is the reference that faster ways of filtering are held to.

Each call spends a step, and more for long texts; each text spends bytes before it is made. What goes beyond the budget
is a LimitError, which no function bears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import repeat

from ontosub.model.expression import CASTS, Call, Exists, Expression, Function, walk
from ontosub.model.terms import XSD, BlankNode, Literal, NamedNode, Term, Triple, Variable
from ontosub.semantics import (
    arithmetic,
    casts,
    comparison,
    fresh_values,
    moment_functions,
    string_functions,
    term_functions,
)
from ontosub.semantics.arguments import plain_text
from ontosub.semantics.budget import TEXT_PER_STEP, Budget
from ontosub.semantics.context import Assignment, Context
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.membership import Members, members_of
from ontosub.semantics.numeric import Number, is_zero_or_nan
from ontosub.semantics.values import (
    FALSE,
    TRUE,
    LanguageString,
    is_ill_typed,
    is_numeric_type,
    number_of,
    size_of,
    value_of,
)


def holds(
    expression: Expression,
    binding: Assignment,
    context: Context | None = None,
    *,
    solution: Assignment | None = None,
) -> bool:
    """Say whether the expression is true under the binding; an error counts as false.

    The arguments are those of `evaluate`. Raises LimitError when the budget does not suffice.
    """
    try:
        return truth_of(evaluate(expression, binding, context, solution=solution))
    except ExpressionError:
        return False


def evaluate(
    expression: Expression,
    binding: Assignment,
    context: Context | None = None,
    *,
    solution: Assignment | None = None,
) -> Term:
    """Return the term that the expression denotes.

    Without a context there is a new budget, no event and no pattern. `solution` tells this solution from others where
    the binding was extended since: the values of RAND, UUID and BNODE belong to it. Without one, it is the binding.

    Raises ExpressionError when the expression denotes nothing, and LimitError when the budget does not suffice.
    """
    solution = binding if solution is None else solution
    row = _Row(expression, binding, solution, Context() if context is None else context)
    return _evaluate(expression, row)


@dataclass(slots=True)
class _Row:
    """One evaluation: what is evaluated, under which binding, in which solution."""

    expression: Expression
    binding: Assignment
    solution: Assignment
    context: Context


def _evaluate(expression: Expression, row: _Row) -> Term:
    if isinstance(expression, Variable):
        term = row.binding.get(expression)
        if term is None:
            raise ExpressionError(f"{expression} is not bound")
        return term
    if isinstance(expression, Call):
        form = _FORMS.get(expression.function)
        if form is None:
            return _applied(expression.function, [*_arguments(expression, row)], row.context.budget)
        row.context.budget.spend()
        return form(expression, row)
    if isinstance(expression, Exists):
        row.context.budget.spend()
        return _boolean(row.context.exists(expression, row.binding))
    return expression


def _arguments(call: Call, row: _Row) -> Iterator[Term]:
    # `map`, unlike a comprehension, adds no frame of its own, so that deep expressions fit the stack.
    return map(_evaluate, call.arguments, repeat(row))


def _applied(function: Function, terms: list[Term], budget: Budget) -> Term:
    """Apply a function to terms: their texts are read, and what it makes of them is held, before it is made."""
    size = 0
    for term in terms:
        size += len(term.value) if type(term) is Literal else size_of(term)
    budget.spend(1 + size // TEXT_PER_STEP)
    if function in _GROWTH:
        budget.hold(_GROWTH[function] * size)
    return _FUNCTIONS[function](*terms)


def truth_of(term: Term) -> bool:
    """Return the effective boolean value (SPARQL 1.1, section 17.2.2)."""
    if term == TRUE:
        return True
    if not isinstance(term, Literal):
        raise ExpressionError("only literals are true or false")
    match value_of(term):
        case bool() as value:
            return value
        case str() as text:
            return text != ""
        case LanguageString() as tagged:
            return tagged.value != ""
        case Number() as number:
            return not is_zero_or_nan(number)
    if is_ill_typed(term) and (term.datatype == XSD["boolean"] or is_numeric_type(term.datatype)):
        return False
    raise ExpressionError("the literal is neither true nor false")


def _boolean(value: bool) -> Literal:
    return TRUE if value else FALSE


# Forms: what sees its arguments before evaluation, because it bears errors in them, or needs more than their values.


def _decide(deciding: bool, call: Call, row: _Row) -> Literal:
    """Evaluate `||` or `&&`: one argument with the deciding truth decides, whatever errors the others have."""
    error: ExpressionError | None = None
    for argument in call.arguments:
        try:
            if truth_of(_evaluate(argument, row)) is deciding:
                return _boolean(deciding)
        except ExpressionError as raised:
            error = raised
    if error is not None:
        raise error
    return _boolean(not deciding)


def _among(found: bool, call: Call, row: _Row) -> Literal:
    """Evaluate `IN` (`found` is true) or `NOT IN`, of the first argument among the others."""
    first, *_ = call.arguments
    sought = _evaluate(first, row)
    row.context.budget.read(size_of(sought))
    members = _members(call, row.context)
    if sought in members.terms:
        return _boolean(found)
    error = ExpressionError("a value is not known") if members.confuse(sought) else None
    for candidate in members.others:
        try:
            if _applied(Function.EQUAL, [sought, _evaluate(candidate, row)], row.context.budget) == TRUE:
                return _boolean(found)
        except ExpressionError as raised:
            error = raised
    if error is not None:
        raise error
    return _boolean(not found)


def _members(call: Call, context: Context) -> Members:
    members = context.members.get(id(call))
    if members is None:
        members = context.members[id(call)] = members_of(call, context.budget)
    return members


def _bound(call: Call, row: _Row) -> Literal:
    (variable,) = call.arguments
    return _boolean(isinstance(variable, Variable) and variable in row.binding)


def _if(call: Call, row: _Row) -> Term:
    condition, first, second = call.arguments
    return _evaluate(first if truth_of(_evaluate(condition, row)) else second, row)


def _coalesce(call: Call, row: _Row) -> Term:
    for argument in call.arguments:
        try:
            return _evaluate(argument, row)
        except ExpressionError:
            continue
    raise ExpressionError("no argument has a value")


def _iri(call: Call, row: _Row) -> NamedNode:
    term, *given = _arguments(call, row)
    base = plain_text(given[0]) if given else row.context.base
    size = size_of(term) + len(base or "")
    row.context.budget.read(size)
    row.context.budget.hold(size)
    return term_functions.iri(term, base)


def _replace(call: Call, row: _Row) -> Literal:
    return string_functions.replace(row.context, *_arguments(call, row))


def _regex(call: Call, row: _Row) -> Literal:
    return _boolean(string_functions.matches(row.context, *_arguments(call, row)))


def _now(call: Call, row: _Row) -> Literal:
    return moment_functions.now(row.context.moment)


def _fresh(make: Callable[[bytes], Term], call: Call, row: _Row) -> Term:
    """Evaluate what is new at each position in each solution."""
    return make(_seed(row, call.span or _place(call, row)))


def _place(call: Call, row: _Row) -> int:
    """Return how many parts of the expression come before the call."""
    for place, part in enumerate(walk(row.expression)):
        row.context.budget.spend()
        if part is call:
            return place
    raise AssertionError("a call is evaluated as a part of its expression")


def _bnode(call: Call, row: _Row) -> Term:
    """Evaluate BNODE. With a string, it is the same blank node for the same string in one solution."""
    if not call.arguments:
        return _fresh(fresh_values.blank_node, call, row)
    (term,) = _arguments(call, row)
    return fresh_values.blank_node(_seed(row, plain_text(term)))


def _seed(row: _Row, mark: fresh_values.Mark) -> bytes:
    budget = row.context.budget
    budget.read(sum(map(size_of, row.solution.values())) + (len(mark) if isinstance(mark, str) else 0))
    return fresh_values.seed(row.context.event_id, row.solution, mark)


_FORMS: Mapping[Function, Callable[[Call, _Row], Term]] = {
    Function.OR: partial(_decide, True),
    Function.AND: partial(_decide, False),
    Function.IN: partial(_among, True),
    Function.NOT_IN: partial(_among, False),
    Function.BOUND: _bound,
    Function.IF: _if,
    Function.COALESCE: _coalesce,
    Function.IRI: _iri,
    Function.REGEX: _regex,
    Function.REPLACE: _replace,
    Function.NOW: _now,
    Function.RAND: partial(_fresh, fresh_values.random_number),
    Function.UUID: partial(_fresh, fresh_values.uuid_iri),
    Function.STRUUID: partial(_fresh, fresh_values.uuid_string),
    Function.BNODE: _bnode,
}


# Functions of terms.


def _ordered(accepted: tuple[int, ...], left: Term, right: Term) -> Literal:
    return _boolean(comparison.order(left, right) in accepted)


def _tested(test: Callable[..., bool], *terms: Term) -> Literal:
    return _boolean(test(*terms))


_FUNCTIONS: Mapping[Function, Callable[..., Term]] = {
    Function.NOT: lambda term: _boolean(not truth_of(term)),
    Function.EQUAL: partial(_tested, comparison.equal),
    Function.NOT_EQUAL: lambda left, right: _boolean(not comparison.equal(left, right)),
    Function.LESS: partial(_ordered, (-1,)),
    Function.LESS_OR_EQUAL: partial(_ordered, (-1, 0)),
    Function.GREATER: partial(_ordered, (1,)),
    Function.GREATER_OR_EQUAL: partial(_ordered, (1, 0)),
    Function.ADD: arithmetic.add,
    Function.SUBTRACT: arithmetic.subtract,
    Function.MULTIPLY: arithmetic.multiply,
    Function.DIVIDE: arithmetic.divide,
    Function.NEGATE: arithmetic.negate,
    Function.PLUS: arithmetic.plus,
    Function.ABS: arithmetic.absolute,
    Function.CEIL: arithmetic.ceiling,
    Function.FLOOR: arithmetic.floor,
    Function.ROUND: arithmetic.rounded,
    Function.NUMBER: arithmetic.spelled_number,
    Function.SAME_TERM: lambda left, right: _boolean(left == right),
    Function.IS_IRI: lambda term: _boolean(isinstance(term, NamedNode)),
    Function.IS_BLANK: lambda term: _boolean(isinstance(term, BlankNode)),
    Function.IS_LITERAL: lambda term: _boolean(isinstance(term, Literal)),
    Function.IS_NUMERIC: lambda term: _boolean(isinstance(term, Literal) and number_of(term) is not None),
    Function.IS_TRIPLE: lambda term: _boolean(isinstance(term, Triple)),
    Function.HAS_LANG: partial(_tested, term_functions.has_language),
    Function.HAS_LANGDIR: partial(_tested, term_functions.has_direction),
    Function.STR: term_functions.text,
    Function.LANG: term_functions.language,
    Function.LANGDIR: term_functions.direction,
    Function.DATATYPE: term_functions.datatype,
    Function.STRLANG: term_functions.tagged,
    Function.STRLANGDIR: term_functions.directed,
    Function.STRDT: term_functions.typed,
    Function.TRIPLE: term_functions.triple,
    Function.SUBJECT: term_functions.subject,
    Function.PREDICATE: term_functions.predicate,
    Function.OBJECT: term_functions.object_,
    Function.LANG_MATCHES: partial(_tested, string_functions.language_matches),
    Function.CONTAINS: partial(_tested, string_functions.contains),
    Function.STARTS: partial(_tested, string_functions.starts),
    Function.ENDS: partial(_tested, string_functions.ends),
    Function.LENGTH: string_functions.length,
    Function.UPPER: string_functions.upper,
    Function.LOWER: string_functions.lower,
    Function.CONCAT: string_functions.concatenation,
    Function.SUBSTR: string_functions.substring,
    Function.BEFORE: string_functions.before,
    Function.AFTER: string_functions.after,
    Function.ENCODE_FOR_URI: string_functions.encoded_for_uri,
    **{
        function: partial(string_functions.digest, function.value.lower())
        for function in (Function.MD5, Function.SHA1, Function.SHA256, Function.SHA384, Function.SHA512)
    },
    Function.YEAR: partial(moment_functions.field, "year"),
    Function.MONTH: partial(moment_functions.field, "month"),
    Function.DAY: partial(moment_functions.field, "day"),
    Function.HOURS: partial(moment_functions.field, "hour"),
    Function.MINUTES: partial(moment_functions.field, "minute"),
    Function.SECONDS: moment_functions.seconds,
    Function.TIMEZONE: moment_functions.timezone,
    Function.TZ: moment_functions.zone_text,
    **{function: partial(casts.cast, NamedNode(function.value)) for function in CASTS},
}

_GROWTH: Mapping[Function, int] = {
    Function.STR: 1,
    Function.STRLANG: 1,
    Function.STRLANGDIR: 1,
    Function.STRDT: 1,
    Function.TRIPLE: 1,
    Function.CONCAT: 1,
    Function.SUBSTR: 1,
    Function.BEFORE: 1,
    Function.AFTER: 1,
    Function.LOWER: 3,
    Function.UPPER: 3,
    Function.ENCODE_FOR_URI: 12,
    Function.TO_STRING: 1,
}
"""How many characters a function makes, at most, of each one that it is given. Others make a small term, or none."""
