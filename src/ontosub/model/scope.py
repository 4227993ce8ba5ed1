"""Which variables an event pattern binds, and by which of them its work can be divided.

A variable is *certain* if every instance binds it, *possible* if some may. Only `or` makes the difference. An iteration
and a negation bind what they are taken `per`, and the aggregates; what their operand binds besides stays inside.
"""

from __future__ import annotations

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
)

Names = frozenset[str]


def certain(pattern: EventPattern) -> Names:
    """Return the variables that every instance of the pattern binds."""
    match pattern:
        case Disjunction():
            return reduce(Names.intersection, map(certain, pattern.operands))
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


def correlating(pattern: EventPattern) -> tuple[str, ...]:
    """Return the variables whose values divide the state of an operator, in order: instances with others never meet."""
    match pattern:
        case Negation() | Iteration():
            return pattern.per
        case Primitive() | Restriction() | Disjunction(window=None):
            return ()
    return tuple(sorted(reduce(Names.intersection, map(certain, operands_of(pattern)))))


def dividing(composite: Composite) -> tuple[str, ...]:
    """Return the variables by which a history can be divided so that the parts have the detections of the whole.

    They correlate all operands of all operators. Who spreads the work sends each answer of a match to the part of its
    values of these variables; without any, the composite is worked on in one place.
    """
    return tuple(sorted(_dividing(composite.pattern))) if _divides(composite.pattern) else ()


def _dividing(pattern: EventPattern) -> Names:
    if isinstance(pattern, Primitive):
        return certain(pattern)
    shared = reduce(Names.intersection, map(_dividing, operands_of(pattern)))
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
