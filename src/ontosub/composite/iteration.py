"""Iteration, `A times n` and `A times *`: instances of one operand in a row, each within the window of the former.

An open iteration ends when its window passes without another member; a closed one as soon as it has its number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ontosub.composite.agenda import Agenda
from ontosub.composite.conditions import Conditions, aggregated
from ontosub.composite.fading import Fading
from ontosub.composite.instance import Instance, composed, from_plain, to_plain
from ontosub.composite.machine import Behaviour, Wait
from ontosub.composite.moments import FOREVER, UNBOUNDED, ticks_of
from ontosub.composite.values import Values, from_stored, row_of
from ontosub.model.composite import COUNT_MAX, Aggregate, Iteration, Policy


@dataclass(frozen=True, slots=True)
class Plan:
    """What an iteration asks for."""

    count: int | None
    window: int
    names: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
    where: Conditions
    consumes: bool


def iteration(pattern: Iteration) -> Behaviour:
    """Return how an iteration is run."""
    window = UNBOUNDED if pattern.window is None else ticks_of(pattern.window)
    consumes = pattern.policy is Policy.CONSUME
    plan = Plan(pattern.count, window, pattern.per, pattern.aggregates, Conditions(pattern.where), consumes)
    return Behaviour(OpenMachine(plan), delay=window) if plan.count is None else Behaviour(CountingMachine(plan))


class _Row:
    """The members so far, in a row: one that is outlived leaves, and with it all before it.

    `expires` is when the first of them is outlived.
    """

    __slots__ = ("expires", "members")

    def __init__(self, first: Instance) -> None:
        self.members = [first]
        self.expires = first.expires

    def add(self, member: Instance) -> None:
        """Add a member, when those are gone that it outlives."""
        self.outlive(member.end)
        self.members.append(member)
        if member.expires < self.expires or len(self.members) == 1:
            self.expires = member.expires

    def outlive(self, moment: int) -> None:
        """Let those go that cannot be part of what ends then."""
        if self.expires < moment:
            left = next(n for n in range(len(self.members), 0, -1) if self.members[n - 1].expires < moment)
            self.drop(left)

    def drop(self, count: int) -> None:
        """Let the oldest go."""
        del self.members[:count]
        if self.expires < FOREVER or not self.members:
            self.expires = min([member.expires for member in self.members], default=FOREVER)


class _Rows:
    """The rows of all values."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rows: dict[Values, _Row] = {}

    def gate(self, operand: int) -> None:
        """Every instance may be a member."""

    def live(self) -> dict[Values, int]:
        """Return how many members there are."""
        return {values: len(row.members) for values, row in self._rows.items()}

    def state(self) -> list[Any]:
        """Return the members."""
        return [[values, list(map(to_plain, row.members))] for values, row in self._rows.items()]

    def _restore(self, state: list[Any]) -> None:
        self._rows = {}
        for values, members in state:
            first, *others = map(from_plain, members)
            row = self._rows[from_stored(values)] = _Row(first)
            for member in others:
                row.add(member)

    def _composed(self, values: Values, members: list[Instance]) -> list[Instance]:
        row = row_of(self._plan.names, values) | aggregated(self._plan.aggregates, members)
        rows = self._plan.where.holding((row,))
        return [composed(tuple(members), rows)] if rows else []


class CountingMachine(_Rows):
    """Counts to n."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._fading = Fading()
        self.due = FOREVER

    def feed(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        """Add a member; the last n are a composite, if the conditions hold for them."""
        row = self._rows.get(values)
        if row is None or self._last(row) < instance.end:
            row = self._rows[values] = _Row(instance)
        else:
            row.add(instance)
        found: list[Instance] = []
        if len(row.members) == self._plan.count:
            found = self._composed(values, row.members)
            row.drop(len(row.members) if found and self._plan.consumes else 1)
        if not row.members:
            del self._rows[values]
        elif self._fading.hold(self._last(row)):
            self.forget(instance.end - 1)
        self.due = self._fading.due
        return found

    def _last(self, row: _Row) -> int:
        """Return the last moment at which another member can come, before all members are outlived."""
        member = row.members[-1]
        last = member.end + self._plan.window
        return last if last < member.expires else member.expires

    def advance(self, moment: int) -> list[Instance]:
        """Forget rows whose time is over."""
        self.forget(moment)
        return []

    def forget(self, moment: int) -> None:
        """Forget members that nothing can follow in time."""
        latest, gone = -FOREVER, []
        for values, row in self._rows.items():
            last = self._last(row)
            if last <= moment:
                gone.append(values)
            else:
                row.outlive(moment + 1)
                latest = max(latest, last)
        for values in gone:
            del self._rows[values]
        self._fading.looked(len(self._rows), latest)
        self.due = self._fading.due

    def waiting(self) -> Iterator[tuple[Values, Wait]]:
        """Yield the members so far."""
        for values, row in self._rows.items():
            yield values, Wait(tuple(row.members), (0,), self._last(row))

    def restore(self, state: list[Any]) -> None:
        """Have the members that a state says, and no others."""
        self._restore(state)
        self.forget(-FOREVER)


class OpenMachine(_Rows):
    """Goes on as long as members come."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._agenda = Agenda()
        self.due = FOREVER

    def feed(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        """Add a member to the row, or begin another. A row that has become too long ends at once."""
        found = self.advance(instance.end - 1) if self.due < instance.end else []
        row = self._rows.get(values)
        if row is None:
            row = self._rows[values] = _Row(instance)
        else:
            row.add(instance)
        if len(row.members) == COUNT_MAX:
            found += self._composed(values, self._rows.pop(values).members)
        else:
            self._expect(values, row)
        return found

    def _expect(self, values: Values, row: _Row) -> None:
        """Note the last moment at which another member can come."""
        self._agenda.note(values, self._last(row))
        self.due = self._agenda.due

    def _last(self, row: _Row) -> int:
        return row.members[-1].end + self._plan.window

    def advance(self, moment: int) -> list[Instance]:
        """End the rows for which no other member can come in time."""
        found: list[Instance] = []
        for values in self._agenda.take(moment):
            row = self._rows.get(values)
            if row is not None and self._last(row) <= moment:
                found += self._composed(values, self._rows.pop(values).members)
            elif row is not None:
                self._agenda.note(values, self._last(row))
        self.due = self._agenda.due
        return found

    def forget(self, moment: int) -> None:
        """All rows may still become composites."""

    def waiting(self) -> Iterator[tuple[Values, Wait]]:
        """Yield the rows so far: they are told when no other member comes."""
        for values, row in self._rows.items():
            yield values, Wait(tuple(row.members), (0,), self._last(row), absence=True)

    def restore(self, state: list[Any]) -> None:
        """Have the members that a state says, and no others."""
        self._restore(state)
        self._agenda, self.due = Agenda(), FOREVER
        for values, row in self._rows.items():
            self._expect(values, row)
