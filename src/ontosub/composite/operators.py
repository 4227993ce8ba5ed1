"""Which operator is run how."""

from __future__ import annotations

from ontosub.composite.concurrency import concurrency
from ontosub.composite.conjunction import conjunction
from ontosub.composite.disjunction import disjunction
from ontosub.composite.exclusion import exclusion
from ontosub.composite.iteration import iteration
from ontosub.composite.machine import Behaviour
from ontosub.composite.negation import negation
from ontosub.composite.restriction import restriction
from ontosub.composite.sequence import sequence
from ontosub.model.composite import (
    Concurrency,
    Conjunction,
    Disjunction,
    Exclusion,
    Iteration,
    Negation,
    Operator,
    Restriction,
    Sequence,
)


def behaviour_of(pattern: Operator, origin: int | None, lifetime: int) -> Behaviour:
    """Return how the operator at the root of a pattern is run, counting from `origin`."""
    match pattern:
        case Conjunction():
            return conjunction(pattern)
        case Concurrency():
            return concurrency(pattern)
        case Sequence():
            return sequence(pattern)
        case Disjunction():
            return disjunction(pattern)
        case Iteration():
            return iteration(pattern)
        case Exclusion():
            return exclusion(pattern)
        case Restriction():
            return restriction(pattern)
        case Negation():
            return negation(pattern, origin, lifetime)
