"""Disjunction, `A or B`: an instance of any operand.

With a window, two instances of different operands that fall into it make one composite (JTangCSPS, 4.1); so an instance
waits until no partner can come any more before it stands alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ontosub.composite.conditions import Conditions
from ontosub.composite.instance import Instance, Rows, composed, from_plain, joined, to_plain
from ontosub.composite.machine import Behaviour, Wait
from ontosub.composite.moments import FOREVER, ticks_of
from ontosub.composite.stateless import Stateless
from ontosub.model.composite import Disjunction, Policy


def disjunction(pattern: Disjunction) -> Behaviour:
    """Return how a disjunction is run."""
    where = Conditions(pattern.where)
    if pattern.window is not None:
        window, consumes = ticks_of(pattern.window), pattern.policy is Policy.CONSUME
        return Behaviour(lambda key: PairingMachine(window, where, consumes), delay=window)

    def passed(operand: int, instance: Instance) -> list[Instance]:
        rows = where.holding(instance.rows)
        return [_of((operand, instance), rows=rows)] if rows else []

    return Behaviour(lambda key: Stateless(passed))


def _of(*chosen: tuple[int, Instance], rows: Rows) -> Instance:
    """Return the composite of instances of different operands, in the order of writing."""
    ordered = sorted(chosen, key=lambda pair: pair[0])
    identity = tuple((operand, instance.key) for operand, instance in ordered)
    return composed(tuple(instance for _, instance in ordered), rows, identity)


class PairingMachine:
    """Holds instances until they have a partner or can have none any more."""

    __slots__ = ("_consumes", "_held", "_paired", "_where", "_window", "due", "scheduled")

    def __init__(self, window: int, where: Conditions, consumes: bool) -> None:
        self._window, self._where, self._consumes = window, where, consumes
        self._held: list[tuple[int, int, Instance]] = []  # the last moment for a partner, operand, instance
        self._paired: set[int] = set()  # the ids of held instances that have had one
        self.due = self.scheduled = FOREVER

    def feed(self, operand: int, instance: Instance) -> list[Instance]:
        """Pair the instance with one that waits (consume) or with all that fit (reuse)."""
        found = self.advance(instance.end - 1)
        entry = (max(instance.end, min(instance.start + self._window, instance.expires)), operand, instance)
        pairs = list(self._pairs(entry))
        if self._consumes and pairs:
            [(other, pair), *_] = pairs
            self._held.remove(other)
            self._reckon()
            return [*found, pair]
        self._held.append(entry)
        self._reckon()
        for other, _ in pairs:
            self._paired |= {id(other[2]), id(instance)}
        return [*found, *(pair for _, pair in pairs)]

    def _pairs(self, entry: tuple[int, int, Instance]) -> Iterator[tuple[tuple[int, int, Instance], Instance]]:
        _, operand, instance = entry
        for other in self._held:
            _, others, waiting = other
            short = instance.end - min(instance.start, waiting.start) <= self._window
            another = waiting.label is None or waiting.label != instance.label
            if others != operand and another and short and instance.end <= min(waiting.expires, instance.expires):
                rows = self._where.holding(joined(waiting.rows, instance.rows))
                if rows:
                    yield other, _of((others, waiting), (operand, instance), rows=rows)

    def advance(self, moment: int) -> list[Instance]:
        """Let those stand alone for which no partner can come any more."""
        found, kept = [], []
        for entry in self._held:
            last, operand, instance = entry
            if last > moment:
                kept.append(entry)
            elif id(instance) in self._paired:
                self._paired.discard(id(instance))
            elif rows := self._where.holding(instance.rows):
                found.append(_of((operand, instance), rows=rows))
        self._held = kept
        self._reckon()
        return found

    def _reckon(self) -> None:
        self.due = min([last for last, _, _ in self._held], default=FOREVER)

    def live(self) -> int:
        """Return how many wait for a partner."""
        return len(self._held)

    def waiting(self) -> Iterator[Wait]:
        """Yield those that wait for a partner."""
        for last, _, instance in self._held:
            yield Wait((instance,), (), last)

    def state(self) -> Any:
        """Return who waits, and whether they had a partner."""
        return [[last, operand, to_plain(each), id(each) in self._paired] for last, operand, each in self._held]

    def restore(self, state: Any) -> None:
        """Take over who waits."""
        self._held = [(last, operand, from_plain(plain)) for last, operand, plain, _ in state]
        paired = [entry[3] for entry in state]
        self._paired = {id(entry[2]) for entry, had in zip(self._held, paired, strict=True) if had}
        self._reckon()
