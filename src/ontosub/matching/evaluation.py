"""Deciding one subscription on one event graph, by the definition: what the naive matcher does for each."""

from __future__ import annotations

from ontosub.matching.answers import match_of, project
from ontosub.matching.naive import mappings
from ontosub.matching.residual import Residual
from ontosub.model import Match, Subscription
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
