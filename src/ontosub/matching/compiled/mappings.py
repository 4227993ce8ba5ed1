"""From rows to mappings: what the walk found becomes answers, and what it left open is decided.

Rows of one pattern have the same form, so they are handled together, column by column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.index.part import Part, Rows
from ontosub.matching.compiled.index.registers import bound_vertices, property_variables, property_vertices
from ontosub.matching.compiled.lane import Arrival
from ontosub.model import Binding, GraphPattern
from ontosub.model.errors import LimitError
from ontosub.model.terms import PatternTerm, Term, Variable
from ontosub.semantics.context import Context
from ontosub.semantics.expressions import holds

Array = NDArray[Any]

_Column: TypeAlias = tuple[PatternTerm, Callable[[int], Term]]
"""What stands in a column of a row, and how to get at its term."""


class Mappings:
    """The mappings of one event to the patterns of a part."""

    def __init__(self, part: Part, arrival: Arrival) -> None:
        self._part = part
        self._arrival = arrival
        self._terms = _Remembered(arrival.encoded.term)
        self._properties = _Remembered(arrival.encoded.property)

    def exist(self, rows: Rows, limit: int) -> bool | None:
        """Say whether any of the rows holds; None when more were left open than may be looked at, and do not hold."""
        if not rows.is_open.all():
            return True
        holds_of = self._holds_of(self._part.pattern(rows.pattern))
        try:
            for count, values in enumerate(dict.fromkeys(map(tuple, rows.values.tolist()))):
                if count == limit:
                    return None
                if holds_of(values):
                    return True
        except LimitError:
            return None
        return False

    def holding(self, rows: Rows) -> Array:
        """Say which rows of a pattern hold: those that the kernel was sure of, and those that are found to hold now.

        Several ways of one pattern may give the same mapping, some of them open: it holds once. Raises LimitError when
        it costs too much to tell.
        """
        holds_ = ~rows.is_open
        if not rows.is_open.any():
            return holds_
        holds_of = self._holds_of(self._part.pattern(rows.pattern))
        known = set(map(tuple, rows.values[holds_].tolist()))
        for row in np.flatnonzero(rows.is_open).tolist():
            values = tuple(rows.values[row].tolist())
            if values not in known and holds_of(values):
                known.add(values)
                holds_[row] = True
        return holds_

    def _holds_of(self, pattern: GraphPattern) -> Callable[[tuple[int, ...]], bool]:
        """Return what decides a row that was left open. All rows of a pattern share a budget."""
        context = Context()
        columns, unplaced = self._columns(pattern), property_vertices(pattern)

        def holds_of(values: tuple[int, ...]) -> bool:
            mu: dict[PatternTerm, Term] = {}
            for (term, lookup), value in zip(columns, values, strict=True):
                image = lookup(value)
                if mu.setdefault(term, image) != image:
                    return False
            if unplaced and pattern.injective and len({mu[v.term] for v in pattern.vertices}) < len(pattern.vertices):
                return False
            if not all(v.classes <= self._arrival.graph().classes(mu[v.term]) for v in unplaced):
                return False
            binding = {term: image for term, image in mu.items() if isinstance(term, Variable)}
            return all(holds(condition.expression, binding, context) for condition in pattern.filters)

        return holds_of

    def bindings(self, rows: Rows) -> list[Binding]:
        """Return the answers that the rows of a pattern give."""
        values = rows.values[self.holding(rows)]
        pattern = self._part.pattern(rows.pattern)
        column = {term: (number, lookup) for number, (term, lookup) in reversed([*enumerate(self._columns(pattern))])}
        shown = [variable for variable in pattern.projected if variable in column]
        if not shown:
            return [Binding() for _ in range(len(values))]
        names = [variable.value for variable in shown]
        columns = [map(lookup, values[:, number].tolist()) for number, lookup in (column[each] for each in shown)]
        return [Binding(zip(names, answer, strict=True)) for answer in zip(*columns, strict=True)]

    def _columns(self, pattern: GraphPattern) -> list[_Column]:
        """Return the columns of a pattern's rows: vertices, then property variables."""
        return [
            *((vertex.term, self._terms.__getitem__) for vertex in bound_vertices(pattern)),
            *((variable, self._properties.__getitem__) for variable in property_variables(pattern)),
        ]


class _Remembered(dict[int, Term]):
    """Terms by number, each looked up once."""

    def __init__(self, look_up: Callable[[int], Term]) -> None:
        super().__init__()
        self._look_up = look_up

    def __missing__(self, number: int) -> Term:
        term = self[number] = self._look_up(number)
        return term
