"""How large a subscription may be: what is larger is refused when it comes, and not when it is in everybody's way."""

from __future__ import annotations

from ontosub.model import Subscription
from ontosub.model.errors import LimitError
from ontosub.model.expression import Call, Expression

SIZE_MAX = 4_000
"""How many vertices and arcs the patterns of a subscription may have together: to find an order for those of a pattern
takes time that grows with their square, or worse."""

DEPTH_MAX = 320
"""How deep calls may lie inside each other in a filter: to read and to evaluate them takes two frames for each."""


def check_size(subscription: Subscription) -> None:
    """Raise LimitError when the patterns of a subscription are too large, or a filter is too deep."""
    if sum(len(pattern.vertices) + len(pattern.arcs) for pattern in subscription.patterns) > SIZE_MAX:
        raise LimitError(f"the subscription {subscription.id!r} has more than {SIZE_MAX:,} vertices and arcs")
    for pattern in subscription.patterns:
        for condition in pattern.filters:
            if _is_deeper(condition.expression, DEPTH_MAX):
                raise LimitError(
                    f"a filter of the subscription {subscription.id!r} is more than {DEPTH_MAX} calls deep"
                )


def _is_deeper(expression: Expression, depth: int) -> bool:
    """Say whether calls lie inside each other more than so deep, without a frame for each of them."""
    level = [expression]
    for _ in range(depth):
        level = [inner for each in level if isinstance(each, Call) for inner in each.arguments]
        if not level:
            return False
    return any(isinstance(each, Call) for each in level)
