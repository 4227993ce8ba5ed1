"""iBroker, after Park and Chung, "iBroker: An Intelligent Broker for Ontology Based Publish/Subscribe Systems" (2009).

Profiles are taken apart into triples, which are hashed by the name of their class or property. A document is read as a
stream; the classes and properties that some profile names collect their individuals in match tables; at the end each
profile joins its tables.
"""

from __future__ import annotations

from collections.abc import Iterator

from ontosub.matching.algorithm import Algorithm
from ontosub.matching.published.concepts import Concepts, Given
from ontosub.matching.published.ibroker.profile_hash import ProfileHash
from ontosub.matching.published.ibroker.semantic_matcher import IBrokerStats, SemanticMatcher
from ontosub.matching.published.joins import confirmed
from ontosub.matching.published.outcome import Outcome, decided
from ontosub.model import Event, Match, Subscription
from ontosub.model.terms import TYPE, Term
from ontosub.semantics import Entailment
from ontosub.semantics.budget import Budget
from ontosub.semantics.event_graph import EventGraph


class IBroker(Algorithm):
    """Matches every pattern. `stats` counts the work of all events so far."""

    def __init__(self, entailment: Entailment) -> None:
        self._entailment = entailment
        self._subscriptions: dict[str, tuple[Subscription, Outcome]] = {}
        self._profiles = ProfileHash()
        self.stats = IBrokerStats()
        self._matcher = SemanticMatcher(self._profiles, Concepts(entailment), entailment.ontology, self.stats)

    def subscribe(self, subscription: Subscription) -> None:
        """Take in a subscription whose id is new: each of its patterns is a profile."""
        self._subscriptions[subscription.id] = subscription, Outcome(subscription)
        for number, pattern in enumerate(subscription.patterns):
            self._profiles.insert((subscription.id, number), pattern)

    def unsubscribe(self, id: str) -> None:
        subscription, _ = self._subscriptions.pop(id)
        for number, pattern in enumerate(subscription.patterns):
            self._profiles.remove((id, number), pattern)

    def match(self, event: Event) -> Iterator[Match]:
        graph = self._entailment.event_graph(event)
        self._read(graph)

        def decide(id: str, budget: Budget) -> Match | None:
            subscription, outcome = self._subscriptions[id]
            found = [
                confirmed(self._matcher.generate_result((id, number), budget), pattern, graph)
                for number, pattern in enumerate(subscription.patterns)
            ]
            return outcome.match(graph, found)

        yield from decided(self, self._subscriptions, decide)

    def _read(self, graph: EventGraph) -> None:
        """Read the event graph as an OWL parser reads a document: individual by individual, classes first."""
        given = Given(graph)
        self._matcher.start()
        for individual in sorted(_terms(graph), key=str):
            if individual in graph.vertices:
                self._matcher.vertex(individual)
            for class_ in given.classes(individual):
                self._matcher.class_(class_, individual)
            for statement in given.about(individual):
                self._matcher.property(statement.predicate, statement.subject, statement.object)


def _terms(graph: EventGraph) -> set[Term]:
    """Return all that a variable can stand for: vertices, and the classes and properties in the place of an object."""
    types = (triple.object for triple in graph.by_predicate.get(TYPE, ()))
    return {*graph.vertices, *types, *graph.by_predicate}


__all__ = ["IBroker", "IBrokerStats"]
