"""What a benchmark is run on: an ontology, subscriptions and events, all from one seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ontosub.formats.write import write_event
from ontosub.model import Event, Ontology, Subscription

PAYLOAD_FORMAT = "application/n-triples"


@dataclass(frozen=True, slots=True)
class Published:
    """An event twice: as a value, and as the N-Triples that a publisher sends."""

    event: Event
    payload: bytes

    @classmethod
    def of(cls, event: Event) -> Published:
        """Return the event with its payload; the same event gives the same bytes."""
        return cls(event, write_event(event, PAYLOAD_FORMAT))

    def read(self) -> Event:
        """Return the event as a subscriber's side gets it: read from its payload."""
        return Event.read(self.payload, PAYLOAD_FORMAT, id=self.event.id)


@dataclass(frozen=True, slots=True)
class Workload:
    """Subscriptions of one ontology, and events for them. The same name, size and seed give the same workload."""

    name: str
    seed: int
    ontology: Ontology
    subscriptions: list[Subscription]
    events: list[Published]

    @property
    def size(self) -> int:
        """How many subscriptions there are."""
        return len(self.subscriptions)

    @property
    def triples(self) -> float:
        """How many triples an event has, on average and before entailment."""
        return sum(len(each.event.graph) for each in self.events) / len(self.events)

    @property
    def arcs(self) -> float:
        """How many arcs a pattern has, on average."""
        patterns = [pattern for subscription in self.subscriptions for pattern in subscription.patterns]
        return sum(len(pattern.arcs) for pattern in patterns) / len(patterns)


Generator: TypeAlias = Callable[[int, int, int], Workload]
"""Makes a workload of so many subscriptions and so many events from a seed."""
