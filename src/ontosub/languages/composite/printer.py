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

_BARE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z][A-Za-z0-9_]*)*")


def to_text(pattern: EventPattern) -> str:
    """Return the text of a pattern.

    >>> from datetime import timedelta
    >>> to_text(Conjunction((Primitive("smoke"), Primitive("heat", (("t", "t1"),))), timedelta(minutes=5)))
    'smoke() and heat(?t as ?t1) within 5 min'
    """
    if isinstance(pattern, Primitive):
        return _primitive(pattern)
    applied, suffixes = _applied(pattern), _suffixes(pattern)
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


def _operand(pattern: EventPattern) -> str:
    return to_text(pattern) if isinstance(pattern, Primitive) else f"({to_text(pattern)})"


def _applied(pattern: Operator) -> str:
    match pattern:
        case Restriction(operand=Primitive() as operand):
            return to_text(operand)
        case Restriction():
            return f"(({to_text(pattern.operand)}))"  # one bracket would give the suffixes to the operator inside
        case Negation():
            return f"not {_operand(pattern.operand)}"
        case Exclusion():
            return f"{_operand(pattern.operand)} and not {_operand(pattern.excluded)}"
        case Iteration():
            return f"{_operand(pattern.operand)} {operator_word(pattern)}"
    return f" {operator_word(pattern)} ".join(map(_operand, pattern.operands))


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


def _suffixes(pattern: Operator) -> list[str]:
    found = []
    if pattern.window is not None:
        found.append(f"within {duration_text(pattern.window)}")
    if isinstance(pattern, Negation | Iteration) and pattern.per:
        found.append("per " + ", ".join(f"?{name}" for name in pattern.per))
    if isinstance(pattern, Iteration) and pattern.aggregates:
        found.append("with " + ", ".join(map(_aggregate, pattern.aggregates)))
    found += [f"where {condition_text(condition)}" for condition in pattern.where]
    if getattr(pattern, "policy", Policy.CONSUME) is Policy.REUSE:
        found.append("reuse")
    return found


def _aggregate(aggregate: Aggregate) -> str:
    taken = "" if aggregate.variable is None else f"(?{aggregate.variable})"
    return f"{aggregate.function.value}{taken} as ?{aggregate.name}"


def condition_text(condition: Filter) -> str:
    """Return the text of a condition, in brackets: a word inside it must not end it."""
    return f"({print_expression(from_model(condition.expression))})"
