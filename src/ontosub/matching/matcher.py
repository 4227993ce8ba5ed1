"""The matcher: subscriptions in, events in, matches out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType

import pyarrow as pa

from ontosub.matching.algorithm import Algorithm
from ontosub.matching.batch import BatchResult, match_batch
from ontosub.matching.evaluation import Evaluation
from ontosub.matching.explain import Explanation, explain
from ontosub.model import Diagnostic, Event, Match, Ontology, Severity, Subscription
from ontosub.model.errors import LanguageError, LimitError, OntosubWarning, UnknownSubscription, UsageError
from ontosub.semantics import Entailment
from ontosub.semantics.check import Words


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


def _loaded(module: str, name: str) -> Callable[[Entailment], Algorithm]:
    """Return how to make an algorithm whose module is loaded when it is first asked for (one brings Numba with it)."""

    def make(entailment: Entailment) -> Algorithm:
        algorithm: Algorithm = getattr(import_module(f"ontosub.matching.{module}"), name)(entailment)
        return algorithm

    return make


ALGORITHMS: Mapping[str, Callable[[Entailment], Algorithm]] = MappingProxyType(
    {
        "naive": Naive,
        "compiled": _loaded("compiled.algorithm", "Compiled"),
        "ops": _loaded("published", "Ops"),
        "ibroker": _loaded("published", "IBroker"),
        "gtopss": _loaded("published", "GToPSS"),
    }
)


class Matcher:
    """Finds the subscriptions that an event matches, by meaning.

    >>> from ontosub import Event, Matcher, Ontology, Subscription
    >>> ontology = Ontology.read("@prefix : <urn:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
    ...                          ":Notebook rdfs:subClassOf :Computer .", format="text/turtle")
    >>> matcher = Matcher(ontology)
    >>> _ = matcher.subscribe(Subscription.parse("PREFIX : <urn:> SELECT ?x { ?x a :Computer }", id="computers"))
    >>> [match.subscription_id for match in matcher.match(Event.read("<urn:pc> a <urn:Notebook> .", "text/turtle"))]
    ['computers']
    """

    def __init__(self, ontology: Ontology | None = None, algorithm: str = "naive", *, strict: bool = False) -> None:
        if algorithm not in ALGORITHMS:
            raise UsageError(f"unknown algorithm {algorithm!r}: choose one of {', '.join(ALGORITHMS)}")
        self.ontology = ontology if ontology is not None else Ontology()
        self._strict = strict
        self._words = Words(self.ontology)
        self._entailment = Entailment(self.ontology)
        self._algorithm = ALGORITHMS[algorithm](self._entailment)
        self._subscriptions: dict[str, Subscription] = {}

    @property
    def subscriptions(self) -> Mapping[str, Subscription]:
        """The standing subscriptions by id, in the order in which they came."""
        return MappingProxyType(self._subscriptions)

    def subscribe(self, subscription: Subscription) -> list[Diagnostic]:
        """Take in a subscription; the next event sees it. Return what is doubtful about it.

        A class that the ontology does not know is an OntosubWarning, and a LanguageError when the matcher is strict. An
        id that is taken is a UsageError; a subscription that is there already, unchanged, is accepted.
        """
        standing = self._subscriptions.get(subscription.id)
        if standing is not None:
            if standing == subscription:
                return []
            raise UsageError(f"the id {subscription.id!r} is taken by another subscription: unsubscribe that one first")
        doubts = self._words.unknown(subscription)
        for doubt in doubts:
            if doubt.severity is Severity.WARNING:
                self._warn(doubt)
        self._algorithm.subscribe(subscription)
        self._subscriptions[subscription.id] = subscription
        return doubts

    def unsubscribe(self, id: str) -> None:
        """Forget a subscription; the next event does not see it."""
        self._get(id)
        self._algorithm.unsubscribe(id)
        del self._subscriptions[id]

    @property
    def over_budget(self) -> frozenset[str]:
        """The subscriptions that the last event would have cost too much to decide; the others have their answers."""
        return self._algorithm.over_budget

    def match(self, event: Event) -> list[Match]:
        """Return the matches of the event, in the order in which their subscriptions came."""
        return list(self._algorithm.match(event))

    def match_ids(self, event: Event) -> list[str]:
        """Return the ids of the subscriptions that the event matches, for who needs no answers."""
        return self._algorithm.match_ids(event)

    def match_batch(self, table: pa.Table) -> BatchResult:
        """Match a table of payloads: `event_id`, `content_type`, `payload`, optional `time_start` and `time_end`.

        Rejected payloads do not stop the others; see `ontosub.matching.batch` for both result tables.
        """
        return match_batch(self.match, table)

    def explain(self, event: Event, id: str) -> Explanation:
        """Explain why the event matches the subscription, or what its nearest miss is."""
        subscription = self._get(id)
        graph = self._entailment.event_graph(event)
        return explain(subscription, graph, Evaluation(subscription, self._entailment).match(graph))

    def _warn(self, doubt: Diagnostic) -> None:
        if self._strict:
            raise LanguageError(doubt.message, hint=doubt.hint, text=doubt.text, span=doubt.span, source=doubt.source)
        warnings.warn(str(doubt), OntosubWarning, stacklevel=3)

    def _get(self, id: str) -> Subscription:
        if id not in self._subscriptions:
            raise UnknownSubscription(id)
        return self._subscriptions[id]
