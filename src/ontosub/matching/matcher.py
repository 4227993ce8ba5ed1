"""The matcher: subscriptions in, events in, matches out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from threading import RLock
from types import MappingProxyType

import pyarrow as pa

from ontosub.matching.adaptive import Adaptive
from ontosub.matching.algorithm import Algorithm, Indexed
from ontosub.matching.batch import Batch, BatchResult
from ontosub.matching.explain import Explanation, explain, undecided
from ontosub.matching.naive import Evaluation, Naive
from ontosub.model import Diagnostic, Event, Match, Ontology, Severity, Subscription
from ontosub.model.errors import LanguageError, LimitError, OntosubWarning, UnknownSubscription, UsageError
from ontosub.semantics import Entailment
from ontosub.semantics.check import Words


def _loaded(module: str, name: str) -> Callable[[Entailment], Algorithm]:
    """Return how to make an algorithm whose module is loaded when it is first asked for (one brings Numba with it)."""

    def make(entailment: Entailment) -> Algorithm:
        algorithm: Algorithm = getattr(import_module(f"ontosub.matching.{module}"), name)(entailment)
        return algorithm

    return make


ALGORITHMS: Mapping[str, Callable[[Entailment], Algorithm]] = MappingProxyType(
    {
        "auto": Adaptive,
        "naive": Naive,
        "compiled": _loaded("compiled", "Compiled"),
        "provisional": _loaded("compiled", "Provisional"),
        "ops": _loaded("published", "Ops"),
        "ibroker": _loaded("published", "IBroker"),
        "gtopss": _loaded("published", "GToPSS"),
    }
)


class Matcher:
    """Finds the subscriptions that an event matches, by meaning. Threads that share one take turns.

    >>> from ontosub import Event, Matcher, Ontology, Subscription
    >>> ontology = Ontology.read("@prefix : <urn:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
    ...                          ":Notebook rdfs:subClassOf :Computer .", format="text/turtle")
    >>> matcher = Matcher(ontology)
    >>> _ = matcher.subscribe(Subscription.parse("PREFIX : <urn:> SELECT ?x { ?x a :Computer }", id="computers"))
    >>> [match.subscription_id for match in matcher.match(Event.read("<urn:pc> a <urn:Notebook> .", "text/turtle"))]
    ['computers']
    """

    def __init__(self, ontology: Ontology | None = None, algorithm: str = "auto", *, strict: bool = False) -> None:
        if algorithm not in ALGORITHMS:
            raise UsageError(f"unknown algorithm {algorithm!r}: choose one of {', '.join(ALGORITHMS)}")
        self.ontology = ontology if ontology is not None else Ontology()
        self._strict = strict
        self._words = Words(self.ontology)
        self._entailment = Entailment(self.ontology)
        self._algorithm = ALGORITHMS[algorithm](self._entailment)
        self._kept: dict[str, Subscription] = {}
        self._lock = RLock()

    @classmethod
    def open(
        cls,
        directory: str | Path,
        ontology: Ontology | None = None,
        *,
        algorithm: str = "compiled",
        strict: bool = False,
        verify: bool = True,
    ) -> Matcher:
        """Return the matcher that was saved in a directory. It is ready at once, however many subscriptions it has.

        Without an `ontology`, the one that it was saved with is read from there. `algorithm` is "compiled" or
        "provisional", which answers before the kernels are compiled, too. `verify` checks all files against their
        checksums. Raises IndexDirectoryError when the directory holds no index, one that is corrupt, or one that
        was made with another ontology.
        """
        compiled = import_module("ontosub.matching.compiled")
        openers = {"compiled": compiled.Compiled.open, "provisional": compiled.Provisional.open}
        if algorithm not in openers:
            raise UsageError(f"a saved matcher cannot have the algorithm {algorithm!r}: choose {' or '.join(openers)}")
        matcher = cls(compiled.read_ontology(Path(directory)) if ontology is None else ontology, strict=strict)
        matcher._algorithm = openers[algorithm](Path(directory), matcher._entailment, verify=verify)
        return matcher

    def save(self, directory: str | Path) -> None:
        """Save the matcher in a directory, or in the one that it is from, what has changed since.

        Who reads the directory meanwhile sees the state before or after, never one between. Raises IndexDirectoryError
        when it cannot be written, is in use, or holds something else.
        """
        with self._lock:
            self._compiled("saved").save(Path(directory))

    def merge(self) -> None:
        """Bring the index into its best order; worth while after many changes, when there is time. Answers stay."""
        with self._lock:
            self._compiled("merged").merge()

    def stats(self) -> pa.Table:
        """Return what each subscription has cost so far; `ontosub.matching.algorithm.COSTS` says in which terms."""
        with self._lock:
            return self._compiled("asked for costs").costs()

    def _compiled(self, what: str) -> Indexed:
        indexed = self._algorithm.indexed()
        if indexed is None:
            raise UsageError(f'only a matcher with algorithm="compiled" can be {what}')
        return indexed

    @property
    def _subscriptions(self) -> Mapping[str, Subscription]:
        standing = self._algorithm.standing
        return self._kept if standing is None else standing

    @property
    def subscriptions(self) -> Mapping[str, Subscription]:
        """The standing subscriptions by id, in the order in which they came, as they are at any time."""
        return _Standing(self)

    def subscribe(self, subscription: Subscription) -> list[Diagnostic]:
        """Take in a subscription; the next event sees it. Return what is doubtful about it.

        A class that the ontology does not know is an OntosubWarning, and a LanguageError when the matcher is strict. An
        id that is taken is a UsageError; a subscription that is there already, unchanged, is accepted.
        """
        with self._lock:
            standing = self._subscriptions.get(subscription.id)
            if standing is not None:
                if standing == subscription:
                    return []
                raise UsageError(
                    f"the id {subscription.id!r} is taken by another subscription: unsubscribe that one first"
                )
            doubts = self._words.unknown(subscription)
            for doubt in doubts:
                if doubt.severity is Severity.WARNING:
                    self._warn(doubt)
            self._algorithm.subscribe(subscription)
            if self._algorithm.standing is None:
                self._kept[subscription.id] = subscription
            return doubts

    def unsubscribe(self, id: str) -> None:
        """Forget a subscription; the next event does not see it."""
        with self._lock:
            self._get(id)
            self._algorithm.unsubscribe(id)
            self._kept.pop(id, None)

    @property
    def over_budget(self) -> frozenset[str]:
        """The subscriptions that the last event would have cost too much to decide; the others have their answers."""
        return self._algorithm.over_budget

    def match(self, event: Event) -> list[Match]:
        """Return the matches of the event, in the order in which their subscriptions came."""
        with self._lock:
            return list(self._algorithm.match(event))

    def match_ids(self, event: Event) -> list[str]:
        """Return the ids of the subscriptions that the event matches, for who needs no answers."""
        with self._lock:
            return self._algorithm.match_ids(event)

    def match_batch(
        self, table: pa.Table | pa.RecordBatch | Batch, *, bindings: bool = True, encoded: bool = False
    ) -> BatchResult:
        """Match a table of payloads: `event_id`, `content_type`, `payload`, optional `time_start` and `time_end`.

        Rejected payloads do not stop the others; see `ontosub.matching.batch` for both result tables. Without
        `bindings`, the matches are found faster and do not have that column. With `encoded`, their texts are
        dictionaries of Arrow, and they are in no order: that is fastest, for who writes them as Parquet.
        """
        batch = table if isinstance(table, Batch) else Batch(table)
        with self._lock:
            return self._algorithm.match_batch(batch, bindings=bindings, encoded=encoded)

    def explain(self, event: Event, id: str) -> Explanation:
        """Explain why the event matches the subscription, or what its nearest miss is.

        A subscription that is over budget on the event is undecided. Raises LimitError for an event from which too much
        follows.
        """
        with self._lock:
            subscription = self._get(id)
            graph = self._entailment.event_graph(event)
            try:
                match = Evaluation(subscription).match(graph)
            except LimitError as error:
                return undecided(subscription, graph, error)
            return explain(subscription, graph, match)

    def _warn(self, doubt: Diagnostic) -> None:
        if self._strict:
            raise LanguageError(doubt.message, hint=doubt.hint, text=doubt.text, span=doubt.span, source=doubt.source)
        warnings.warn(OntosubWarning(doubt), stacklevel=3)

    def _get(self, id: str) -> Subscription:
        if id not in self._subscriptions:
            raise UnknownSubscription(id)
        return self._subscriptions[id]


class _Standing(Mapping[str, Subscription]):
    """A view of a matcher's subscriptions. Who goes through it goes through those that stood when they began."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def __len__(self) -> int:
        with self._matcher._lock:
            return len(self._matcher._subscriptions)

    def __iter__(self) -> Iterator[str]:
        with self._matcher._lock:
            return iter(list(self._matcher._subscriptions))

    def __contains__(self, id: object) -> bool:
        with self._matcher._lock:
            return id in self._matcher._subscriptions

    def __getitem__(self, id: str) -> Subscription:
        with self._matcher._lock:
            return self._matcher._subscriptions[id]

    def __repr__(self) -> str:
        return repr(dict(self))
