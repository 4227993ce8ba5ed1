"""An operator at work in a network: it divides what comes by the values of its correlating variables.

A node sees the instances of its operands in canonical order, however late each of them is known. To this end it looks
at an instance only when those of all operands that end before it are known: `delay` after its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from ontosub.composite.instance import EVENTS_MAX, Instance, Key, Row, from_plain, to_plain
from ontosub.composite.machine import Behaviour, Wait
from ontosub.composite.moments import FOREVER
from ontosub.composite.values import divided, row_of
from ontosub.model.composite import Operator, Primitive, operands_of
from ontosub.model.scope import correlating

Entry: TypeAlias = tuple[int, int, int, Key, Instance]
"""An instance that has come, as it is ordered: end, start, operand, key."""


class Node:
    """Runs one operator of one or more composite subscriptions.

    `rank` orders nodes: operands come before what is made of them. `delay` is how long after the end of an instance of
    its operands it may not be known yet; `answer_delay` the same of its own instances. `inbox` is what has come and is
    not looked at yet; a leaf, all of whose operands are primitive, needs none, because matches are in order already.
    `scheduled` and `is_ready` belong to the network.
    """

    def __init__(self, pattern: Operator, behaviour: Behaviour, rank: int, delay: int) -> None:
        self.pattern = pattern
        self.rank = rank
        self.delay = delay
        self.answer_delay = delay + behaviour.delay
        self.machine = behaviour.machine
        self.work = behaviour.work
        self.parents: list[tuple[Node, int]] = []
        self.subscribers: list[str] = []
        self.inbox: list[Entry] = []
        self.is_ready = False
        self.scheduled = FOREVER
        self.is_leaf = all(isinstance(operand, Primitive) for operand in operands_of(pattern))
        self.names = correlating(pattern)

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
        if self.machine.due <= moment:
            found += self.machine.advance(moment)
        # A leaf has operands of one event each, and no more of them than there may be.
        return found if self.is_leaf else self._small(found)

    def _small(self, found: list[Instance]) -> list[Instance]:
        """Return the instances that are not too large; each of the others is an overrun."""
        small = [instance for instance in found if instance.size <= EVENTS_MAX]
        self.work.overruns += len(found) - len(small)
        return small

    def due(self) -> int:
        """Return the watermark at which there is something to do next."""
        waiting = self.inbox[0][0] if self.inbox else FOREVER
        return min(FOREVER, min(waiting, self.machine.due) + self.delay)

    def feed(self, operand: int, instance: Instance) -> list[Instance]:
        """Take in the next instance in canonical order; return what it completes."""
        found: list[Instance] = []
        gate = self.machine.gate(operand)
        for values, part in divided(instance, self.names) if self.names else [((), instance)]:
            if gate is None or values in gate:
                found += self.machine.feed(values, operand, part)
        return found

    def forget(self, watermark: int) -> None:
        """Forget all that means nothing any more when everything that ends by the watermark is known."""
        self.machine.forget(watermark - self.delay)

    def live(self) -> tuple[int, int]:
        """Return how many instances are held, those that are not looked at yet included, and for how many values."""
        held = self.machine.live()
        return len(self.inbox) + sum(held.values()), len(held)

    def waiting(self) -> Iterator[tuple[Row, Wait]]:
        """Yield what is waited for, with the values of the correlating variables."""
        for values, wait in self.machine.waiting():
            yield row_of(self.names, values), wait

    def state(self) -> dict[str, Any]:
        """Return all that is held, as lists, texts and numbers."""
        inbox = [[entry[2], to_plain(entry[4])] for entry in self.inbox]
        return {"inbox": inbox, "machine": self.machine.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Hold what a state says, and nothing else."""
        self.inbox = []
        for operand, plain in state["inbox"]:
            self.put(operand, from_plain(plain))
        self.inbox.sort()
        self.machine.restore(state["machine"])

    def put(self, operand: int, instance: Instance) -> None:
        """Let an instance of an operand wait to be looked at."""
        key = instance.key
        self.inbox.append((key[0], key[1], operand, key, instance))
