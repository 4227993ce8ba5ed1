"""Oxigraph, a SPARQL store: each subscription an ASK, each event a store of all that follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from pyoxigraph import Quad, QueryBoolean, QuerySolutions, Store

from ontosub.bench.engines.engine import Engine
from ontosub.bench.query_text import bindings_query, existence_query, with_home_named
from ontosub.bench.workload import Workload
from ontosub.model import Binding, Event, Ontology, Subscription
from ontosub.model.terms import Resource
from ontosub.semantics import Entailment

SUBSCRIPTIONS_MAX = 2_000


class Oxigraph(Engine):
    """A loop over queries. Oxigraph has no prepared queries: each is parsed anew for each event."""

    name = "oxigraph"
    requires: ClassVar[str | None] = "pyoxigraph"
    is_linear = True

    def __init__(self) -> None:
        self._entailment = Entailment(Ontology())
        self._queries: dict[str, str] = {}
        self._subscriptions: Sequence[Subscription] = ()
        self._asks_for_home = False

    def capacity(self, workload: Workload) -> int:
        return min(workload.size, SUBSCRIPTIONS_MAX)

    def prepare(self, subscriptions: Sequence[Subscription], ontology: Ontology) -> None:
        self._entailment = Entailment(ontology)
        self._queries = {each.id: existence_query(each) for each in subscriptions}
        self._subscriptions = subscriptions
        self._asks_for_home = any(pattern.home is not None for each in subscriptions for pattern in each.patterns)

    def decode(self, event: Event) -> Store:
        return store_of(event, self._entailment, home=event.home if self._asks_for_home else None)

    def match(self, decoded: Store) -> set[str]:
        return {name for name, query in self._queries.items() if has_answer(decoded, query)}

    def bindings(self, decoded: Store) -> dict[str, list[Binding]]:
        found = {each.id: _solutions(decoded, bindings_query(each)) for each in self._subscriptions}
        return {name: solutions for name, solutions in found.items() if solutions}


def store_of(event: Event, entailment: Entailment, *, home: Resource | None = None) -> Store:
    """Return a store of all that follows from the event; `home`, if given, is called by its IRI."""
    triples = with_home_named(entailment.event_graph(event).triples, home)
    store = Store()
    store.bulk_extend(Quad(triple.subject, triple.predicate, triple.object) for triple in triples)
    return store


def has_answer(store: Store, query: str) -> bool:
    """Say whether an ASK is true, or a SELECT has a solution."""
    result = store.query(query)
    return bool(result) if isinstance(result, QueryBoolean) else next(iter(result), None) is not None


def confirmed(ids: Iterable[str], residuals: Mapping[str, str], store: Store | None) -> set[str]:
    """Return the ids without those whose residual has no answer. Without residuals no store is needed."""
    return {name for name in ids if name not in residuals or (store is not None and has_answer(store, residuals[name]))}


def _solutions(store: Store, query: str) -> list[Binding]:
    result = store.query(query)
    assert isinstance(result, QuerySolutions)  # noqa: S101 - a SELECT gives nothing else
    names = [variable.value for variable in result.variables]
    return [Binding({name: term for name, term in zip(names, row, strict=True) if term is not None}) for row in result]
