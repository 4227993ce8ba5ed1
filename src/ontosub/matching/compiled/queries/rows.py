"""Rows of numbers that stand for solutions, and where in them what is found.

All rows of one *scope*, a SELECT or the pattern of an EXISTS, have the same places: first what the scope sees of the
solution around it, then one place for each constant, variable and blank node. A place is UNBOUND until something binds
it. A row is a list that nobody changes once others have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, TypeVar

from ontosub.matching.compiled.queries.arcs import Arcs, NamedArcs
from ontosub.matching.compiled.queries.paths import Paths
from ontosub.matching.compiled.queries.terms import UNBOUND, Terms, text_of
from ontosub.model.pattern import is_constant
from ontosub.model.terms import PatternTerm, Resource, Term
from ontosub.semantics.context import Context
from ontosub.semantics.event_graph import EventGraph

Row = list[int]
R = TypeVar("R", bound=Sequence[int])

_ROW_BYTES, _CELL_BYTES = 90, 8
"""About what a row takes, and each place in it."""


@dataclass(frozen=True, slots=True)
class End:
    """Where the value of a term of a pattern is: in its own place, else, if it has one, in that of what is seen."""

    place: int
    seen: int

    def getter(self) -> Callable[[Row], int]:
        """Return what gives the number of the term in a row, or UNBOUND."""
        place, seen = self.place, self.seen
        if place == seen:
            return itemgetter(place)

        def value(row: Row) -> int:
            return row[seen] if row[place] == UNBOUND else row[place]

        return value


class Scope:
    """The places of the rows of one scope. They are given out while its operators are made."""

    def __init__(self, sees: Iterable[PatternTerm] = ()) -> None:
        self._places: dict[PatternTerm, int] = {}
        self._constants: list[tuple[int, bytes, Term]] = []
        self.seen: dict[PatternTerm, int] = {}
        self.size = 0
        for term in sees:
            self.seen[term] = self._new()

    def _new(self) -> int:
        self.size += 1
        return self.size - 1

    def place(self, term: PatternTerm) -> int:
        """Return the place of a term."""
        place = self._places.get(term)
        if place is None:
            place = self._places[term] = self._new()
            if is_constant(term):
                self._constants.append((place, text_of(term), term))
        return place

    def end(self, term: PatternTerm) -> End:
        """Return where the value of a term is."""
        place = self.place(term)
        return End(place, self.seen.get(term, place))

    def places(self, terms: Iterable[PatternTerm]) -> list[int]:
        """Return the places of terms."""
        return [self.place(term) for term in terms]

    def ends(self, terms: Iterable[PatternTerm]) -> list[End]:
        """Return where the values of terms are."""
        return [self.end(term) for term in terms]

    def unit(self, terms: Terms, seen: Iterable[int] = ()) -> Row:
        """Return the row in which nothing is bound but what is constant or seen."""
        row = [UNBOUND] * self.size
        for place, text, term in self._constants:
            row[place] = terms.number(text, term)
        if self.seen:
            row[: len(self.seen)] = seen
        return row


class Facts:
    """An event as queries see it: its terms, its graph, and its named graphs. All queries about the event share it."""

    def __init__(self, terms: Terms, arcs: Arcs, named: Callable[[], Mapping[Resource, EventGraph]]) -> None:
        self.terms = terms
        self.arcs = arcs
        self._named = named

    @cached_property
    def named(self) -> dict[int, Arcs]:
        """The named graphs, by the numbers of their names."""
        return {self.terms.number_of(name): NamedArcs(graph, self.terms) for name, graph in self._named().items()}


class Run:
    """One evaluation of a scope: on which graph, from which row, within which budget."""

    __slots__ = ("_paths", "arcs", "context", "core", "facts", "kept", "spend", "terms", "unit")

    def __init__(self, facts: Facts, arcs: Arcs, context: Context, unit: Row, core: list[Row] | None = None) -> None:
        self.facts = facts
        self.terms = facts.terms
        self.arcs = arcs
        self.context = context
        self.unit = unit
        self.spend = context.budget.spend
        self.core = core
        """What the index found for the core of the query, if it did."""
        self._paths: Paths | None = None
        self.kept: dict[object, Any] = {}
        """What operators keep from one row to the next, by operator."""

    @property
    def paths(self) -> Paths:
        """The paths of the graph."""
        if self._paths is None:
            self._paths = Paths(self.arcs, self.context.budget)
        return self._paths

    def hold(self, row: R) -> R:
        """Return the row, after counting what it takes to keep it."""
        self.context.budget.hold(_ROW_BYTES + _CELL_BYTES * len(row))
        return row

    def inside(self, scope: Scope, seen: Iterable[int]) -> Run:
        """Return the evaluation of a scope inside this one, which sees some values of it."""
        return Run(self.facts, self.arcs, self.context, scope.unit(self.terms, seen))

    def on(self, arcs: Arcs) -> Run:
        """Return the evaluation of the same scope on another graph."""
        return Run(self.facts, arcs, self.context, self.unit)
