"""A query made ready to be answered on events in numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ontosub.matching.compiled.queries.operators import selection
from ontosub.matching.compiled.queries.rows import Facts, Run, Scope
from ontosub.matching.compiled.queries.terms import UNBOUND
from ontosub.model import Binding
from ontosub.model.algebra import Query
from ontosub.semantics.context import Context


class Plan:
    """The operators of a query. Nothing in it belongs to an event."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self._scope = Scope()
        self._selected = selection(query.selection, self._scope)
        self._names = [variable.value for variable in query.selection.projection]

    def answers(self, facts: Facts, context: Context) -> Iterator[Binding]:
        """Yield the answers to the query. Raises LimitError when the budget of the context is spent."""
        run = Run(facts, facts.arcs, context, self._scope.unit(facts.terms))
        term = facts.terms.term
        for values in self._selected(run):
            pairs = zip(self._names, values, strict=True)
            yield Binding((name, term(value)) for name, value in pairs if value != UNBOUND)
