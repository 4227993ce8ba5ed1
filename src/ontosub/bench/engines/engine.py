"""What the runner asks of whatever it times: prepare once, decode an event, say which subscriptions it matches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, ClassVar

from ontosub.bench.workload import Published, Workload
from ontosub.model import Binding, Event, Ontology, Subscription


class Engine(ABC):
    """One way of matching. An engine that cannot take the subscriptions raises UsageError or LimitError."""

    name: str
    """What the engine is called in options and reports."""
    requires: ClassVar[str | None] = None
    """The module that has to be installed, if any."""
    is_peer: ClassVar[bool] = True
    """Whether somebody else made it: speed is shown relative to the fastest peer."""
    is_linear: bool = False
    """Whether its time is in proportion to the number of subscriptions, so that fewer tell about more."""

    def missing(self) -> str | None:
        """Return why the engine cannot run here, or None."""
        if self.requires is not None and find_spec(self.requires) is None:
            return f"{self.requires} is not installed"
        return None

    def capacity(self, workload: Workload) -> int:
        """Return how many of the subscriptions, from the first on, can be run in reasonable time.

        Raises UsageError with the reason when not even one can.
        """
        return workload.size

    @abstractmethod
    def prepare(self, subscriptions: Sequence[Subscription], ontology: Ontology) -> None:
        """Take in all subscriptions."""

    @abstractmethod
    def decode(self, event: Event) -> Any:
        """Return the event in the form that `match` reads; an engine that does not reason gets all that follows."""

    @abstractmethod
    def match(self, decoded: Any) -> Collection[str]:
        """Return the ids of the subscriptions that the event matches."""

    def match_payload(self, published: Published) -> object:
        """Do what `match` does, from the event's payload."""
        return self.match(self.decode(published.read()))

    def batch(self, events: Sequence[Published]) -> Callable[[], object] | None:
        """Return how to match all payloads at once, if the engine has a way of its own for that."""
        return None

    def bindings(self, decoded: Any) -> dict[str, list[Binding]] | None:
        """Return all answers by subscription, or None when the engine only tells which subscriptions match."""
        return None

    def counters(self) -> Mapping[str, float]:
        """Return what the engine counts of its own work, summed over all events so far, and the size of its index."""
        return {}
