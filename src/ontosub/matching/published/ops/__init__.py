"""OPS, the matching algorithm of Wang, Jin and Li, "An Ontology-Based Publish/Subscribe System" (Middleware 2004).

Subscriptions are decomposed into statement patterns, which wait in an array of meta-statements; an event is traversed
once, breadth first; equal patterns are matched once; what matches grows one AND-OR tree per subscription.
"""

from __future__ import annotations

from collections.abc import Iterator

from ontosub.matching.algorithm import Algorithm
from ontosub.matching.published.concepts import Concepts
from ontosub.matching.published.ops.ems import ExtendedMetaStatements, WaitingPattern
from ontosub.matching.published.ops.patterns import Home, StatementPattern, SubscriptionGraph
from ontosub.matching.published.ops.process import MatchingProcess, OpsStats
from ontosub.matching.published.outcome import Outcome, decided
from ontosub.model import Event, Match, Subscription
from ontosub.model.errors import LimitError
from ontosub.semantics import Entailment
from ontosub.semantics.budget import Budget


class Ops(Algorithm):
    """Matches injective patterns that start at the home vertex. `stats` counts the work of all events so far."""

    def __init__(self, entailment: Entailment) -> None:
        """Raise LimitError if the ontology has too many meta-statements for an EMS array."""
        self._entailment = entailment
        self._ems = ExtendedMetaStatements(entailment.ontology, Concepts(entailment))
        self._subscriptions: dict[str, tuple[Outcome, list[SubscriptionGraph]]] = {}
        self.stats = OpsStats()

    def subscribe(self, subscription: Subscription) -> None:
        """Take in a subscription whose id is new; raise UsageError if OPS cannot match it."""
        graphs = [SubscriptionGraph(pattern) for pattern in subscription.patterns]
        self._subscriptions[subscription.id] = Outcome(subscription), graphs
        for graph in graphs:
            for meta_statement in graph.meta_statements:
                self._ems.take(meta_statement)
            for pattern in _first_layer(graph):
                waiting = self._ems.item(pattern.meta_statement).waiting
                waiting.setdefault(pattern, WaitingPattern(pattern)).subscriptions[graph] = None

    def unsubscribe(self, id: str) -> None:
        _, graphs = self._subscriptions.pop(id)
        for graph in graphs:
            for pattern in dict.fromkeys(_first_layer(graph)):
                waiting = self._ems.item(pattern.meta_statement).waiting
                del waiting[pattern].subscriptions[graph]
                if not waiting[pattern].subscriptions:
                    del waiting[pattern]
            for meta_statement in graph.meta_statements:
                self._ems.give_back(meta_statement)

    def match(self, event: Event) -> Iterator[Match]:
        graph = self._entailment.event_graph(event)
        process = MatchingProcess(self._ems, graph, self.stats)
        found = process.run()

        def decide(id: str, _: Budget) -> Match | None:
            outcome, graphs = self._subscriptions[id]
            if not process.given_up.isdisjoint(graphs):
                raise LimitError(f"the matching tree of {id!r} is too large on event {event.id!r}")
            return outcome.match(graph, [found.get(each, []) for each in graphs])

        yield from decided(self, self._subscriptions, decide)


def _first_layer(graph: SubscriptionGraph) -> list[StatementPattern]:
    """Return the statement patterns that wait before any event has come: those that start at the home vertex."""
    return [pattern for _, pattern in graph.patterns_from(graph.home, {graph.home: Home.HOME})]


__all__ = ["Ops", "OpsStats"]
