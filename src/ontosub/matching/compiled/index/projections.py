"""Which registers the answers of an index's entries show, and under which names: looked up once, and remembered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ontosub.matching.compiled.index.ragged import starts_of

Array = NDArray[Any]

Shown = list[tuple[int, str]]
"""Registers, and the names of the variables that they stand for."""


class Projected(NamedTuple):
    """How many registers each row shows, where they begin, which they are, and the numbers of their names."""

    lengths: Array
    starts: Array
    registers: Array
    names: Array


class Projections:
    """The projections of so many entries, as `shown` tells them when they are first asked for."""

    def __init__(self, count: int, shown: Callable[[int], Shown]) -> None:
        self._count, self._shown = count, shown
        self._row: Array = np.empty(0, np.int32)
        self._numbers: dict[str, int] = {}
        self.table = Projected(*(np.empty(0, np.int64) for _ in Projected._fields))

    @property
    def names(self) -> pa.Array:
        """The names of all variables that were asked for, by number."""
        return pa.array(list(self._numbers), pa.string())

    def rows(self, entries: Array) -> Array:
        """Return where in `table` the projections of entries are."""
        if not len(self._row):
            self._row = np.full(self._count, -1, np.int32)
        rows = self._row[entries]
        if (rows < 0).any():
            self._look_up(np.unique(entries[rows < 0]))
            rows = self._row[entries]
        return rows

    def _look_up(self, entries: Array) -> None:
        shown = [self._shown(entry) for entry in entries.tolist()]
        told = self.table
        self._row[entries] = len(told.lengths) + np.arange(len(entries), dtype=np.int32)
        lengths = np.append(told.lengths, [len(each) for each in shown]).astype(np.int64)
        registers = [register for each in shown for register, _ in each]
        names = [self._numbers.setdefault(name, len(self._numbers)) for each in shown for _, name in each]
        self.table = Projected(
            lengths,
            starts_of(lengths),
            np.append(told.registers, np.array(registers, np.int64)),
            np.append(told.names, np.array(names, np.int64)),
        )
