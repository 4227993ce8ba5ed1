"""The naive algorithm: each subscription is decided by the definition, one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from ontosub.matching.algorithm import Algorithm
from ontosub.matching.answers import answer_bytes, match_of, project
from ontosub.matching.definition import mappings
from ontosub.matching.residual import Residual, context_of
from ontosub.model import Event, Match, Subscription
from ontosub.semantics import Entailment, EventGraph
from ontosub.semantics.budget import Budget


class Evaluation:
    """A subscription made ready to be decided on event graphs."""

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        self._residual = None if subscription.residual is None else Residual(subscription.residual)

    def match(self, graph: EventGraph, budget: Budget | None = None) -> Match | None:
        """Return the match with all of its answers, or None. Raises LimitError when it costs too much to tell."""
        patterns, event, budget = self.subscription.patterns, graph.event, budget or Budget()
        context = context_of(event, budget)
        if self._residual is None:
            found = []
            for pattern in patterns:
                for mu in mappings(pattern, graph, context):
                    found.append(project(pattern, mu))
                    budget.hold(answer_bytes(found[-1]))
            return match_of(self.subscription, event, found, budget)
        if not any(next(mappings(core, graph, context), None) is not None for core in patterns):
            return None
        return self._residual.match(self.subscription.id, graph, budget)


class Naive(Algorithm):
    """The definition, applied to each subscription in turn: the oracle for every other algorithm."""

    def __init__(self, entailment: Entailment) -> None:
        self._entailment = entailment
        self._evaluations: dict[str, Evaluation] = {}

    def subscribe(self, subscription: Subscription) -> None:
        self._evaluations[subscription.id] = Evaluation(subscription)

    def unsubscribe(self, id: str) -> None:
        del self._evaluations[id]

    def match(self, event: Event) -> Iterator[Match]:
        self.over_budget = frozenset()
        graph = self._entailment.event_graph(event)
        for name, evaluation in self._evaluations.items():
            try:
                match = evaluation.match(graph)
            except Exception as error:
                self.give_up(name, event.id, error)
            else:
                if match is not None:
                    yield match
