"""What a filter expression means: SPARQL 1.1's evaluation, with errors.

`evaluate` gives the term that an expression denotes under a binding, or raises ExpressionError; `holds` asks for its
effective boolean value, and an error does not hold. This is the reference that faster ways of filtering are held to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import repeat

from ontosub.model.expression import Call, Expression, Function
from ontosub.model.terms import XSD, BlankNode, Literal, NamedNode, Term, Variable
from ontosub.semantics import arithmetic, comparison, regex
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.moments import Moment
from ontosub.semantics.numeric import Number, NumericType, decimal_of, is_zero_or_nan, parse_numeral
from ontosub.semantics.values import (
    FALSE,
    TRUE,
    LanguageString,
    is_ill_typed,
    is_numeric_type,
    literal_of,
    number_of,
    value_of,
)

Assignment = Mapping[Variable, Term]
"""What the variables stand for. A variable that is missing is unbound."""


def holds(expression: Expression, binding: Assignment) -> bool:
    """Say whether the expression is true under the binding; an error counts as false."""
    try:
        return truth_of(evaluate(expression, binding))
    except ExpressionError:
        return False


def evaluate(expression: Expression, binding: Assignment) -> Term:
    """Return the term that the expression denotes; raises ExpressionError when it denotes none."""
    if isinstance(expression, Call):
        if lazy := _LAZY.get(expression.function):
            return lazy(expression.arguments, binding)
        # `map`, unlike a comprehension, adds no frame of its own, so that deep expressions fit the stack.
        return _STRICT[expression.function](*map(evaluate, expression.arguments, repeat(binding)))
    if isinstance(expression, Variable):
        term = binding.get(expression)
        if term is None:
            raise ExpressionError(f"{expression} is not bound")
        return term
    return expression


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


# Functions that see their arguments before evaluation, because they bear errors in them.


def _decide(deciding: bool, arguments: tuple[Expression, ...], binding: Assignment) -> Literal:
    """Evaluate `||` or `&&`: one argument with the deciding truth decides, whatever errors the others have."""
    error: ExpressionError | None = None
    for argument in arguments:
        try:
            if truth_of(evaluate(argument, binding)) is deciding:
                return _boolean(deciding)
        except ExpressionError as raised:
            error = raised
    if error is not None:
        raise error
    return _boolean(not deciding)


def _among(found: bool, arguments: tuple[Expression, ...], binding: Assignment) -> Literal:
    """Evaluate `IN` (`found` is true) or `NOT IN`, of the first argument among the others."""
    error: ExpressionError | None = None
    sought = evaluate(arguments[0], binding)
    for candidate in arguments[1:]:
        try:
            if comparison.equal(sought, evaluate(candidate, binding)):
                return _boolean(found)
        except ExpressionError as raised:
            error = raised
    if error is not None:
        raise error
    return _boolean(not found)


def _bound(arguments: tuple[Expression, ...], binding: Assignment) -> Literal:
    (variable,) = arguments
    return _boolean(isinstance(variable, Variable) and variable in binding)


_LAZY: Mapping[Function, Callable[[tuple[Expression, ...], Assignment], Term]] = {
    Function.OR: partial(_decide, True),
    Function.AND: partial(_decide, False),
    Function.IN: partial(_among, True),
    Function.NOT_IN: partial(_among, False),
    Function.BOUND: _bound,
}


# What the other functions need of a term.


def _literal(term: Term) -> Literal:
    if not isinstance(term, Literal):
        raise ExpressionError("a literal was expected")
    return term


def _plain_text(term: Term) -> str:
    """Return the text of an xsd:string."""
    value = value_of(_literal(term))
    if not isinstance(value, str):
        raise ExpressionError("a string without a language was expected")
    return value


def _text(term: Term) -> str:
    """Return the text of a string, with or without a language."""
    literal = _literal(term)
    if not isinstance(value_of(literal), str | LanguageString):
        raise ExpressionError("a string was expected")
    return literal.value


def _compatible_texts(whole: Term, part: Term) -> tuple[str, str]:
    """Return both texts, if the arguments are compatible: the part has no language, or that of the whole."""
    texts = _text(whole), _text(part)
    first, second = _literal(whole), _literal(part)
    if second.language is not None and (first.language, first.direction) != (second.language, second.direction):
        raise ExpressionError("the strings have different languages")
    return texts


# Functions of evaluated arguments.


def _ordered(accepted: tuple[int, ...], left: Term, right: Term) -> Literal:
    return _boolean(comparison.order(left, right) in accepted)


def _string_test(test: Callable[[str, str], bool], whole: Term, part: Term) -> Literal:
    return _boolean(test(*_compatible_texts(whole, part)))


def _recased(recase: Callable[[str], str], term: Term) -> Literal:
    literal = _literal(term)
    text = recase(_text(literal))
    if literal.language is None:
        return Literal(text)
    return literal_of(LanguageString(text, literal.language, literal.direction))


def _field(name: str, term: Term) -> Literal:
    """Return a field of a moment as it is written, not in UTC."""
    found = getattr(value_of(_literal(term)), name, None)
    if not isinstance(found, int):
        raise ExpressionError(f"the value has no {name}")
    return literal_of(Number(NumericType.INTEGER, found))


def _seconds(term: Term) -> Literal:
    value = value_of(_literal(term))
    if not isinstance(value, Moment) or value.second is None:
        raise ExpressionError("the value has no seconds")
    return literal_of(decimal_of(value.second))


def _str(term: Term) -> Literal:
    if isinstance(term, NamedNode | Literal):
        return Literal(term.value)
    raise ExpressionError("only IRIs and literals have a text")


def _lang(term: Term) -> Literal:
    return Literal(_literal(term).language or "")


def _lang_matches(tag: Term, wanted: Term) -> Literal:
    """Evaluate basic filtering of RFC 4647."""
    language, asked = _plain_text(tag).lower(), _plain_text(wanted).lower()
    if asked == "*":
        return _boolean(language != "")
    return _boolean(language == asked or language.startswith(f"{asked}-"))


def _regex(text: Term, pattern: Term, flags: Term | None = None) -> Literal:
    found = regex.matches(_text(text), _plain_text(pattern), "" if flags is None else _plain_text(flags))
    return _boolean(found)


_NUMERALS = {
    NumericType.INTEGER: XSD["integer"],
    NumericType.DECIMAL: XSD["decimal"],
    NumericType.DOUBLE: XSD["double"],
}


def _number(term: Term) -> Literal:
    """Return a numeric literal as it is, and of a plain string the number that it spells."""
    literal = _literal(term)
    if number_of(literal) is not None:
        return literal
    text = _plain_text(literal).strip()
    kind = parse_numeral(text)
    if kind is None:
        raise ExpressionError("the string does not spell a number")
    return Literal(text, datatype=_NUMERALS[kind])


_STRICT: Mapping[Function, Callable[..., Term]] = {
    Function.NOT: lambda term: _boolean(not truth_of(term)),
    Function.EQUAL: lambda left, right: _boolean(comparison.equal(left, right)),
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
    Function.SAME_TERM: lambda left, right: _boolean(left == right),
    Function.IS_IRI: lambda term: _boolean(isinstance(term, NamedNode)),
    Function.IS_BLANK: lambda term: _boolean(isinstance(term, BlankNode)),
    Function.IS_LITERAL: lambda term: _boolean(isinstance(term, Literal)),
    Function.IS_NUMERIC: lambda term: _boolean(isinstance(term, Literal) and number_of(term) is not None),
    Function.STR: _str,
    Function.LANG: _lang,
    Function.LANG_MATCHES: _lang_matches,
    Function.DATATYPE: lambda term: _literal(term).datatype,
    Function.REGEX: _regex,
    Function.CONTAINS: partial(_string_test, str.__contains__),
    Function.STARTS: partial(_string_test, str.startswith),
    Function.ENDS: partial(_string_test, str.endswith),
    Function.LENGTH: lambda term: literal_of(Number(NumericType.INTEGER, len(_text(term)))),
    Function.UPPER: partial(_recased, str.upper),
    Function.LOWER: partial(_recased, str.lower),
    Function.YEAR: partial(_field, "year"),
    Function.MONTH: partial(_field, "month"),
    Function.DAY: partial(_field, "day"),
    Function.HOURS: partial(_field, "hour"),
    Function.MINUTES: partial(_field, "minute"),
    Function.SECONDS: _seconds,
    Function.NUMBER: _number,
}
