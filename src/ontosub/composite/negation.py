"""Negation, `not A within T`: a window in which no instance of the operand ends.

A window begins where the subscription does, and at the end of each instance; a silence is told once, when the window
is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ontosub.composite.agenda import Agenda
from ontosub.composite.conditions import Conditions
from ontosub.composite.instance import Instance
from ontosub.composite.machine import Behaviour, Wait
from ontosub.composite.moments import FOREVER, ticks_of
from ontosub.composite.values import Values, from_stored, row_of
from ontosub.model.composite import Negation


def negation(pattern: Negation, origin: int | None, lifetime: int) -> Behaviour:
    """Return how a negation is run; without `per`, the first window begins at `origin`, if that is known."""
    machine = SilenceMachine(ticks_of(pattern.window), Conditions(pattern.where), pattern.per, lifetime)
    if origin is not None and not pattern.per:
        machine.begin((), origin)
    return Behaviour(machine)


class SilenceMachine:
    """Knows since when there was no instance, as long as the window is open."""

    def __init__(self, window: int, where: Conditions, names: tuple[str, ...], lifetime: int) -> None:
        self._window, self._where, self._names, self._lifetime = window, where, names, lifetime
        self._since: dict[Values, int] = {}
        self._agenda = Agenda()
        self.due = FOREVER

    def begin(self, values: Values, moment: int) -> None:
        """Let a window begin, the former one of these values notwithstanding."""
        self._since[values] = moment
        self._agenda.note(values, moment + self._window)
        self.due = self._agenda.due

    def gate(self, operand: int) -> None:
        """Every instance begins a window."""

    def feed(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        """End the window, and begin another."""
        found = self.advance(instance.end - 1) if self.due < instance.end else []
        if self._where.holding(instance.rows):
            self.begin(values, instance.end)
        return found

    def advance(self, moment: int) -> list[Instance]:
        """Tell of the silences whose windows are over."""
        found = []
        for values in self._agenda.take(moment):
            end = self._since[values] + self._window
            if end > moment:
                self._agenda.note(values, end)
                continue
            row = row_of(self._names, values)
            expires, tag = min(FOREVER, end + self._lifetime), "\x1e".join(row.values())
            found.append(Instance(self._since.pop(values), end, (row,), (), expires=expires, tag=tag))
        self.due = self._agenda.due
        return found

    def forget(self, moment: int) -> None:
        """Each open window may still be a silence."""

    def live(self) -> dict[Values, int]:
        """Return which windows are open."""
        return dict.fromkeys(self._since, 1)

    def waiting(self) -> Iterator[tuple[Values, Wait]]:
        """Yield the open windows."""
        for values, since in self._since.items():
            yield values, Wait((), (0,), since + self._window, absence=True)

    def state(self) -> list[Any]:
        """Return when the open windows began."""
        return [[values, since] for values, since in self._since.items()]

    def restore(self, state: list[Any]) -> None:
        """Have the open windows that a state says, and no others."""
        self._since, self._agenda, self.due = {}, Agenda(), FOREVER
        for values, since in state:
            self.begin(from_stored(values), since)
