"""Iteration, `A times n` and `A times *`: instances of one operand in a row, each within the window of the former.

An open iteration ends when its window passes without another member; a closed one as soon as it has its number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ontosub.composite.conditions import Conditions, aggregated
from ontosub.composite.instance import Instance, composed, from_plain, to_plain
from ontosub.composite.machine import Behaviour, Wait
from ontosub.composite.moments import FOREVER, ticks_of
from ontosub.model.composite import COUNT_MAX, Aggregate, Iteration, Policy


@dataclass(frozen=True, slots=True)
class Plan:
    """What is the same for all machines of an iteration."""

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
    if pattern.count is None:
        return Behaviour(lambda key: OpenMachine(plan, key), delay=window)
    return Behaviour(lambda key: CountingMachine(plan, key))


class _Run:
    """The members so far. A member that is outlived leaves, and with it all before it: what is left is in a row."""

    __slots__ = ("_plan", "_row", "due", "members", "scheduled")

    def __init__(self, plan: Plan, key: tuple[str, ...]) -> None:
        self._plan = plan
        self._row = dict(zip(plan.names, key, strict=True))
        self.members: list[Instance] = []
        self.due = self.scheduled = FOREVER

    def live(self) -> int:
        """Return how many members there are."""
        return len(self.members)

    def state(self) -> Any:
        """Return the members."""
        return [to_plain(member) for member in self.members]

    def restore(self, state: Any) -> None:
        """Take over members."""
        self.members = [from_plain(plain) for plain in state]
        self._reckon()

    def _outlive(self, moment: int) -> None:
        for number in range(len(self.members) - 1, -1, -1):
            if self.members[number].expires < moment:
                del self.members[: number + 1]
                return

    def _composed(self, members: list[Instance]) -> list[Instance]:
        row = {**self._row, **aggregated(self._plan.aggregates, members)}
        rows = self._plan.where.holding((row,))
        return [composed(tuple(members), rows)] if rows else []

    def _reckon(self) -> None:
        """Note the last moment at which another member can come."""
        self.due = min(FOREVER, self.members[-1].end + self._plan.window) if self.members else FOREVER


class CountingMachine(_Run):
    """Counts to n."""

    __slots__ = ()

    def feed(self, operand: int, instance: Instance) -> list[Instance]:
        """Add a member; the last n are a composite, if the conditions hold for them."""
        if self.members and self._last() < instance.end:
            self.members = []
        count = self._plan.count or 1
        self._outlive(instance.end)
        self.members.append(instance)
        found: list[Instance] = []
        if len(self.members) == count:
            found = self._composed(self.members)
            self.members = [] if found and self._plan.consumes else self.members[1:]
        self._reckon()
        return found

    def _last(self) -> int:
        """Return the last moment at which another member can come, before the members are outlived."""
        last = self.members[-1]
        return min(last.end + self._plan.window, last.expires)

    def _reckon(self) -> None:
        """Note when to forget the members. It can wait a little, so that many are forgotten together."""
        if not self.members:
            self.due = FOREVER
        elif self.due == FOREVER:
            patience = self._plan.window // 2 + 1 if self._plan.window < FOREVER else 1
            last = self._last() + patience
            self.due = min(FOREVER, last - last % patience)

    def advance(self, moment: int) -> list[Instance]:
        """Forget the members when their time is over."""
        if self.members and self._last() <= moment:
            self.members = []
        self.due = FOREVER
        self._reckon()
        return []

    def waiting(self) -> Iterator[Wait]:
        """Yield the members so far."""
        if self.members:
            yield Wait(tuple(self.members), (0,), self._last())


class OpenMachine(_Run):
    """Goes on as long as members come."""

    __slots__ = ()

    def feed(self, operand: int, instance: Instance) -> list[Instance]:
        """Add a member to the run, or begin another. A run that has become too long ends at once."""
        found = self.advance(instance.end - 1)
        self._outlive(instance.end)
        self.members.append(instance)
        self._reckon()
        if len(self.members) == COUNT_MAX:
            found += self._ended()
        return found

    def advance(self, moment: int) -> list[Instance]:
        """End the run when no other member can come in time."""
        return self._ended() if self.due <= moment else []

    def _ended(self) -> list[Instance]:
        members, self.members = self.members, []
        self._reckon()
        return self._composed(members)

    def waiting(self) -> Iterator[Wait]:
        """Yield the run so far: it is told when no other member comes."""
        if self.members:
            yield Wait(tuple(self.members), (0,), self.due, absence=True)
