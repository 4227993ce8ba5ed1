"""Reading the notification log page by page, in the order in which it grew."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, select

from ontosub.sinks.sql_rows import storable, subscription_key
from ontosub.sinks.sql_tables import NOTIFICATIONS


def page(after: int = 0, limit: int = 1000, subscription_id: str | None = None) -> Select[Any]:
    """Return the query for the notifications with numbers above `after`, or for those of one subscription.

    The last number of a page is where the next begins. Nothing appears later before a number that has been seen.
    """
    query = select(NOTIFICATIONS).where(NOTIFICATIONS.c.number > after)
    if subscription_id is not None:
        query = query.where(NOTIFICATIONS.c.subscription_key == subscription_key(subscription_id))
        query = query.where(NOTIFICATIONS.c.subscription_id == storable(subscription_id))
    return query.order_by(NOTIFICATIONS.c.number).limit(limit)
