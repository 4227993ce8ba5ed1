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
from ontosub.model.composite import OPERANDS_MAX, Operator, Primitive, operands_of
from ontosub.model.scope import correlating

Values: TypeAlias = tuple[str, ...] | str
"""The values of the correlating variables; of a single one, the value itself."""
Entry: TypeAlias = tuple[int, int, int, Key, Instance]
"""An instance that has come, as it is ordered: end, start, operand, key."""


class Node:
    """Runs one operator of one or more composite subscriptions.

    `rank` orders nodes: operands come before what is made of them. `delay` is how long after the end of an instance of
    its operands it may not be known yet; `answer_delay` the same of its own instances. `inbox` is what has come and is
    not looked at yet; a leaf, all of whose operands are primitive, needs none, because matches are in order already.
    `first_due` is the first moment at which a machine is to be told the time; `scheduled` and `is_ready` belong to the
    network.
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
        self.first_due = FOREVER
        self.is_leaf = all(isinstance(operand, Primitive) for operand in operands_of(pattern))
        self._make = behaviour.make
        self._openers = frozenset(range(OPERANDS_MAX)) if behaviour.openers is None else behaviour.openers
        self._names = correlating(pattern)
        self._name = self._names[0] if len(self._names) == 1 else None
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
            found += self.feed(entry[2], entry[4])
        return found + self._advance(moment) if self.first_due <= moment else found

    def due(self) -> int:
        """Return the watermark at which there is something to do next."""
        waiting = self.inbox[0][0] if self.inbox else FOREVER
        return min(FOREVER, min(waiting, self.first_due) + self.delay)

    def feed(self, operand: int, instance: Instance) -> list[Instance]:
        """Take in the next instance in canonical order; return what it completes."""
        values: Values = ()
        if self._names:
            rows = instance.rows
            if self._name is None or len(rows) > 1 or self._name not in rows[0]:
                return self._feed_divided(operand, instance)
            values = rows[0][self._name]
        machine = self._machines.get(values)
        if machine is None:
            if operand not in self._openers:
                return []
            machine = self._machines[values] = self._make(_tuple(values))
        found = machine.feed(operand, instance)
        if machine.due < machine.scheduled or machine.due == FOREVER:
            self._settle(values, machine)
        return found

    def _feed_divided(self, operand: int, instance: Instance) -> list[Instance]:
        """Take in the next instance, once for each combination of values of the correlating variables."""
        found: list[Instance] = []
        for values, part in divided(instance, self._names):
            key = values if self._name is None else values[0]
            machine = self._machines.get(key)
            if machine is None:
                if operand not in self._openers:
                    continue
                machine = self._machines[key] = self._make(values)
            found += machine.feed(operand, part)
            self._settle(key, machine)
        return found

    def _settle(self, values: Values, machine: Machine) -> None:
        """Have a machine told the time when it wants to be; forget one that holds nothing and never wants to."""
        if machine.due < machine.scheduled:
            machine.scheduled = machine.due
            heappush(self._due, (machine.due, values))
            self.first_due = self._due[0][0]
        elif machine.due == FOREVER and not machine.live():
            del self._machines[values]

    def _advance(self, moment: int) -> list[Instance]:
        found: list[Instance] = []
        while self._due and self._due[0][0] <= moment:
            due, values = heappop(self._due)
            machine = self._machines.get(values)
            if machine is not None and machine.scheduled == due:
                machine.scheduled = FOREVER
                found += machine.advance(moment)
                self._settle(values, machine)
        self.first_due = self._due[0][0] if self._due else FOREVER
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
                yield dict(zip(self._names, _tuple(values), strict=True)), wait

    def state(self) -> dict[str, Any]:
        """Return all that is held, as lists, texts and numbers."""
        machines = [
            [list(_tuple(values)), machine.state()] for values, machine in self._machines.items() if machine.live()
        ]
        return {"inbox": [[entry[2], to_plain(entry[4])] for entry in self.inbox], "machines": machines}

    def restore(self, state: dict[str, Any]) -> None:
        """Hold what a state says, and nothing else."""
        self._machines, self._due, self.inbox, self.first_due = {}, [], [], FOREVER
        for operand, plain in state["inbox"]:
            self.put(operand, from_plain(plain))
        for plain, held in state["machines"]:
            machine = self._make(tuple(plain))
            machine.restore(held)
            values = tuple(plain) if self._name is None else plain[0]
            self._machines[values] = machine
            self._settle(values, machine)
        self.inbox.sort()

    def put(self, operand: int, instance: Instance) -> None:
        """Let an instance of an operand wait to be looked at."""
        key = instance.key
        self.inbox.append((key[0], key[1], operand, key, instance))


def _tuple(values: Values) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else values


def divided(instance: Instance, names: tuple[str, ...]) -> list[tuple[tuple[str, ...], Instance]]:
    """Return the instance once for each combination of values of the variables, with the answers that have these.

    An answer that does not bind all of them takes no part.
    """
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in instance.rows:
        values = tuple([row[name] for name in names if name in row])
        if len(values) == len(names):
            groups.setdefault(values, []).append(row)
    if len(instance.rows) == 1:
        return [(values, instance) for values in groups]
    return [(values, instance.with_rows(tuple(rows), "\x1e".join(values))) for values, rows in sorted(groups.items())]
