"""What the matcher asks of an algorithm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from ontosub.model import Event, Match, Subscription


class Algorithm(ABC):
    """A way of finding all matches of an event. All of them give the answers of the naive one.

    `over_budget` names the subscriptions that the last event would have cost too much to decide.
    """

    over_budget: frozenset[str] = frozenset()

    @abstractmethod
    def subscribe(self, subscription: Subscription) -> None:
        """Take in a subscription whose id is new."""

    @abstractmethod
    def unsubscribe(self, id: str) -> None:
        """Forget a subscription that was taken in."""

    @abstractmethod
    def match(self, event: Event) -> Iterator[Match]:
        """Yield the matches of the event, in the order of subscription."""

    def match_ids(self, event: Event) -> list[str]:
        """Return the ids of the subscriptions that match, in the same order."""
        return [match.subscription_id for match in self.match(event)]
