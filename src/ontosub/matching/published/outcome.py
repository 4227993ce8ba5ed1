"""From the mappings that an algorithm found to the match that a subscription gets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ontosub.matching.algorithm import Algorithm
from ontosub.matching.answers import match_of, project
from ontosub.matching.definition import Mu
from ontosub.matching.naive import Evaluation
from ontosub.model import Match, Subscription
from ontosub.model.errors import LimitError
from ontosub.semantics import EventGraph
from ontosub.semantics.budget import Budget


def decided(algorithm: Algorithm, ids: Iterable[str], decide: Callable[[str, Budget], Match | None]) -> Iterator[Match]:
    """Yield the matches of subscriptions. Each has a budget of its own; those that exceed it become `over_budget`."""
    algorithm.over_budget = frozenset()
    for name in ids:
        try:
            match = decide(name, Budget())
        except LimitError:
            algorithm.over_budget |= {name}
        else:
            if match is not None:
                yield match


class Outcome:
    """A subscription, ready to be told what its patterns map to."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._residual = None if subscription.residual is None else Evaluation(subscription)

    def match(self, graph: EventGraph, found: Sequence[Sequence[Mu]]) -> Match | None:
        """Return the match that the mappings of each pattern make, or None.

        A residual decides by itself, and is only asked when one of the patterns, its core, has a mapping.
        """
        if not any(found):
            return None
        if self._residual is not None:
            return self._residual.match(graph)
        pairs = zip(self._subscription.patterns, found, strict=True)
        bindings = [project(pattern, mu) for pattern, mappings in pairs for mu in mappings]
        return match_of(self._subscription, graph.event, bindings, Budget())
