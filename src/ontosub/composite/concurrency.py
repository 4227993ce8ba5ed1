"""Concurrency, `A parallel B`: one instance of each operand, all over the same interval."""

from __future__ import annotations

from ontosub.composite.instance import Instance
from ontosub.composite.join import JoinMachine
from ontosub.composite.joining import plan_of
from ontosub.composite.machine import Behaviour
from ontosub.model.composite import Concurrency


def concurrency(pattern: Concurrency) -> Behaviour:
    """Return how concurrency is run: constituents end together, so nothing is held when time moves on."""
    everywhere = tuple(range(len(pattern.operands)))
    plan = plan_of(pattern, triggers=everywhere, fits=_same, at_once=True, interchangeable=True)
    return Behaviour(JoinMachine(plan), work=plan.work)


def _same(left: Instance, right: Instance) -> bool:
    return left.start == right.start and left.end == right.end
