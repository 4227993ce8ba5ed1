"""Conditions as alternatives: negation pushed to the predicates, then disjunctive normal form.

The paper's own recipe for `or`: a rule that contains it is split into rules without it, "using the algebra of logic
and negated operators". Expansion can be exponential, so its cost is known before it is done.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, product

from ontosub.languages.mdv.syntax import And, Comparison, Condition, Not, Operand, Operator, Or, Path

_NEGATED = {
    Operator.EQUAL: Operator.NOT_EQUAL,
    Operator.NOT_EQUAL: Operator.EQUAL,
    Operator.LESS: Operator.GREATER_OR_EQUAL,
    Operator.GREATER_OR_EQUAL: Operator.LESS,
    Operator.GREATER: Operator.LESS_OR_EQUAL,
    Operator.LESS_OR_EQUAL: Operator.GREATER,
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What an expansion makes: how many alternatives, and how many elements in all of them together."""

    alternatives: int = 1
    elements: int = 0

    def __and__(self, other: Cost) -> Cost:
        elements = self.elements * other.alternatives + other.elements * self.alternatives
        return Cost(self.alternatives * other.alternatives, elements)

    def __or__(self, other: Cost) -> Cost:
        return Cost(self.alternatives + other.alternatives, self.elements + other.elements)

    def capped(self, limit: Cost) -> Cost:
        """Return this cost, cut just above the limit so that the numbers stay small."""
        return Cost(min(self.alternatives, limit.alternatives + 1), min(self.elements, limit.elements + 1))

    def exceeds(self, limit: Cost) -> bool:
        """Say whether this is more than the limit in either respect."""
        return self.alternatives > limit.alternatives or self.elements > limit.elements


@dataclass(frozen=True, slots=True)
class Predicate:
    """A comparison. `negated` stands for the one negation that no operator expresses: that of `contains`."""

    comparison: Comparison
    negated: bool = False


def cost(condition: Condition, limit: Cost, *, negated: bool = False) -> Cost:
    """Return what `alternatives(condition)` would cost, cut just above the limit."""
    match condition:
        case Not(part):
            return cost(part, limit, negated=not negated)
        case Comparison(left, _, right):
            return Cost(1, 1 + _steps(left) + _steps(right))
        case And(parts) | Or(parts):
            costs = (cost(part, limit, negated=negated) for part in parts)
            return conjoin(costs, limit) if _conjoins(condition, negated) else _disjoin(costs, limit)


def conjoin(costs: Iterable[Cost], limit: Cost) -> Cost:
    """Return the cost of having all of these at once, cut just above the limit."""
    return reduce(lambda total, each: (total & each).capped(limit), costs, Cost())


def _disjoin(costs: Iterable[Cost], limit: Cost) -> Cost:
    return reduce(lambda total, each: (total | each).capped(limit), costs)


def alternatives(condition: Condition, *, negated: bool = False) -> list[tuple[Predicate, ...]]:
    """Return the disjuncts of a condition, or of its negation; each is a conjunction of predicates."""
    match condition:
        case Not(part):
            return alternatives(part, negated=not negated)
        case Comparison():
            return [(_negate(condition) if negated else Predicate(condition),)]
        case And(parts) | Or(parts):
            expanded = [alternatives(part, negated=negated) for part in parts]
            if _conjoins(condition, negated):
                return [tuple(chain.from_iterable(chosen)) for chosen in product(*expanded)]
            return list(chain.from_iterable(expanded))


def _conjoins(condition: And | Or, negated: bool) -> bool:
    """De Morgan: a negated `or` is a conjunction."""
    return isinstance(condition, And) != negated


def _negate(comparison: Comparison) -> Predicate:
    opposite = _NEGATED.get(comparison.operator)
    return Predicate(replace(comparison, operator=opposite)) if opposite else Predicate(comparison, negated=True)


def _steps(operand: Operand) -> int:
    return len(operand.steps) if isinstance(operand, Path) else 0
