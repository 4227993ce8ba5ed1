"""Which variables an event pattern binds, and by which of them its work can be divided.

A variable is *certain* if every instance binds it, *possible* if some may. Only `or` makes the difference. An iteration
and a negation bind what they are taken `per`, and the aggregates; what their operand binds besides stays inside.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from ontosub.model.composite import (
    Composite,
    Disjunction,
    EventPattern,
    Exclusion,
    Iteration,
    Negation,
    Primitive,
    Restriction,
    operands_of,
    walk,
)

Names = frozenset[str]


def certain(pattern: EventPattern) -> Names:
    """Return the variables that every instance of the pattern binds."""
    match pattern:
        case Disjunction():
            return _common(map(certain, pattern.operands))
        case Exclusion():
            return certain(pattern.operand)
    own = _own(pattern)
    return frozenset().union(*map(certain, operands_of(pattern))) if own is None else own


def possible(pattern: EventPattern) -> Names:
    """Return the variables that an instance of the pattern may bind."""
    if isinstance(pattern, Exclusion):
        return possible(pattern.operand)
    own = _own(pattern)
    return frozenset().union(*map(possible, operands_of(pattern))) if own is None else own


def _own(pattern: EventPattern) -> Names | None:
    """Return the variables that a pattern binds whatever its operands bind; None when it binds what they do."""
    match pattern:
        case Primitive():
            return frozenset(here for _, here in pattern.variables)
        case Negation():
            return frozenset(pattern.per)
        case Iteration():
            return frozenset(pattern.per) | {aggregate.name for aggregate in pattern.aggregates}
    return None


def _common(names: Iterable[Names]) -> Names:
    return reduce(lambda some, others: some & others, names)


def correlating(pattern: EventPattern) -> tuple[str, ...]:
    """Return the variables whose values divide the state of an operator, in order: instances with others never meet."""
    match pattern:
        case Negation() | Iteration():
            return pattern.per
        case Primitive() | Restriction() | Disjunction(window=None):
            return ()
    return tuple(sorted(_common(map(certain, operands_of(pattern)))))


def dividing(composite: Composite) -> dict[str, tuple[str, ...]]:
    """Return by which variables a history can be divided so that the parts together have the detections of the whole.

    For each primitive subscription these are variables of its answers, in the same order for all: an answer belongs to
    the part of its values, and to none if it lacks one. Without any, the composite is worked on in one place.
    """
    primitives = [part for part in walk(composite.pattern) if isinstance(part, Primitive)]
    shared = sorted(_dividing(composite.pattern)) if _divides(composite.pattern) else []
    sources = {name: _sources(name, primitives) for name in shared}
    usable = [name for name in shared if sources[name] is not None]
    return {
        part.subscription_id: tuple((sources[name] or {})[part.subscription_id] for name in usable)
        for part in primitives
    }


def _sources(name: str, primitives: list[Primitive]) -> dict[str, str] | None:
    """Return what a variable is called in each subscription's answers; None when one has two names for it."""
    found: dict[str, str] = {}
    for primitive in primitives:
        source = next(old for old, new in primitive.variables if new == name)
        if found.setdefault(primitive.subscription_id, source) != source:
            return None
    return found


def _dividing(pattern: EventPattern) -> Names:
    if isinstance(pattern, Primitive):
        return certain(pattern)
    shared = _common(map(_dividing, operands_of(pattern)))
    return shared & frozenset(pattern.per) if isinstance(pattern, Negation | Iteration) else shared


def _divides(pattern: EventPattern) -> bool:
    """Say whether every instance has passed an operator that takes answers apart by their values."""
    match pattern:
        case Primitive():
            return False
        case Restriction():
            return _divides(pattern.operand)
        case Disjunction(window=None):
            return all(map(_divides, pattern.operands))
    return True
