"""Our own algorithms, through the public matcher."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import ClassVar

from ontosub.bench.engines.engine import Engine
from ontosub.bench.workload import Workload
from ontosub.matching import Matcher
from ontosub.model import Binding, Event, Ontology, Subscription
from ontosub.model.errors import OntosubWarning

TRIPLES_MAX = {"naive": 200_000, "gtopss": 400_000, "ops": 4_000_000, "ibroker": 4_000_000}
"""Subscriptions × triples of an event that an algorithm gets through in some seconds. Others take any number."""


class Ours(Engine):
    """A `Matcher` with one of the algorithms. It reasons itself: `decode` has nothing to do."""

    is_peer: ClassVar[bool] = False

    def __init__(self, algorithm: str, name: str | None = None) -> None:
        self.name = name or algorithm
        self._algorithm = algorithm
        self.is_linear = algorithm == "naive"
        self._matcher = Matcher()

    def capacity(self, workload: Workload) -> int:
        work = TRIPLES_MAX.get(self._algorithm)
        return workload.size if work is None else min(workload.size, max(10, int(work / workload.triples)))

    def prepare(self, subscriptions: Sequence[Subscription], ontology: Ontology) -> None:
        self._matcher = Matcher(ontology, algorithm=self._algorithm)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OntosubWarning)
            for subscription in subscriptions:
                self._matcher.subscribe(subscription)

    def decode(self, event: Event) -> Event:
        return event

    def match(self, decoded: Event) -> set[str]:
        return set(self._matcher.match_ids(decoded))

    def bindings(self, decoded: Event) -> dict[str, list[Binding]]:
        return {match.subscription_id: match.bindings for match in self._matcher.match(decoded)}

    def counters(self) -> Mapping[str, float]:
        stats = getattr(self._matcher._algorithm, "stats", None)
        if is_dataclass(stats) and not isinstance(stats, type):
            return asdict(stats)
        return dict(stats) if isinstance(stats, Mapping) else {}
