"""RDFLib: each subscription a prepared ASK, each event a graph of all that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pyoxigraph
from pyoxigraph import RdfFormat

from ontosub.bench.engines.engine import Engine
from ontosub.bench.query_text import existence_query, with_home_named
from ontosub.bench.workload import Workload
from ontosub.model import Event, Ontology, Subscription
from ontosub.model.errors import UsageError
from ontosub.semantics import Entailment

SUBSCRIPTIONS_MAX, TRIPLES_MAX = 200, 10_000
"""Subscriptions, and triples of an event, that are done in some seconds."""


class RdfLib(Engine):
    """A loop over prepared queries."""

    name = "rdflib"
    requires: ClassVar[str | None] = "rdflib"
    is_linear = True

    def __init__(self) -> None:
        self._entailment = Entailment(Ontology())
        self._queries: dict[str, Any] = {}

    def capacity(self, workload: Workload) -> int:
        if any(pattern.injective for each in workload.subscriptions for pattern in each.patterns):
            raise UsageError("RDFLib compares vertices after it has enumerated all mappings: seconds for each pattern")
        if workload.triples > TRIPLES_MAX:
            raise UsageError("RDFLib pairs all that have the types asked for, then joins: minutes on a large document")
        return min(workload.size, SUBSCRIPTIONS_MAX)

    def prepare(self, subscriptions: Sequence[Subscription], ontology: Ontology) -> None:
        from rdflib.plugins.sparql import prepareQuery

        self._entailment = Entailment(ontology)
        self._queries = {each.id: prepareQuery(existence_query(each)) for each in subscriptions}

    def decode(self, event: Event) -> Any:
        from rdflib import Graph

        triples = with_home_named(self._entailment.event_graph(event).triples, event.home)
        return Graph().parse(data=pyoxigraph.serialize(triples, format=RdfFormat.N_TRIPLES), format="ntriples")

    def match(self, decoded: Any) -> set[str]:
        return {name for name, query in self._queries.items() if bool(decoded.query(query))}
