"""The part of a SPARQL subscription that only a full evaluation can decide: Oxigraph, on the entailed event graph.

Oxigraph's store keeps some literals by value: "3.50" comes back as "3.5", an xsd:int as an xsd:integer. A notification
should speak in the event's own terms, so answers are given the event's spelling wherever it is unambiguous. Values
that the query computes are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from pyoxigraph import Quad, QueryBoolean, QuerySolutions, QueryTriples, Store

from ontosub.languages.sparql.parser import parse_query
from ontosub.languages.sparql.printer import print_query
from ontosub.languages.sparql.syntax import (
    Bind,
    Construct,
    Describe,
    Group,
    Occurrence,
    Projected,
    Query,
    Select,
    TriplePattern,
    Values,
    walk,
)
from ontosub.matching.answers import construct
from ontosub.matching.class_tests import IS_A, IsImplied, with_class_tests
from ontosub.matching.spread import growth_of, spread_of
from ontosub.model import Arc, Binding, Match
from ontosub.model.errors import LanguageError, LimitError
from ontosub.model.terms import Literal, NamedNode, Term, Triple, Variable
from ontosub.semantics.event_graph import EventGraph

ANSWERS_MAX = 1_000_000
"""How many answers a query may have on one event."""

GROWTH_MAX = 10_000
"""By how much a query may lengthen a string."""

COMBINATIONS_MAX = 100_000_000
"""How many combinations of triples the unjoined parts of a query may have on one event."""


class Residual:
    """A SPARQL query made ready to be evaluated on event graphs."""

    def __init__(self, text: str, is_implied: IsImplied) -> None:
        parsed = parse_query(text)
        query = with_class_tests(parsed, is_implied)
        self._spread = spread_of(parsed)
        if growth_of(parsed) > GROWTH_MAX:
            raise LanguageError(
                "the query could make strings longer than memory is large",
                hint="Use fewer CONCAT and REPLACE, or shorter replacements.",
                text=text,
            )
        self._computed = _computed_names(query)
        self._describe = print_query(query) if isinstance(query, Describe) else None
        self._template = _template(query)
        self._query = print_query(_solutions_of(query))
        self._try_out(text)

    def _try_out(self, text: str) -> None:
        """Refuse now what Oxigraph would refuse at the first event."""
        try:
            for query in filter(None, (self._query, self._describe)):
                Store().query(query, custom_functions={IS_A: lambda *_: None})
        except (SyntaxError, RuntimeError) as error:
            raise LanguageError(
                "the query is well formed, but Oxigraph, which evaluates it, does not take it",
                hint=f"It says: {str(error).splitlines()[0]}.",
                text=text,
            ) from None

    def match(self, subscription_id: str, graph: EventGraph) -> Match | None:
        """Return the query's answers, with the graph that a CONSTRUCT or DESCRIBE makes of them; None without any."""
        if len(graph.triples) ** self._spread > COMBINATIONS_MAX:
            raise LimitError(f"the query has {self._spread} unjoined parts, too many for event {graph.event.id!r}")
        asking = _Asking(graph)
        bindings = asking.solutions(self._query, self._computed)
        if not bindings:
            return None
        made = None if self._template is None else construct(self._template, bindings)
        if self._describe is not None:
            made = asking.description(self._describe)
        return Match(subscription_id, graph.event.id, bindings, made, graph.event.interval)


class _Asking:
    """An event graph inside Oxigraph."""

    def __init__(self, graph: EventGraph) -> None:
        self._store = Store()
        self._store.extend(Quad(triple.subject, triple.predicate, triple.object) for triple in graph.triples)
        self._store.extend(graph.event.named_graphs)
        self._graph = graph
        self._spelling = _spellings(graph.vertices)

    def solutions(self, query: str, computed: frozenset[str]) -> list[Binding]:
        result = self._store.query(query, custom_functions={IS_A: self._is_a})
        if isinstance(result, QueryBoolean):
            return [Binding()] if result else []
        assert isinstance(result, QuerySolutions)  # noqa: S101 - a query for solutions gives nothing else
        names = [variable.value for variable in result.variables]
        solutions: list[Binding] = []
        for row in result:
            if len(solutions) == ANSWERS_MAX:
                raise LimitError(f"the query has more than {ANSWERS_MAX:,} answers on event {self._graph.event.id!r}")
            terms = ((name, term) for name, term in zip(names, row, strict=True) if term is not None)
            spelt = {name: term if name in computed else self._spelt(term) for name, term in terms}
            solutions.append(Binding(spelt))
        return solutions

    def description(self, query: str) -> frozenset[Triple]:
        result = self._store.query(query, custom_functions={IS_A: self._is_a})
        assert isinstance(result, QueryTriples)  # noqa: S101 - DESCRIBE gives nothing else
        return frozenset(Triple(triple.subject, triple.predicate, self._spelt(triple.object)) for triple in result)

    def _is_a(self, vertex: Term, class_: Term) -> Literal:
        return Literal(class_ in self._graph.classes(self._spelt(vertex)))

    def _spelt(self, term: Term) -> Term:
        return self._spelling.get(term, term)


def _solutions_of(query: Query) -> Query:
    """Return the query whose solutions a CONSTRUCT or DESCRIBE is made from; any other query itself."""
    if not isinstance(query, Construct | Describe):
        return query
    # Of grouped solutions only the keys are left.
    keys = tuple(Projected(key.variable) for key in query.modifiers.group_by if key.variable is not None)
    where = query.where or Group()
    return Select(keys or None, where, modifiers=query.modifiers, values=query.values, base=query.base)


def _template(query: Query) -> tuple[Arc, ...] | None:
    if not isinstance(query, Construct):
        return None
    return tuple(_arc(triple) for triple in query.template)


def _arc(triple: TriplePattern) -> Arc:
    verb = triple.verb
    assert isinstance(verb, Occurrence) and isinstance(verb.term, NamedNode | Variable)  # noqa: S101, PT018 - no paths
    return Arc(triple.subject.term, verb.term, triple.object.term)


def _computed_names(query: Query) -> frozenset[str]:
    """Return the variables whose values come from the query, not from the event."""
    computed: list[Occurrence | None] = []
    for node in walk(query):
        if isinstance(node, Bind) or (isinstance(node, Projected) and node.expression is not None):
            computed.append(node.variable)
        elif isinstance(node, Values):
            computed.extend(node.variables)
    return frozenset(found.term.value for found in computed if found and isinstance(found.term, Variable))


def _spellings(vertices: Iterable[Term]) -> dict[Term, Term]:
    """Map each literal as the store has it to the event's own, where there is only one."""
    own: dict[Term, list[Term]] = {}
    for term in vertices:
        if isinstance(term, Literal):
            own.setdefault(as_stored(term), []).append(term)
    return {stored: terms[0] for stored, terms in own.items() if len(terms) == 1}


@lru_cache(maxsize=10_000)
def as_stored(literal: Literal) -> Term:
    """Return the literal as Oxigraph's store gives it back."""
    store = Store()
    store.add(Quad(IS_A, IS_A, literal))
    quad: Quad = next(iter(store))
    return quad.object
