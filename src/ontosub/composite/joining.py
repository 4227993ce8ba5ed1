"""From a join's pattern to its plan: equal operands are one, and who completes a composite need not be held."""

from __future__ import annotations

from itertools import combinations

from ontosub.composite.conditions import Conditions
from ontosub.composite.join import Fits, Plan
from ontosub.composite.moments import UNBOUNDED, ticks_of
from ontosub.model.composite import EventPattern, Join, Policy, Primitive
from ontosub.model.scope import correlating, possible


def plan_of(
    pattern: Join,
    *,
    triggers: tuple[int, ...],
    openers: tuple[int, ...] | None = None,
    fits: Fits | None = None,
    at_once: bool = False,
    interchangeable: bool = False,
) -> Plan:
    """Return the plan of a join whose composites can be completed at the positions `triggers`.

    `openers` are the positions whose instances mean something when no other is held; else, all that are held do.
    """
    distinct = list(dict.fromkeys(pattern.operands))
    operand_of = tuple(distinct.index(operand) for operand in pattern.operands)
    everywhere = range(len(operand_of))
    awaited = everywhere if len(triggers) > 1 else [position for position in everywhere if position not in triggers]
    bound = [possible(operand) for operand in pattern.operands]
    shared = {name for left, right in combinations(bound, 2) for name in left & right}
    kept = frozenset(operand_of[position] for position in awaited)
    return Plan(
        operand_of,
        triggers,
        kept,
        kept if openers is None else frozenset(operand_of[position] for position in openers),
        UNBOUNDED if pattern.window is None else ticks_of(pattern.window),
        Conditions(pattern.where),
        pattern.policy is Policy.CONSUME,
        fits,
        at_once,
        interchangeable,
        shares_more=not shared <= set(correlating(pattern)),
        renamed=_renamed(distinct),
        is_chain=openers == (0,) and len(distinct) == len(operand_of),
    )


def _renamed(operands: list[EventPattern]) -> bool:
    """Say whether several of the operands are the same subscription."""
    ids = [operand.subscription_id for operand in operands if isinstance(operand, Primitive)]
    return len(set(ids)) < len(ids)
