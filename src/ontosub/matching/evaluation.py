"""The naive algorithm: each subscription is decided by the definition, one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from ontosub.matching.algorithm import Algorithm
from ontosub.matching.answers import match_of, project
from ontosub.matching.naive import mappings
from ontosub.matching.residual import Residual
from ontosub.model import Event, Match, Subscription
from ontosub.model.errors import LimitError
from ontosub.semantics import Entailment, EventGraph


class Evaluation:
    """A subscription made ready to be decided on event graphs."""

    def __init__(self, subscription: Subscription, entailment: Entailment) -> None:
        self.subscription = subscription
        residual = subscription.residual
        self._residual = None if residual is None else Residual(residual, entailment.is_implied)

    def match(self, graph: EventGraph) -> Match | None:
        """Return the match with all of its answers, or None."""
        patterns, event = self.subscription.patterns, graph.event
        if self._residual is None:
            found = [project(pattern, mu) for pattern in patterns for mu in mappings(pattern, graph)]
            return match_of(self.subscription, event, found)
        if not any(next(mappings(core, graph), None) is not None for core in patterns):
            return None
        return self._residual.match(self.subscription.id, graph)


class Naive(Algorithm):
    """The definition, applied to each subscription in turn: the oracle for every other algorithm."""

    def __init__(self, entailment: Entailment) -> None:
        self._entailment = entailment
        self._evaluations: dict[str, Evaluation] = {}

    def subscribe(self, subscription: Subscription) -> None:
        self._evaluations[subscription.id] = Evaluation(subscription, self._entailment)

    def unsubscribe(self, id: str) -> None:
        del self._evaluations[id]

    def match(self, event: Event) -> Iterator[Match]:
        self.over_budget = frozenset()
        graph = self._entailment.event_graph(event)
        for name, evaluation in self._evaluations.items():
            try:
                match = evaluation.match(graph)
            except LimitError:
                self.over_budget |= {name}
            else:
                if match is not None:
                    yield match
