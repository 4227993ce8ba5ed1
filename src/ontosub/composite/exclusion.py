"""Negation beside an event, `A and not B within T`: no instance of B ends in the window after the end of A.

What counts is single answers: those answers of A are left out with which an answer of some B agrees.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from ontosub.composite.conditions import Conditions
from ontosub.composite.instance import Instance, Rows, composed, from_plain, joined, to_plain
from ontosub.composite.machine import Behaviour, Wait
from ontosub.composite.moments import FOREVER, ticks_of
from ontosub.model.composite import Exclusion


def exclusion(pattern: Exclusion) -> Behaviour:
    """Return how an exclusion is run."""
    window, where, alike = ticks_of(pattern.window), Conditions(pattern.where), pattern.operand == pattern.excluded
    return Behaviour(lambda key: ExclusionMachine(window, where, alike), delay=window, openers=frozenset({0}))


class ExclusionMachine:
    """Holds instances of A, with the answers that no B has excluded yet, until their windows are over."""

    __slots__ = ("_alike", "_held", "_where", "_window", "due", "scheduled")

    def __init__(self, window: int, where: Conditions, alike: bool) -> None:
        self._window, self._where, self._alike = window, where, alike
        self._held: deque[tuple[Instance, Rows]] = deque()
        self.due = self.scheduled = FOREVER

    def feed(self, operand: int, instance: Instance) -> list[Instance]:
        """Hold an instance of A; let one of B exclude those that are held. When A and B are alike, do both."""
        found = self.advance(instance.end - 1) if self.due < instance.end else []
        if operand == 1 or self._alike:
            left = ((held, self._left(held, rows, instance)) for held, rows in self._held)
            self._held = deque(entry for entry in left if entry[1])
        if operand == 0:
            self._held.append((instance, instance.rows))
        self._reckon()
        return found

    def _left(self, held: Instance, rows: Rows, excluding: Instance) -> Rows:
        if held.end == excluding.end:
            return rows
        return tuple([row for row in rows if not self._where.holding(joined((row,), excluding.rows))])

    def advance(self, moment: int) -> list[Instance]:
        """Give those whose windows are over."""
        found = []
        while self._held and self._held[0][0].end + self._window <= moment:
            instance, rows = self._held.popleft()
            found.append(composed((instance,), rows))
        self._reckon()
        return found

    def _reckon(self) -> None:
        self.due = self._held[0][0].end + self._window if self._held else FOREVER

    def live(self) -> int:
        """Return how many instances are held."""
        return len(self._held)

    def waiting(self) -> Iterator[Wait]:
        """Yield each instance of A for which B may still come."""
        for instance, _ in self._held:
            yield Wait((instance,), (1,), instance.end + self._window, absence=True)

    def state(self) -> Any:
        """Return what is held, and with which answers."""
        return [[to_plain(instance), list(rows)] for instance, rows in self._held]

    def restore(self, state: Any) -> None:
        """Hold what a state says."""
        self._held = deque((from_plain(plain), tuple(rows)) for plain, rows in state)
        self._reckon()
