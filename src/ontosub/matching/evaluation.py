"""Deciding one subscription on one event graph, by the definition: what the naive matcher does for each."""

from __future__ import annotations

from ontosub.matching.answers import construct, project, without_duplicates
from ontosub.matching.naive import mappings
from ontosub.matching.residual import Residual
from ontosub.model import Binding, Match, Subscription
from ontosub.model.terms import Triple
from ontosub.semantics import Entailment, EventGraph


class Evaluation:
    """A subscription made ready to be decided on event graphs."""

    def __init__(self, subscription: Subscription, entailment: Entailment) -> None:
        self.subscription = subscription
        residual = subscription.residual
        self._residual = None if residual is None else Residual(residual, entailment.is_implied)

    def match(self, graph: EventGraph) -> Match | None:
        """Return the match with all of its answers, or None."""
        if self._residual is None:
            return self._conjunctive(graph)
        if not any(next(mappings(core, graph), None) is not None for core in self.subscription.patterns):
            return None
        bindings, constructed = self._residual.answers(graph)
        return self._match(graph, bindings, constructed) if bindings else None

    def _conjunctive(self, graph: EventGraph) -> Match | None:
        patterns = self.subscription.patterns
        bindings = [project(pattern, mu) for pattern in patterns for mu in mappings(pattern, graph)]
        # An answer without variables only says that there is one.
        if self.subscription.distinct or len(patterns) > 1 or (bindings and not bindings[0]):
            bindings = without_duplicates(bindings)
        template = self.subscription.template
        return self._match(graph, bindings, construct(template, bindings) if template else None) if bindings else None

    def _match(self, graph: EventGraph, bindings: list[Binding], constructed: frozenset[Triple] | None) -> Match:
        event = graph.event
        return Match(self.subscription.id, event.id, bindings, constructed, event.interval)
