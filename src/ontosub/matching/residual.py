"""What a SPARQL subscription says beyond its core: the whole query, in the algebra, ready to be answered."""

from __future__ import annotations

from collections.abc import Iterable

from ontosub.languages.sparql import query_of
from ontosub.matching.answers import Identified, answer_bytes, construct
from ontosub.matching.solutions import Solutions
from ontosub.model import Binding, Match
from ontosub.model.terms import BlankNode, NamedNode, Term, Triple, Variable
from ontosub.semantics.budget import Budget
from ontosub.semantics.context import Context
from ontosub.semantics.event_graph import EventGraph


class Residual:
    """A SPARQL query that decides on event graphs, by the definition."""

    def __init__(self, text: str) -> None:
        self._query = query_of(text)

    def match(self, subscription_id: str, graph: EventGraph, budget: Budget) -> Match | None:
        """Return the query's answers, with the graph that a CONSTRUCT or DESCRIBE makes of them; None without any.

        Raises LimitError when the budget is spent.
        """
        query, event, found = self._query, graph.event, list[Binding]()
        for solution in Solutions(graph, context_of(event, budget)).of(query.selection):
            answer = Binding((str(variable)[1:], term) for variable, term in solution.items())
            budget.hold(answer_bytes(answer))
            found.append(Binding() if query.asks else answer)
            if query.asks:
                break
        if not found:
            return None
        made = None if query.template is None else construct(query.template, found, budget)
        if query.described is not None:
            made = described(query.described, found, graph, budget)
        return Match(subscription_id, event.id, found, made, event.interval)


def context_of(event: Identified, budget: Budget) -> Context:
    """Return what expressions may know of an event."""
    moment = None if event.interval is None else event.interval.end
    return Context(budget=budget, event_id=event.id, moment=moment)


def described(
    targets: Iterable[NamedNode | Variable], bindings: Iterable[Binding], graph: EventGraph, budget: Budget
) -> frozenset[Triple]:
    """Return what the event graph says of some resources, and of the blank nodes that this leads to."""
    waiting: list[Term] = []
    for target in targets:
        found = [each.get(target.value) for each in bindings] if isinstance(target, Variable) else [target]
        waiting += (term for term in found if isinstance(term, NamedNode | BlankNode))
    seen, triples = set(waiting), set()
    while waiting:
        for triple in graph.by_subject.get(waiting.pop(), ()):
            budget.spend()
            triples.add(triple)
            if isinstance(triple.object, BlankNode) and triple.object not in seen:
                seen.add(triple.object)
                waiting.append(triple.object)
    return frozenset(triples)
