"""The part of a SPARQL subscription that only a full evaluation can decide: Oxigraph, on the entailed event graph."""

from __future__ import annotations

from ontosub.languages.sparql.construction import template_of
from ontosub.languages.sparql.parser import parse_query
from ontosub.languages.sparql.printer import print_query
from ontosub.languages.sparql.syntax import (
    Construct,
    Describe,
    Group,
    Projected,
    Query,
    Select,
)
from ontosub.matching.answers import construct
from ontosub.matching.class_tests import IsImplied, with_class_tests
from ontosub.matching.event_store import EventStore, try_out
from ontosub.matching.path_choices import with_path_choices
from ontosub.matching.spellings import computed_names, with_spellings
from ontosub.matching.spread import GROWING, Spread, growth_of
from ontosub.model import Match
from ontosub.model.errors import LanguageError, LimitError
from ontosub.semantics.event_graph import EventGraph

GROWTH_MAX = 10_000
"""By how much a query may lengthen a string."""

COMBINATIONS_MAX = 20_000_000
"""How many combinations of triples a query may go through on one event: Oxigraph makes a few million in a second."""


def is_certainly_taken(text: str) -> bool:
    """Say, much faster than by making a Residual of it, whether there will be no complaint about a query."""
    if any(name in text for name in GROWING):
        return False
    try:
        try_out(text)
    except (SyntaxError, RuntimeError):
        return False
    return True


class Residual:
    """A SPARQL query made ready to be evaluated on event graphs."""

    def __init__(self, text: str, is_implied: IsImplied) -> None:
        parsed = parse_query(text)
        if growth_of(parsed) > GROWTH_MAX:
            raise LanguageError(
                "the query could make strings longer than memory is large",
                hint="Use fewer CONCAT and REPLACE, or shorter replacements.",
                text=text,
            )
        self._spread = Spread(parsed, is_implied)
        self._computed = computed_names(parsed)
        query = with_spellings(with_class_tests(with_path_choices(parsed), is_implied), self._computed)
        self._describe = print_query(query) if isinstance(query, Describe) else None
        self._template = template_of(query) if isinstance(query, Construct) else None
        self._query = print_query(_solutions_of(query))
        self._try_out(text)

    def _try_out(self, text: str) -> None:
        """Refuse now what Oxigraph would refuse at the first event."""
        try:
            for query in filter(None, (self._query, self._describe)):
                try_out(query)
        except (SyntaxError, RuntimeError) as error:
            raise LanguageError(
                "the query is well formed, but Oxigraph, which evaluates it, does not take it",
                hint=f"It says: {str(error).splitlines()[0]}.",
                text=text,
            ) from None

    def match(self, subscription_id: str, graph: EventGraph) -> Match | None:
        """Return the query's answers, with the graph that a CONSTRUCT or DESCRIBE makes of them; None without any."""
        if self._spread.exceeds(COMBINATIONS_MAX, graph):
            raise LimitError(f"the query would combine too many triples of event {graph.event.id!r}")
        store = EventStore(graph)
        bindings = store.solutions(self._query, self._computed)
        if not bindings:
            return None
        made = None if self._template is None else construct(self._template, bindings)
        if self._describe is not None:
            made = store.description(self._describe)
        return Match(subscription_id, graph.event.id, bindings, made, graph.event.interval)


def _solutions_of(query: Query) -> Query:
    """Return the query whose solutions a CONSTRUCT or DESCRIBE is made from; any other query itself."""
    if not isinstance(query, Construct | Describe):
        return query
    # Of grouped solutions only the keys are left.
    keys = tuple(Projected(key.variable) for key in query.modifiers.group_by if key.variable is not None)
    where = query.where or Group()
    return Select(keys or None, where, modifiers=query.modifiers, values=query.values, base=query.base)
