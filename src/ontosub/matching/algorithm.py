"""What the matcher asks of an algorithm."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from ontosub.matching.batch import Batch, BatchResult, Collected
from ontosub.matching.batch import encoded as as_encoded
from ontosub.model import Event, Match, Subscription
from ontosub.model.errors import LimitError, OntosubError, SubscriptionFault

COSTS = pa.schema(
    [
        pa.field("subscription_id", pa.string(), nullable=False),
        pa.field("visits", pa.float64(), nullable=False),
        pa.field("matches", pa.int64(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("residual_seconds", pa.float64(), nullable=False),
    ]
)
"""What subscriptions have cost so far: their share of the steps made and of the memory taken, how often they matched,
and the time that their residuals took."""


def warn_of(subscription_id: str, event_id: str, error: Exception) -> None:
    """Warn of the failure of a subscription on an event, unless it is a matter of limits: it is a fault of ours."""
    if not isinstance(error, LimitError | RecursionError):
        message = f"the subscription {subscription_id!r} failed on event {event_id!r}: {error!r}"
        warnings.warn(message, SubscriptionFault, stacklevel=3)


class Algorithm(ABC):
    """A way of finding all matches of an event. All of them give the answers of the naive one.

    `over_budget` names the subscriptions that the last event would have cost too much to decide.
    """

    over_budget: frozenset[str] = frozenset()

    def give_up(self, subscription_id: str, event_id: str, error: Exception) -> None:
        """Note that a subscription failed on an event: for itself alone, whatever it failed of."""
        self.over_budget |= {subscription_id}
        warn_of(subscription_id, event_id, error)

    @property
    def standing(self) -> Mapping[str, Subscription] | None:
        """The subscriptions by id, if the algorithm keeps them in a way of its own."""
        return None

    def indexed(self) -> Indexed | None:
        """Return the algorithm as one that keeps an index, if it is or can become one."""
        return None

    @abstractmethod
    def subscribe(self, subscription: Subscription) -> None:
        """Take in a subscription whose id is new."""

    @abstractmethod
    def unsubscribe(self, id: str) -> None:
        """Forget a subscription that was taken in."""

    @abstractmethod
    def match(self, event: Event) -> Iterator[Match]:
        """Yield the matches of the event, in the order of subscription."""

    def match_batch(self, batch: Batch, *, bindings: bool, encoded: bool = False) -> BatchResult:
        """Match a table of payloads; without `bindings`, the table of matches does not have that column.

        With `encoded`, texts of matches are dictionaries, and rows are in no order.
        """
        collected = Collected(batch)
        for row in range(len(batch)):
            try:
                collected.match(self.match(batch.event(row)))
                collected.give_up(row, self.over_budget)
            except OntosubError as error:
                collected.reject(row, error)
        result = collected.result()
        if not bindings:
            result = result._replace(matches=result.matches.drop_columns("bindings"))
        return result._replace(matches=as_encoded(result.matches)) if encoded else result

    def match_ids(self, event: Event) -> list[str]:
        """Return the ids of the subscriptions that match, in the same order."""
        return [match.subscription_id for match in self.match(event)]


class Indexed(Algorithm):
    """An algorithm with an index, which can be stored and looked at."""

    @property
    @abstractmethod
    def standing(self) -> Mapping[str, Subscription]: ...

    def indexed(self) -> Indexed:
        return self

    @abstractmethod
    def save(self, directory: Path) -> None:
        """Store the index in a directory, or what is new since it was stored there."""

    @abstractmethod
    def merge(self) -> None:
        """Put the index in its best order. Answers stay as they are; what is gone takes no space any more."""

    @abstractmethod
    def costs(self) -> pa.Table:
        """Return what the standing subscriptions have cost so far, as COSTS says."""
