"""The truth that engines are held to before anybody looks at their times: the definition of a match.

The reference decides one subscription on one event. It is slow, so it is asked about a sample of the subscriptions, and
about every one that some engine takes for a match: what one engine finds and another misses cannot stay hidden.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping

from ontosub.bench.workload import Published, Workload
from ontosub.matching.definition import mappings
from ontosub.matching.naive import Evaluation
from ontosub.model import Binding
from ontosub.model.errors import OntosubError
from ontosub.semantics import Entailment, EventGraph
from ontosub.semantics.budget import Budget

EVENTS_CHECKED = 5
WORK = 100_000
"""Subscriptions × triples of an event that the sample amounts to."""
SAMPLE_MIN = 50


class Disagreement(OntosubError):
    """An engine gives an answer that the reference does not give."""

    def __init__(
        self, engine: str, workload: Workload, event_id: str, subscription_id: str, said: str, true: str
    ) -> None:
        self.engine, self.event_id, self.subscription_id = engine, event_id, subscription_id
        super().__init__(
            f"{engine} and the reference disagree on the workload {workload.name!r} of {workload.size} subscriptions, "
            f"seed {workload.seed}: event {event_id}, subscription {subscription_id}: "
            f"{engine} says {said}, the reference {true}"
        )


class Reference:
    """Decides what is true of a workload, once for each question."""

    def __init__(self, workload: Workload, *, events: int = EVENTS_CHECKED) -> None:
        self.workload = workload
        self.events: list[Published] = workload.events[:events]
        """The events on which engines are checked."""
        self._entailment = Entailment(workload.ontology)
        self._graphs: dict[str, EventGraph] = {}
        self._by_id = {subscription.id: subscription for subscription in workload.subscriptions}
        chance = random.Random(f"sample {workload.seed}")  # noqa: S311 - reproducible on purpose
        wanted = max(SAMPLE_MIN, int(WORK / workload.triples))
        self.sample = frozenset(chance.sample(list(self._by_id), min(workload.size, wanted)))
        self._truths: dict[str, dict[str, bool]] = {each.event.id: {} for each in self.events}

    def is_match(self, published: Published, id: str) -> bool:
        """Say whether the event matches the subscription."""
        truths = self._truths[published.event.id]
        if id not in truths:
            truths[id] = self._decide(self._graph(published), id)
        return truths[id]

    def _decide(self, graph: EventGraph, id: str) -> bool:
        subscription = self._by_id[id]
        if subscription.residual is not None:
            return Evaluation(subscription).match(graph, _ample()) is not None
        return any(next(mappings(pattern, graph), None) is not None for pattern in subscription.patterns)

    def _graph(self, published: Published) -> EventGraph:
        event = published.event
        if event.id not in self._graphs:
            self._graphs[event.id] = self._entailment.event_graph(event)
        return self._graphs[event.id]

    def check(self, engine: str, published: Published, found: set[str], taken: frozenset[str]) -> None:
        """Raise Disagreement if `found` is not what the event matches, as far as that is known or sampled.

        `taken` are the subscriptions that the engine was prepared with; it is not asked about others.
        """
        known = self._truths[published.event.id]
        for name in sorted({*(self.sample & taken), *(known.keys() & taken), *found}):
            true = self.is_match(published, name)
            if true != (name in found):
                raise Disagreement(engine, self.workload, published.event.id, name, _said(name in found), _said(true))

    def check_bindings(self, engine: str, published: Published, found: Mapping[str, list[Binding]]) -> None:
        """Raise Disagreement if a subscription of the sample has other answers than `found` has for it."""
        for name in sorted(self.sample & found.keys()):
            match = Evaluation(self._by_id[name]).match(self._graph(published), _ample())
            true = match.bindings if match is not None else []
            if _counted(found[name]) != _counted(true):
                raise Disagreement(
                    engine,
                    self.workload,
                    published.event.id,
                    name,
                    f"{len(found[name])} bindings",
                    f"{len(true)} others",
                )


def _ample() -> Budget:
    """Return a budget for the truth, which no engine has to find: a large document takes the definition long."""
    return Budget(steps=10**12, bytes=10**12)


def _said(matches: bool) -> str:
    return "it matches" if matches else "it does not match"


def _counted(bindings: Iterable[Binding]) -> Counter[frozenset[tuple[str, str]]]:
    return Counter(frozenset((name, str(term)) for name, term in binding.items()) for binding in bindings)
