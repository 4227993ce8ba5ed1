"""The compiled algorithm where its kernels may not be compiled yet: the naive one serves until they are.

Answers are the same, so nobody notices but by the clock. Where there are so many subscriptions that naive answers would
take longer than the kernels do, they are waited for instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

import pyarrow as pa

from ontosub.matching.adaptive import NAIVE_SUBSCRIPTIONS
from ontosub.matching.algorithm import Algorithm, Indexed
from ontosub.matching.batch import Batch, BatchResult
from ontosub.matching.compiled.algorithm import Compiled
from ontosub.matching.compiled.files.storage import Saved, load_subscriptions, save_subscriptions
from ontosub.matching.kernel_cache import KERNELS, KernelCache
from ontosub.matching.limits import check_size
from ontosub.matching.naive import Naive
from ontosub.model import Event, Match, Subscription
from ontosub.semantics import Entailment


class Provisional(Indexed):
    """Gives the answers of the naive algorithm; moves to the compiled one, for good, when all kernels are there.

    It has them compiled by another process when there is something to match.
    """

    def __init__(self, entailment: Entailment, kernels: KernelCache = KERNELS) -> None:
        self._entailment = entailment
        self._kernels = kernels
        self._naive = Naive(entailment)
        self._subscriptions: dict[str, Subscription] = {}
        self._saved: Saved | None = None
        self._compiled: Compiled | None = None

    @classmethod
    def open(
        cls, directory: Path, entailment: Entailment, *, verify: bool = True, kernels: KernelCache = KERNELS
    ) -> Self:
        """Return the algorithm with the subscriptions of a stored index; see `storage.load` for what is refused."""
        algorithm = cls(entailment, kernels)
        if not kernels.is_ready():
            stored, saved = load_subscriptions(directory, entailment.ontology, verify=verify)
            if len(stored) < NAIVE_SUBSCRIPTIONS:
                algorithm._saved = saved
                for subscription in stored:
                    algorithm.subscribe(subscription)
                return algorithm
            kernels.fill()
        algorithm._compiled = Compiled.open(directory, entailment, verify=verify)
        return algorithm

    @property
    def over_budget(self) -> frozenset[str]:  # type: ignore[override]
        return (self._compiled or self._naive).over_budget

    @property
    def standing(self) -> Mapping[str, Subscription]:
        return self._subscriptions if self._compiled is None else self._compiled.standing

    def subscribe(self, subscription: Subscription) -> None:
        if self._compiled is not None:
            self._compiled.subscribe(subscription)
            return
        check_size(subscription)  # what was taken must be taken after the move, too
        self._naive.subscribe(subscription)
        self._subscriptions[subscription.id] = subscription

    def unsubscribe(self, id: str) -> None:
        (self._compiled or self._naive).unsubscribe(id)
        self._subscriptions.pop(id, None)

    def match(self, event: Event) -> Iterator[Match]:
        return self._chosen().match(event)

    def match_ids(self, event: Event) -> list[str]:
        return self._chosen().match_ids(event)

    def match_batch(self, batch: Batch, *, bindings: bool, encoded: bool = False) -> BatchResult:
        return self._chosen().match_batch(batch, bindings=bindings, encoded=encoded)

    def save(self, directory: Path) -> None:
        if self._moves():
            self._moved().save(directory)
        else:
            self._saved = save_subscriptions(self._entailment.ontology, self._subscriptions, directory, self._saved)

    def merge(self) -> None:
        self._moved().merge()

    def costs(self) -> pa.Table:
        return self._moved().costs()

    def _chosen(self) -> Algorithm:
        if self._moves():
            return self._moved()
        self._kernels.request()
        return self._naive

    def _moves(self) -> bool:
        """Say whether the compiled algorithm is the one to use by now."""
        if self._compiled is None and len(self._subscriptions) >= NAIVE_SUBSCRIPTIONS:
            self._kernels.fill()
        return self._compiled is not None or self._kernels.is_ready() or self._kernels.has_failed()

    def _moved(self) -> Compiled:
        """Return the compiled algorithm, with all subscriptions."""
        if self._compiled is None:
            compiled = Compiled(self._entailment)
            for subscription in self._subscriptions.values():
                compiled.subscribe(subscription)
            compiled.continues(self._saved)
            self._compiled = compiled
            self._subscriptions, self._naive = {}, Naive(self._entailment)
        return self._compiled
