"""Sequence, `A before B` and the other relations of Allen: each operand's instance in the relation to the next one's.

Instances come in the order of their ends. So a relation says which operand comes last: that one completes the
composite and is never held, and those that must end together are not held when time moves on.
"""

from __future__ import annotations

from ontosub.composite.instance import Instance
from ontosub.composite.join import Fits, JoinMachine
from ontosub.composite.joining import plan_of
from ontosub.composite.machine import Behaviour
from ontosub.model.composite import Sequence
from ontosub.model.relation import Relation, relation_of

_LAST_ENDS_LAST = {Relation.BEFORE, Relation.MEETS, Relation.OVERLAPS, Relation.STARTS, Relation.DURING}
_FIRST_ENDS_LAST = {relation.inverse for relation in _LAST_ENDS_LAST}


def sequence(pattern: Sequence) -> Behaviour:
    """Return how a sequence is run."""
    everywhere = tuple(range(len(pattern.operands)))
    triggers, at_once = everywhere, True
    if pattern.relation in _LAST_ENDS_LAST:
        triggers, at_once = everywhere[-1:], False
    elif pattern.relation in _FIRST_ENDS_LAST:
        triggers, at_once = everywhere[:1], False
    symmetric = pattern.relation is Relation.EQUALS
    # In the order of ends, the first operand of a chain comes first: others find nothing that they could follow.
    openers = everywhere[:1] if pattern.relation in _LAST_ENDS_LAST else None
    fits = _fits(pattern.relation)
    plan = plan_of(pattern, triggers=triggers, openers=openers, fits=fits, at_once=at_once, interchangeable=symmetric)
    return Behaviour(JoinMachine(plan), work=plan.work)


def _fits(relation: Relation) -> Fits:
    if relation is Relation.BEFORE:
        return _before

    def fits(left: Instance, right: Instance) -> bool:
        return relation_of(left.start, left.end, right.start, right.end) is relation

    return fits


def _before(left: Instance, right: Instance) -> bool:
    return left.end < right.start
