"""How large a subscription may be: what is larger is refused when it comes, and not when it is in everybody's way."""

from __future__ import annotations

from ontosub.model import Subscription
from ontosub.model.errors import LimitError

SIZE_MAX = 4_000
"""How many vertices and arcs the patterns of a subscription may have together: to find an order for those of a pattern
takes time that grows with their square, or worse."""


def check_size(subscription: Subscription) -> None:
    """Raise LimitError when the patterns of a subscription are too large. Too deep a filter cannot even be made."""
    if sum(len(pattern.vertices) + len(pattern.arcs) for pattern in subscription.patterns) > SIZE_MAX:
        raise LimitError(f"the subscription {subscription.id!r} has more than {SIZE_MAX:,} vertices and arcs")
