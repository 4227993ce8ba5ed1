"""Negation beside an event, `A and not B within T`: no instance of B ends in the window after the end of A.

What counts is single answers: those answers of A are left out with which an answer of some B agrees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ontosub.composite.agenda import Agenda
from ontosub.composite.conditions import Conditions
from ontosub.composite.instance import Instance, Row, Rows, composed, from_plain, joined, to_plain
from ontosub.composite.machine import Behaviour, Wait
from ontosub.composite.moments import FOREVER, ticks_of
from ontosub.composite.values import Values, from_stored
from ontosub.composite.work import Work
from ontosub.model.composite import Exclusion


def exclusion(pattern: Exclusion) -> Behaviour:
    """Return how an exclusion is run."""
    window, alike, work = ticks_of(pattern.window), pattern.operand == pattern.excluded, Work()
    return Behaviour(ExclusionMachine(window, Conditions(pattern.where), alike, work), delay=window, work=work)


class ExclusionMachine:
    """Holds instances of A, with the answers that no B has excluded yet, until their windows are over.

    An answer that cannot be compared with all answers of a B, because there are too many, counts as excluded.
    """

    def __init__(self, window: int, where: Conditions, alike: bool, work: Work) -> None:
        self._window, self._where, self._alike, self._work = window, where, alike, work
        self._held: dict[Values, list[tuple[Instance, Rows]]] = {}
        self._agenda = Agenda()
        self.due = FOREVER

    def gate(self, operand: int) -> Mapping[Values, object] | None:
        """B means something only to an A."""
        return None if operand == 0 else self._held

    def feed(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        """Hold an instance of A; let one of B exclude those that are held. When A and B are alike, do both."""
        found = self.advance(instance.end - 1) if self.due < instance.end else []
        if (operand == 1 or self._alike) and values in self._held:
            self._exclude(values, instance)
        if operand == 0:
            self._hold(values, instance, instance.rows)
        return found

    def _hold(self, values: Values, instance: Instance, rows: Rows) -> None:
        held = self._held.get(values)
        if held is None:
            self._held[values] = [(instance, rows)]
        else:
            held.append((instance, rows))
        self._agenda.note(values, instance.end + self._window)
        self.due = self._agenda.due

    def _exclude(self, values: Values, excluding: Instance) -> None:
        limit = self._work.limit()
        left = [(held, self._left(held, rows, excluding, limit)) for held, rows in self._held.pop(values)]
        left = [entry for entry in left if entry[1]]
        if left:
            self._held[values] = left

    def _left(self, held: Instance, rows: Rows, excluding: Instance, limit: int) -> Rows:
        if held.end == excluding.end:
            return rows
        others = excluding.rows
        return tuple([row for row in rows if self._work.take(len(others), limit) and not self._agrees(row, others)])

    def _agrees(self, row: Row, others: Rows) -> bool:
        return any(self._where.holding(joined((row,), (other,))) for other in others)

    def advance(self, moment: int) -> list[Instance]:
        """Give those whose windows are over."""
        found = []
        for values in self._agenda.take(moment):
            held, over = self._held.get(values, []), 0
            while over < len(held) and held[over][0].end + self._window <= moment:
                instance, rows = held[over]
                found.append(composed((instance,), rows))
                over += 1
            del held[:over]
            if held:
                self._agenda.note(values, held[0][0].end + self._window)
            else:
                self._held.pop(values, None)
        self.due = self._agenda.due
        return found

    def forget(self, moment: int) -> None:
        """All that is held may still become a composite."""

    def live(self) -> dict[Values, int]:
        """Return how many instances of A are held."""
        return {values: len(held) for values, held in self._held.items()}

    def waiting(self) -> Iterator[tuple[Values, Wait]]:
        """Yield each instance of A for which B may still come."""
        for values, held in self._held.items():
            for instance, _ in held:
                yield values, Wait((instance,), (1,), instance.end + self._window, absence=True)

    def state(self) -> list[Any]:
        """Return what is held, and with which answers."""
        return [[values, to_plain(instance), rows] for values, held in self._held.items() for instance, rows in held]

    def restore(self, state: list[Any]) -> None:
        """Hold what a state says, and nothing else."""
        self._held.clear()
        self._agenda, self.due = Agenda(), FOREVER
        for values, plain, rows in state:
            self._hold(from_stored(values), from_plain(plain), tuple(rows))
