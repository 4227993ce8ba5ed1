"""From event pattern to text: what is printed here is read as the same pattern.

Every operator that is an operand stands in brackets, so that each suffix is found behind its own operator. An operator
whose last operand stands in brackets is in brackets itself when it has suffixes. IRIs are written in full.
Subscriptions are named, also those that were written inside a text.
"""

from __future__ import annotations

import re

from ontosub.languages.composite.durations import duration_text
from ontosub.languages.composite.words import LANGUAGES, RESERVED
from ontosub.languages.sparql.printer import from_model, print_expression
from ontosub.model.composite import (
    Aggregate,
    Concurrency,
    Conjunction,
    Disjunction,
    EventPattern,
    Exclusion,
    Iteration,
    Negation,
    Operator,
    Policy,
    Primitive,
    Restriction,
    Sequence,
    operands_of,
)
from ontosub.model.pattern import Filter
from ontosub.model.scope import Names, certain, possible

_BARE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z][A-Za-z0-9_]*)*")


def to_text(pattern: EventPattern) -> str:
    """Return the text of a pattern.

    >>> from datetime import timedelta
    >>> to_text(Conjunction((Primitive("smoke"), Primitive("heat", (("t", "t1"),))), timedelta(minutes=5)))
    'smoke() and heat(?t as ?t1) within 5 min'
    """
    return _text(pattern, frozenset())


def _text(pattern: EventPattern, outside: Names) -> str:
    """Return the text of a pattern; `outside` are the variables that occur around it."""
    if isinstance(pattern, Primitive):
        return _primitive(pattern)
    applied, suffixes = _applied(pattern, outside), _suffixes(pattern, outside)
    if suffixes and _ends_in_bracket(pattern):
        applied = f"({applied})"
    return " ".join([applied, *suffixes])


def _ends_in_bracket(pattern: Operator) -> bool:
    """Say whether suffixes behind the operator and its operands would be taken for those of its last operand."""
    if isinstance(pattern, Restriction | Iteration):
        return False
    return not isinstance(operands_of(pattern)[-1], Primitive)


def _primitive(pattern: Primitive) -> str:
    chosen = ", ".join(f"?{a}" if a == here else f"?{a} as ?{here}" for a, here in pattern.variables)
    return f"{_name(pattern.subscription_id)}({chosen})"


def _name(name: str) -> str:
    if _BARE.fullmatch(name) and name.lower() not in (*RESERVED, *LANGUAGES):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'


def _operands(pattern: Operator, outside: Names) -> list[str]:
    """Return the texts of the operands, those of operators in brackets."""
    operands, said = operands_of(pattern), _said(pattern) | outside
    mentioned = [_mentioned(operand) for operand in operands]
    found = []
    for number, operand in enumerate(operands):
        around = said.union(*mentioned[:number], *mentioned[number + 1 :]) - _made(pattern)
        text = _text(operand, around)
        found.append(text if isinstance(operand, Primitive) else f"({text})")
    return found


def _mentioned(pattern: EventPattern) -> Names:
    """Return the variables that occur anywhere in the text of a pattern."""
    if isinstance(pattern, Primitive):
        return possible(pattern)
    return _said(pattern).union(_made(pattern), *map(_mentioned, operands_of(pattern)))


def _said(pattern: Operator) -> Names:
    """Return the variables that the suffixes of an operator mention, besides those that they bind."""
    found = {variable.value for condition in pattern.where for variable in condition.variables}
    if isinstance(pattern, Negation | Iteration):
        found.update(pattern.per)
    if isinstance(pattern, Iteration):
        found.update(aggregate.variable for aggregate in pattern.aggregates if aggregate.variable is not None)
    return frozenset(found)


def _made(pattern: Operator) -> Names:
    """Return the variables that the aggregates of an operator bind."""
    return frozenset(each.name for each in pattern.aggregates) if isinstance(pattern, Iteration) else frozenset()


def _applied(pattern: Operator, outside: Names) -> str:
    operands = _operands(pattern, outside)
    match pattern:
        case Restriction(operand=Primitive()):
            return operands[0]
        case Restriction():
            return f"({operands[0]})"  # one bracket would give the suffixes to the operator inside
        case Negation():
            return f"not {operands[0]}"
        case Iteration():
            return f"{operands[0]} {operator_word(pattern)}"
    return f" {operator_word(pattern)} ".join(operands)


def operator_word(pattern: Operator) -> str:
    """Return the word for an operator.

    >>> operator_word(Conjunction((Primitive("a"), Primitive("b"))))
    'and'
    """
    match pattern:
        case Sequence():
            return pattern.relation.value
        case Iteration():
            return f"times {pattern.count or '*'}"
    return _WORDS[type(pattern)]


_WORDS = {
    Conjunction: "and",
    Concurrency: "parallel",
    Disjunction: "or",
    Negation: "not",
    Exclusion: "and not",
    Restriction: "restriction",
}


def _suffixes(pattern: Operator, outside: Names) -> list[str]:
    found = []
    if pattern.window is not None:
        found.append(f"within {duration_text(pattern.window)}")
    if isinstance(pattern, Negation | Iteration):
        found += _per(pattern, outside)
    if isinstance(pattern, Iteration) and pattern.aggregates:
        found.append("with " + ", ".join(map(_aggregate, pattern.aggregates)))
    found += [f"where {condition_text(condition)}" for condition in pattern.where]
    if getattr(pattern, "policy", Policy.CONSUME) is Policy.REUSE:
        found.append("reuse")
    return found


def _per(pattern: Negation | Iteration, outside: Names) -> list[str]:
    """Return what an operator is taken per; `only` that, if who reads the text would add to it."""
    written = ", ".join(f"?{name}" for name in pattern.per)
    if certain(pattern.operand) & outside - _made(pattern) <= set(pattern.per):
        return [f"per {written}"] if written else []
    return [f"per only {written or '()'}"]


def _aggregate(aggregate: Aggregate) -> str:
    taken = "" if aggregate.variable is None else f"(?{aggregate.variable})"
    return f"{aggregate.function.value}{taken} as ?{aggregate.name}"


def condition_text(condition: Filter) -> str:
    """Return the text of a condition, in brackets: a word inside it must not end it."""
    return f"({print_expression(from_model(condition.expression))})"
