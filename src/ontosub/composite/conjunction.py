"""Conjunction, `A and B`: one instance of each operand, in any order."""

from __future__ import annotations

from ontosub.composite.join import JoinMachine
from ontosub.composite.joining import plan_of
from ontosub.composite.machine import Behaviour
from ontosub.model.composite import Conjunction


def conjunction(pattern: Conjunction) -> Behaviour:
    """Return how a conjunction is run: every instance may complete it, and is held for those to come."""
    everywhere = tuple(range(len(pattern.operands)))
    plan = plan_of(pattern, triggers=everywhere, interchangeable=True)
    return Behaviour(JoinMachine(plan), work=plan.work)
