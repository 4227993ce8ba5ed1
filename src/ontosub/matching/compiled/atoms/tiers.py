"""Machines that are dear to build, kept up to date while things are added: few, each much larger than the next.

What is new goes into a small machine of its own; it is built together with its elder once that is not more than twice
its size. So there are at most as many machines as a logarithm says, and each thing is built in about as many times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

GROWTH = 2
"""How many times larger an elder machine is."""

Item = TypeVar("Item")
Machine = TypeVar("Machine")


class Tiers(Generic[Item, Machine]):
    """Machines over things that were added; nothing is built before it is asked for."""

    def __init__(self, build: Callable[[list[Item]], Machine]) -> None:
        self._build = build
        self._new: list[Item] = []
        self._tiers: list[tuple[list[Item], Machine]] = []

    def add(self, item: Item) -> None:
        """Add a thing."""
        self._new.append(item)

    def machines(self) -> list[Machine]:
        """Return the machines, which together have all things."""
        if self._new:
            items, self._new = self._new, []
            while self._tiers and len(self._tiers[-1][0]) <= GROWTH * len(items):
                items = self._tiers.pop()[0] + items
            self._tiers.append((items, self._build(items)))
        return [machine for _, machine in self._tiers]
