"""Disjunction, `A or B`: an instance of any operand.

With a window, two instances of different operands that fall into it make one composite (JTangCSPS, 4.1); so an instance
waits until no partner can come any more before it stands alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

from ontosub.composite.conditions import Conditions
from ontosub.composite.instance import Instance, Rows, composed, from_plain, joined, to_plain
from ontosub.composite.machine import Behaviour, Wait
from ontosub.composite.moments import FOREVER, ticks_of
from ontosub.composite.stateless import Stateless
from ontosub.composite.values import Values, from_stored
from ontosub.model.composite import Disjunction, Policy


def disjunction(pattern: Disjunction) -> Behaviour:
    """Return how a disjunction is run."""
    where = Conditions(pattern.where)
    if pattern.window is not None:
        window, consumes = ticks_of(pattern.window), pattern.policy is Policy.CONSUME
        return Behaviour(PairingMachine(window, where, consumes), delay=window)

    def passed(operand: int, instance: Instance) -> list[Instance]:
        rows = where.holding(instance.rows)
        return [_of((operand, instance), rows=rows)] if rows else []

    return Behaviour(Stateless(passed))


def _of(*chosen: tuple[int, Instance], rows: Rows) -> Instance:
    """Return the composite of instances of different operands, in the order of writing."""
    ordered = sorted(chosen, key=lambda pair: pair[0])
    identity = tuple((operand, instance.key) for operand, instance in ordered)
    return composed(tuple(instance for _, instance in ordered), rows, identity)


@dataclass(slots=True)
class _Single:
    """An instance that waits for a partner until `last`, and whether it has had one."""

    last: int
    operand: int
    instance: Instance
    is_paired: bool = False


class PairingMachine:
    """Holds instances until they have a partner or can have none any more. `_agenda` says whose time is over when."""

    def __init__(self, window: int, where: Conditions, consumes: bool) -> None:
        self._window, self._where, self._consumes = window, where, consumes
        self._held: dict[Values, list[_Single]] = {}
        self._agenda: list[tuple[int, Values]] = []
        self.due = FOREVER

    def takes(self, values: Values, operand: int) -> bool:
        """Every instance may stand alone."""
        return True

    def feed(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        """Pair the instance with one that waits (consume) or with all that fit (reuse)."""
        found = self.advance(instance.end - 1) if self.due < instance.end else []
        last = max(instance.end, min(instance.start + self._window, instance.expires))
        single = _Single(last, operand, instance)
        pairs = list(self._pairs(values, single))
        if self._consumes and pairs:
            [(other, pair), *_] = pairs
            self._held[values].remove(other)
            return [*found, pair]
        self._hold(values, single)
        for other, _ in pairs:
            other.is_paired = single.is_paired = True
        return [*found, *(pair for _, pair in pairs)]

    def _hold(self, values: Values, single: _Single) -> None:
        self._held.setdefault(values, []).append(single)
        heappush(self._agenda, (single.last, values))
        self.due = self._agenda[0][0]

    def _pairs(self, values: Values, single: _Single) -> Iterator[tuple[_Single, Instance]]:
        operand, instance = single.operand, single.instance
        for other in self._held.get(values, ()):
            waiting = other.instance
            short = instance.end - min(instance.start, waiting.start) <= self._window
            alive = instance.end <= min(waiting.expires, instance.expires)
            another = waiting.label is None or waiting.label != instance.label
            if other.operand != operand and another and short and alive:
                rows = self._where.holding(joined(waiting.rows, instance.rows))
                if rows:
                    yield other, _of((other.operand, waiting), (operand, instance), rows=rows)

    def advance(self, moment: int) -> list[Instance]:
        """Let those stand alone for which no partner can come any more."""
        found = []
        while self._agenda and self._agenda[0][0] <= moment:
            _, values = heappop(self._agenda)
            held = self._held.pop(values, [])
            for single in held:
                if single.last <= moment and not single.is_paired:
                    rows = self._where.holding(single.instance.rows)
                    found += [_of((single.operand, single.instance), rows=rows)] if rows else []
            left = [single for single in held if single.last > moment]
            if left:
                self._held[values] = left
        self.due = self._agenda[0][0] if self._agenda else FOREVER
        return found

    def forget(self, moment: int) -> None:
        """All that wait may still become composites."""

    def live(self) -> dict[Values, int]:
        """Return how many wait for a partner."""
        return {values: len(held) for values, held in self._held.items() if held}

    def waiting(self) -> Iterator[tuple[Values, Wait]]:
        """Yield those that wait for a partner."""
        for values, held in self._held.items():
            for single in held:
                yield values, Wait((single.instance,), (), single.last)

    def state(self) -> list[Any]:
        """Return who waits, and whether they had a partner."""
        return [
            [values, single.last, single.operand, to_plain(single.instance), single.is_paired]
            for values, held in self._held.items()
            for single in held
        ]

    def restore(self, state: list[Any]) -> None:
        """Have those wait that a state says, and no others."""
        self._held, self._agenda, self.due = {}, [], FOREVER
        for values, last, operand, plain, is_paired in state:
            self._hold(from_stored(values), _Single(last, operand, from_plain(plain), is_paired))
