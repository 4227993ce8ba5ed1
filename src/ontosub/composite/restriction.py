"""Temporal restriction, `A within T`: instances that last no longer than the window; and conditions on one operand."""

from __future__ import annotations

from ontosub.composite.conditions import Conditions
from ontosub.composite.instance import Instance, composed
from ontosub.composite.machine import Behaviour
from ontosub.composite.moments import FOREVER, ticks_of
from ontosub.composite.stateless import Stateless
from ontosub.model.composite import Restriction


def restriction(pattern: Restriction) -> Behaviour:
    """Return how a restriction is run: each instance passes, or does not."""
    window = FOREVER if pattern.window is None else ticks_of(pattern.window)
    where = Conditions(pattern.where)

    def passed(_operand: int, instance: Instance) -> list[Instance]:
        rows = where.holding(instance.rows) if instance.end - instance.start <= window else ()
        return [composed((instance,), rows)] if rows else []

    return Behaviour(Stateless(passed))
