"""An operator at work in a network: a machine for each value of its correlating variables.

A node sees the instances of its operands in canonical order, however late each of them is known. To this end it looks
at an instance only when those of all operands that end before it are known: `delay` after its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, TypeAlias

from ontosub.composite.instance import Instance, Key, Row, from_plain, to_plain
from ontosub.composite.machine import Behaviour, Machine, Wait
from ontosub.composite.moments import FOREVER
from ontosub.model.composite import Operator
from ontosub.model.scope import correlating

Values: TypeAlias = tuple[str, ...]
"""The values of the correlating variables."""
Entry: TypeAlias = tuple[int, int, int, Key, Instance]
"""An instance that has come, as it is ordered: end, start, operand, key."""


class Node:
    """Runs one operator of one or more composite subscriptions.

    `rank` orders nodes: operands come before what is made of them. `delay` is how long after the end of an instance of
    its operands it may not be known yet; `answer_delay` the same of its own instances. `inbox` is what has come and is
    not looked at yet; `scheduled` and `is_ready` belong to the network.
    """

    def __init__(self, pattern: Operator, behaviour: Behaviour, rank: int, delay: int) -> None:
        self.pattern = pattern
        self.rank = rank
        self.delay = delay
        self.answer_delay = delay + behaviour.delay
        self.work = behaviour.work
        self.parents: list[tuple[Node, int]] = []
        self.subscribers: list[str] = []
        self.inbox: list[Entry] = []
        self.is_ready = False
        self.scheduled = FOREVER
        self._make = behaviour.make
        self._names = correlating(pattern)
        self._machines: dict[Values, Machine] = {}
        self._due: list[tuple[int, Values]] = []
        if behaviour.first is not None:
            self._machines[()] = behaviour.first()
            self._settle((), self._machines[()])

    def run(self, watermark: int) -> list[Instance]:
        """Do all that can be done when everything that ends by the watermark is known; return new instances."""
        moment = watermark - self.delay
        inbox = self.inbox
        if len(inbox) > 1:
            inbox.sort()
        self.inbox = []
        found: list[Instance] = []
        for number, entry in enumerate(inbox):
            if entry[0] > moment:
                self.inbox = inbox[number:]
                break
            found += self._feed(entry[2], entry[4])
        return found + self._advance(moment) if self._due and self._due[0][0] <= moment else found

    def due(self) -> int:
        """Return the watermark at which there is something to do next."""
        waiting = self.inbox[0][0] if self.inbox else FOREVER
        first = self._due[0][0] if self._due else FOREVER
        return min(FOREVER, min(waiting, first) + self.delay)

    def _feed(self, operand: int, instance: Instance) -> list[Instance]:
        rows = instance.rows
        if not self._names:
            return self._feed_one((), operand, instance)
        if len(rows) == 1:
            values = _values(rows[0], self._names)
            return [] if values is None else self._feed_one(values, operand, instance)
        found: list[Instance] = []
        for values, part in divided(instance, self._names):
            found += self._feed_one(values, operand, part)
        return found

    def _feed_one(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        machine = self._machines.get(values)
        if machine is None:
            machine = self._machines[values] = self._make(values)
        found = machine.feed(operand, instance)
        self._settle(values, machine)
        return found

    def _settle(self, values: Values, machine: Machine) -> None:
        """Forget a machine that holds nothing; have another told the time when it wants to be."""
        due = machine.due()
        if due < machine.scheduled:
            machine.scheduled = due
            heappush(self._due, (due, values))
        elif due == FOREVER and not machine.live():
            del self._machines[values]

    def _advance(self, moment: int) -> list[Instance]:
        found: list[Instance] = []
        while self._due and self._due[0][0] <= moment:
            due, values = heappop(self._due)
            machine = self._machines.get(values)
            if machine is not None and machine.scheduled == due:
                found += machine.advance(moment)
                machine.scheduled = FOREVER
                self._settle(values, machine)
        return found

    @property
    def live(self) -> int:
        """How many instances are held, those included that have come and are not looked at yet."""
        return len(self.inbox) + sum(machine.live() for machine in self._machines.values())

    @property
    def machines(self) -> int:
        """How many values of the correlating variables something is held for."""
        return len(self._machines)

    def waiting(self) -> Iterator[tuple[Row, Wait]]:
        """Yield what is waited for, with the values of the correlating variables."""
        for values, machine in self._machines.items():
            for wait in machine.waiting():
                yield dict(zip(self._names, values, strict=True)), wait

    def state(self) -> dict[str, Any]:
        """Return all that is held, as lists, texts and numbers."""
        machines = [[list(values), machine.state()] for values, machine in self._machines.items() if machine.live()]
        return {"inbox": [[entry[2], to_plain(entry[4])] for entry in self.inbox], "machines": machines}

    def restore(self, state: dict[str, Any]) -> None:
        """Hold what a state says, and nothing else."""
        self._machines, self._due, self.inbox = {}, [], []
        for operand, plain in state["inbox"]:
            self.put(operand, from_plain(plain))
        for values, held in state["machines"]:
            machine = self._machines[tuple(values)] = self._make(tuple(values))
            machine.restore(held)
            self._settle(tuple(values), machine)
        self.inbox.sort()

    def put(self, operand: int, instance: Instance) -> None:
        """Let an instance of an operand wait to be looked at."""
        key = instance.key
        self.inbox.append((key[0], key[1], operand, key, instance))


def _values(row: Row, names: tuple[str, ...]) -> Values | None:
    try:
        return tuple([row[name] for name in names])
    except KeyError:
        return None


def divided(instance: Instance, names: tuple[str, ...]) -> list[tuple[Values, Instance]]:
    """Return the instance once for each combination of values of the variables, with the answers that have these.

    An answer that does not bind all of them takes no part.
    """
    groups: dict[Values, list[Row]] = {}
    for row in instance.rows:
        values = _values(row, names)
        if values is not None:
            groups.setdefault(values, []).append(row)
    return [(values, instance.with_rows(tuple(rows), "\x1e".join(values))) for values, rows in sorted(groups.items())]
