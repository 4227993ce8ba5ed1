"""Iteration, `A times n` and `A times *`: instances of one operand in a row, each within the window of the former.

An open iteration ends when its window passes without another member; a closed one as soon as it has its number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ontosub.composite.conditions import Conditions, aggregated
from ontosub.composite.fading import Fading
from ontosub.composite.instance import Instance, composed, from_plain, to_plain
from ontosub.composite.machine import Behaviour, Wait
from ontosub.composite.moments import FOREVER, ticks_of
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
    window = FOREVER if pattern.window is None else ticks_of(pattern.window)
    consumes = pattern.policy is Policy.CONSUME
    plan = Plan(pattern.count, window, pattern.per, pattern.aggregates, Conditions(pattern.where), consumes)
    return Behaviour(OpenMachine(plan), delay=window) if plan.count is None else Behaviour(CountingMachine(plan))


class _Runs:
    """The members so far. A member that is outlived leaves, and with it all before it: what is left is in a row."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._members: dict[Values, list[Instance]] = {}

    def takes(self, values: Values, operand: int) -> bool:
        """Every instance may be a member."""
        return True

    def live(self) -> dict[Values, int]:
        """Return how many members there are."""
        return {values: len(members) for values, members in self._members.items()}

    def state(self) -> list[Any]:
        """Return the members."""
        return [[values, list(map(to_plain, members))] for values, members in self._members.items()]

    def _joined_by(self, instance: Instance, members: list[Instance]) -> list[Instance]:
        """Return the members that are left when another comes, and that one."""
        for number in range(len(members) - 1, -1, -1):
            if members[number].expires < instance.end:
                return [*members[number + 1 :], instance]
        members.append(instance)
        return members

    def _composed(self, values: Values, members: list[Instance]) -> list[Instance]:
        row = row_of(self._plan.names, values) | aggregated(self._plan.aggregates, members)
        rows = self._plan.where.holding((row,))
        return [composed(tuple(members), rows)] if rows else []


class CountingMachine(_Runs):
    """Counts to n."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._fading = Fading()
        self.due = FOREVER

    def feed(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        """Add a member; the last n are a composite, if the conditions hold for them."""
        members = self._members.get(values, [])
        if members and self._last(members) < instance.end:
            members = []
        members = self._joined_by(instance, members)
        found: list[Instance] = []
        if len(members) == self._plan.count:
            found = self._composed(values, members)
            members = [] if found and self._plan.consumes else members[1:]
        if members:
            self._members[values] = members
            if self._fading.hold(self._last(members)):
                self.forget(instance.end - 1)
        else:
            self._members.pop(values, None)
        self.due = self._fading.due
        return found

    def _last(self, members: list[Instance]) -> int:
        """Return the last moment at which another member can come, before the members are outlived."""
        last = members[-1]
        return min(last.end + self._plan.window, last.expires, FOREVER)

    def advance(self, moment: int) -> list[Instance]:
        """Forget members whose time is over."""
        self.forget(moment)
        return []

    def forget(self, moment: int) -> None:
        """Forget members that nothing can follow in time."""
        self._members = {values: each for values, each in self._members.items() if self._last(each) > moment}
        self._fading.looked(len(self._members), max(map(self._last, self._members.values()), default=FOREVER))
        self.due = self._fading.due

    def waiting(self) -> Iterator[tuple[Values, Wait]]:
        """Yield the members so far."""
        for values, members in self._members.items():
            yield values, Wait(tuple(members), (0,), self._last(members))

    def restore(self, state: list[Any]) -> None:
        """Have the members that a state says, and no others."""
        self._members = {from_stored(values): list(map(from_plain, members)) for values, members in state}
        self.forget(-FOREVER)


class OpenMachine(_Runs):
    """Goes on as long as members come.

    Members come in the order of their ends, and so end the windows after them: `_queue` has the values of each.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._queue: deque[tuple[int, Values]] = deque()
        self.due = FOREVER

    def feed(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        """Add a member to the run, or begin another. A run that has become too long ends at once."""
        found = self.advance(instance.end - 1) if self.due < instance.end else []
        members = self._members[values] = self._joined_by(instance, self._members.get(values, []))
        if len(members) == COUNT_MAX:
            found += self._composed(values, self._members.pop(values))
        else:
            self._expect(values, instance)
        return found

    def _expect(self, values: Values, member: Instance) -> None:
        """Note the last moment at which another member can come."""
        self._queue.append((member.end + self._plan.window, values))
        self.due = self._queue[0][0]

    def advance(self, moment: int) -> list[Instance]:
        """End the runs for which no other member can come in time."""
        found, queue = list[Instance](), self._queue
        while queue and queue[0][0] <= moment:
            end, values = queue.popleft()
            members = self._members.get(values)
            if members is not None and members[-1].end + self._plan.window == end:
                found += self._composed(values, self._members.pop(values))
        self.due = queue[0][0] if queue else FOREVER
        return found

    def forget(self, moment: int) -> None:
        """All runs may still become composites."""

    def waiting(self) -> Iterator[tuple[Values, Wait]]:
        """Yield the runs so far: they are told when no other member comes."""
        for values, members in self._members.items():
            yield values, Wait(tuple(members), (0,), members[-1].end + self._plan.window, absence=True)

    def restore(self, state: list[Any]) -> None:
        """Have the members that a state says, and no others."""
        self._members = {from_stored(values): list(map(from_plain, members)) for values, members in state}
        self._queue, self.due = deque(), FOREVER
        for values, members in sorted(self._members.items(), key=lambda run: run[1][-1].end):
            self._expect(values, members[-1])
