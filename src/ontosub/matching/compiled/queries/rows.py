"""Rows of numbers that stand for solutions, and where in them what is found.

A table of rows holds solutions of many subscriptions that ask for the same in the same form, about several events: the
first place of a row says whose it is, its *owner*, a subscription on an event. All rows of one *scope*, a SELECT or the
pattern of an EXISTS, have the same places: then comes what the scope sees of the solution around it, then one place for
each variable and blank node, and those where operators mark rows. A place is UNBOUND until something binds it.
Constants differ from owner to owner and are kept beside the rows; their places are negative. Nobody changes a table
once others have it, but for its own mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.queries.arcs import Arcs, NamedArcs
from ontosub.matching.compiled.queries.facts import Facts
from ontosub.matching.compiled.queries.lifting import slot_of
from ontosub.matching.compiled.queries.terms import UNBOUND
from ontosub.model.errors import LimitError
from ontosub.model.pattern import is_constant
from ontosub.model.terms import PatternTerm
from ontosub.semantics.context import Context

Array = NDArray[Any]
Rows: TypeAlias = NDArray[np.int32]
"""A table of rows."""

OWNER = 0

_TABLE_BYTES, _CELL_BYTES = 200, 4
"""About what a table takes, and each place in it."""

_GROWTH = 3
"""How many times the bytes of a table are taken while it grows: kernels copy it to one of twice the size."""

_ROW_BYTES, _ITEM_BYTES = 90, 8
"""About what a row takes that is kept as a list or tuple, and each place in it."""


class Kind(Enum):
    """As what a constant is looked up: a term, a property, a class, or nothing, which UNDEF stands for."""

    TERM = auto()
    PROPERTY = auto()
    CLASS = auto()
    NOTHING = auto()


@dataclass(frozen=True, slots=True)
class End:
    """Where the value of a term of a pattern is: in its own place, else, if it has one, in that of what is seen."""

    place: int
    seen: int


class Constants:
    """The constants of a plan, each by what it is looked up as."""

    def __init__(self) -> None:
        self.asked: dict[tuple[Kind, Any], int] = {}

    def place(self, kind: Kind, constant: Any) -> int:
        """Return the place of a constant."""
        return ~self.asked.setdefault((kind, constant), len(self.asked))


class Scope:
    """The places of the rows of one scope. They are given out while its operators are made."""

    def __init__(self, constants: Constants, sees: Iterable[PatternTerm] = ()) -> None:
        self.constants = constants
        self._places: dict[PatternTerm, int] = {}
        self.seen: dict[PatternTerm, int] = {}
        self.size = 1
        for term in sees:
            self.seen[term] = self.mark()

    def mark(self) -> int:
        """Return a new place, where an operator may mark rows."""
        self.size += 1
        return self.size - 1

    def place(self, term: PatternTerm) -> int:
        """Return the place of a term."""
        if is_constant(term):
            return self.constants.place(Kind.TERM, slot_of(term))
        place = self._places.get(term)
        if place is None:
            place = self._places[term] = self.mark()
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

    def units(self, count: int) -> Rows:
        """Return a row for each of so many owners in which nothing is bound."""
        units = np.full((count, self.size), UNBOUND, np.int32)
        units[:, OWNER] = np.arange(count)
        return units


class Owners(NamedTuple):
    """What is known of each owner: its event, by its place among all, the vertices of that, constants, and slots."""

    events: Array
    ranges: Rows
    constants: Rows
    slots: Sequence[Sequence[Any]]

    def at(self, places: Array) -> Owners:
        """Return owners that are each like one of these."""
        slots = [self.slots[place] for place in places.tolist()]
        return Owners(self.events[places], self.ranges[places], self.constants[places], slots)


class Run:
    """One evaluation of a scope for some owners: on which graph, from which rows, within which budget."""

    __slots__ = (
        "_scope",
        "_units",
        "arcs",
        "constants",
        "context",
        "core",
        "facts",
        "kept",
        "owners",
        "spend",
        "terms",
    )

    def __init__(
        self,
        facts: Facts,
        arcs: Arcs,
        context: Context,
        scope: Scope,
        owners: Owners,
    ) -> None:
        self.facts = facts
        self.terms = facts.terms
        self.arcs = arcs
        self.context = context
        self._scope = scope
        self._units: Rows | None = None
        self.owners = owners
        self.constants = owners.constants
        self.spend = context.budget.spend
        self.core: Rows | None = None
        """What the index found for the cores of the queries, if it did."""
        self.kept: dict[object, Any] = {}
        """What operators keep from one table to the next, by operator."""

    @property
    def units(self) -> Rows:
        """For each owner a row in which nothing is bound but what is seen."""
        if self._units is None:
            self._units = self._scope.units(len(self.owners.slots))
        return self._units

    @property
    def start(self) -> Rows:
        """The rows that the evaluation starts from: what the index found, else units."""
        return self.units if self.core is None else self.core

    @property
    def rows_max(self) -> int:
        """How many rows may still be made at once."""
        budget = self.context.budget
        return min(budget.steps, budget.bytes // (_GROWTH * _CELL_BYTES * self._scope.size))

    def made(self, rows: Rows, steps: int) -> Rows:
        """Return rows that took some steps to find, after counting both.

        Raises LimitError when a kernel took more steps than it was allowed, and gave no rows for that reason.
        """
        if steps > self.rows_max:
            raise LimitError("the subscription needs more rows on this event than it is allowed")
        self.spend(steps)
        self.context.budget.hold(_TABLE_BYTES + _CELL_BYTES * rows.size)
        return rows

    def hold(self, row: Sequence[int]) -> None:
        """Count what it takes to keep a row as a list."""
        self.context.budget.hold(_ROW_BYTES + _ITEM_BYTES * len(row))

    def column(self, rows: Rows, end: End) -> Array:
        """Return the values of a term in some rows."""
        place, seen = end.place, end.seen
        if place < 0:
            constants: Array = self.constants[rows[:, OWNER], ~place]
            return constants
        own: Array = rows[:, place]
        return own if place == seen else np.where(own == UNBOUND, rows[:, seen], own)

    @property
    def property_terms(self) -> Array:
        """The numbers, as terms, of the properties that arcs of the only event lead along."""
        return self.arcs.property_terms if isinstance(self.arcs, NamedArcs) else self.facts.property_terms(0)

    def events(self, rows: Rows) -> list[int]:
        """Return of which event each row is."""
        events: list[int] = self.owners.events[rows[:, OWNER]].tolist()
        return events

    def table(self, rows: list[list[int]]) -> Rows:
        """Return rows that were lists as a table."""
        return np.array(rows, np.int32).reshape(len(rows), self._scope.size)

    def inside(self, scope: Scope, owners: Array, seen: Sequence[Array]) -> Run:
        """Return the evaluation of a scope inside this one, for several owners that are each of one of this scope."""
        inside = Run(self.facts, self.arcs, self.context, scope, self.owners.at(owners))
        for place, values in zip(scope.seen.values(), seen, strict=True):
            inside.units[:, place] = values
        self.made(inside.units, len(owners))
        return inside

    def on(self, arcs: Arcs) -> Run:
        """Return the evaluation of the same scope on a named graph, whose vertices need not be those of the event."""
        ranges = np.tile(np.array([0, len(arcs.is_vertex)], np.int32), (len(self.owners.slots), 1))
        on = Run(self.facts, arcs, self.context, self._scope, self.owners._replace(ranges=ranges))
        on._units = self.units
        return on


def unified(run: Run, rows: Rows, pairs: Iterable[tuple[End, Array]]) -> Rows:
    """Return the rows in which each term can have the value that it is paired with, with that value.

    The rows are new ones, that nobody else has. A term that is paired with UNBOUND stays what it is.
    """
    fits = np.ones(len(rows), np.bool_)
    for end, values in pairs:
        free = values == UNBOUND
        if end.place < 0:
            fits &= free | (run.column(rows, end) == values)
            continue
        for place in {end.place, end.seen}:
            fits &= free | (rows[:, place] == UNBOUND) | (rows[:, place] == values)
        rows[:, end.place] = np.where(free, rows[:, end.place], values)
    return rows if fits.all() else rows[fits]
