"""The algorithm for who does not choose one: by the definition as long as there is little to do, then compiled.

The compiled algorithm is worth its start, the loading of kernels, only when there is work for it. So the naive one goes
first, and its work is counted; when that has cost as much as the start would have, the subscriptions move.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from ontosub.matching.algorithm import Algorithm, Indexed
from ontosub.matching.batch import Batch, BatchResult
from ontosub.matching.limits import check_size
from ontosub.matching.naive import Naive
from ontosub.model import Event, Match, Subscription
from ontosub.semantics import Entailment

NAIVE_WORK = 100_000
"""How many triples, each for each subscription, are looked at before the subscriptions move: about a second's work."""

NAIVE_SUBSCRIPTIONS = 1_000
"""From how many subscriptions on they move at once."""


class Adaptive(Algorithm):
    """Gives the answers of the naive algorithm, which all of them give."""

    def __init__(self, entailment: Entailment) -> None:
        self._entailment = entailment
        self._subscriptions: dict[str, Subscription] = {}
        self._naive: Algorithm = Naive(entailment)
        self._compiled: Indexed | None = None
        self._work = 0

    @property
    def _chosen(self) -> Algorithm:
        return self._naive if self._compiled is None else self._compiled

    @property
    def over_budget(self) -> frozenset[str]:  # type: ignore[override]
        return self._chosen.over_budget

    @property
    def standing(self) -> Mapping[str, Subscription]:
        return self._subscriptions if self._compiled is None else self._compiled.standing

    def indexed(self) -> Indexed:
        """Move to the compiled algorithm now, whatever there is to do."""
        if self._compiled is None:
            compiled: Indexed = import_module("ontosub.matching.compiled").Compiled(self._entailment)
            for subscription in self._subscriptions.values():
                compiled.subscribe(subscription)
            self._compiled = compiled
            self._subscriptions, self._naive = {}, Naive(self._entailment)
        return self._compiled

    def subscribe(self, subscription: Subscription) -> None:
        check_size(subscription)  # what was taken must be taken after the move, too
        self._chosen.subscribe(subscription)
        if self._compiled is None:
            self._subscriptions[subscription.id] = subscription
            if len(self._subscriptions) >= NAIVE_SUBSCRIPTIONS:
                self.indexed()

    def unsubscribe(self, id: str) -> None:
        self._chosen.unsubscribe(id)
        self._subscriptions.pop(id, None)

    def match(self, event: Event) -> Iterator[Match]:
        return self._for(event).match(event)

    def match_ids(self, event: Event) -> list[str]:
        return self._for(event).match_ids(event)

    def match_batch(self, batch: Batch, *, bindings: bool, encoded: bool = False) -> BatchResult:
        if self._compiled is None and len(batch) * len(self._subscriptions) < NAIVE_WORK // 10:
            return super().match_batch(batch, bindings=bindings, encoded=encoded)
        return self.indexed().match_batch(batch, bindings=bindings, encoded=encoded)

    def _for(self, event: Event) -> Algorithm:
        """Return the algorithm for an event, after counting the work that it makes."""
        if self._compiled is None:
            self._work += len(event.graph) * len(self._subscriptions)
            if self._work > NAIVE_WORK:
                self.indexed()
        return self._chosen
