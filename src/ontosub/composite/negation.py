"""Negation, `not A within T`: a window in which no instance of the operand ends.

A window begins where the subscription does, and at the end of each instance; a silence is told once, when the window
is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ontosub.composite.conditions import Conditions
from ontosub.composite.instance import Instance, Row
from ontosub.composite.machine import Behaviour, Wait
from ontosub.composite.moments import FOREVER, ticks_of
from ontosub.model.composite import Negation


def negation(pattern: Negation, origin: int | None, lifetime: int) -> Behaviour:
    """Return how a negation is run; without `per`, the first window begins at `origin`, if that is known."""
    window, where, names = ticks_of(pattern.window), Conditions(pattern.where), pattern.per

    def make(key: tuple[str, ...]) -> SilenceMachine:
        return SilenceMachine(window, where, dict(zip(names, key, strict=True)), lifetime)

    def first() -> SilenceMachine:
        machine = make(())
        machine.begin(origin)
        return machine

    return Behaviour(make, first=None if names or origin is None else first)


class SilenceMachine:
    """Knows since when there was no instance, as long as the window is open."""

    __slots__ = ("_lifetime", "_row", "_since", "_where", "_window", "due", "scheduled")

    def __init__(self, window: int, where: Conditions, row: Row, lifetime: int) -> None:
        self._window, self._where, self._row, self._lifetime = window, where, row, lifetime
        self._since: int | None = None
        self.due = self.scheduled = FOREVER

    def begin(self, moment: int | None) -> None:
        """Let a window begin, or none."""
        self._since = moment
        self.due = FOREVER if moment is None else moment + self._window

    def feed(self, operand: int, instance: Instance) -> list[Instance]:
        """End the window, and begin another."""
        found = self.advance(instance.end - 1)
        if self._where.holding(instance.rows):
            self.begin(instance.end)
        return found

    def advance(self, moment: int) -> list[Instance]:
        """Tell of the silence when its window is over."""
        if self._since is None or self._since + self._window > moment:
            return []
        start, end = self._since, self._since + self._window
        self.begin(None)
        tag = "\x1e".join(self._row.values())
        return [Instance(start, end, (self._row,), (), expires=min(FOREVER, end + self._lifetime), tag=tag)]

    def live(self) -> int:
        """Return how many windows are open."""
        return int(self._since is not None)

    def waiting(self) -> Iterator[Wait]:
        """Yield the open window."""
        if self._since is not None:
            yield Wait((), (0,), self._since + self._window, absence=True)

    def state(self) -> Any:
        """Return when the window began."""
        return self._since

    def restore(self, state: Any) -> None:
        """Take over an open window."""
        self.begin(state)
