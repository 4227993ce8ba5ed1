"""Disjunction, `A or B`: an instance of any operand.

With a window, two instances of different operands that fall into it make one composite (JTangCSPS, 4.1); so an instance
waits until no partner can come any more before it stands alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush, merge
from operator import itemgetter
from typing import Any

from ontosub.composite.conditions import Conditions
from ontosub.composite.instance import Instance, Rows, composed, from_plain, joined, to_plain
from ontosub.composite.machine import Behaviour, Wait
from ontosub.composite.moments import FOREVER, ticks_of
from ontosub.composite.stateless import Stateless
from ontosub.composite.values import Values, from_stored
from ontosub.composite.work import Work
from ontosub.model.composite import Disjunction, Policy


def disjunction(pattern: Disjunction) -> Behaviour:
    """Return how a disjunction is run."""
    where = Conditions(pattern.where)
    if pattern.window is not None:
        window, consumes = ticks_of(pattern.window), pattern.policy is Policy.CONSUME
        work = Work()
        return Behaviour(PairingMachine(window, where, consumes, work), delay=window, work=work)

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
    """Holds instances until they have a partner or can have none any more.

    They are held by value and operand, each under its number in the order of coming; `_order` says when which of them
    is to stand alone, those included that have found a partner meanwhile.
    """

    def __init__(self, window: int, where: Conditions, consumes: bool, work: Work) -> None:
        self._window, self._where, self._consumes, self._work = window, where, consumes, work
        self._held: dict[Values, dict[int, dict[int, _Single]]] = {}
        self._order: list[tuple[int, int, int, Values]] = []
        self._count = 0
        self.due = FOREVER

    def gate(self, operand: int) -> None:
        """Every instance may stand alone."""

    def feed(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        """Pair the instance with one that waits (consume) or with all that fit (reuse)."""
        found = self.advance(instance.end - 1) if self.due < instance.end else []
        pairs = self._pairs(values, operand, instance)
        if self._consumes:
            for number, other, pair in pairs:
                self._take(values, other.operand, number)
                return [*found, pair]
        last = max(instance.end, min(instance.start + self._window, instance.expires))
        single = _Single(last, operand, instance)
        for _, other, pair in pairs:
            other.is_paired = single.is_paired = True
            found.append(pair)
        self._hold(values, single)
        return found

    def _hold(self, values: Values, single: _Single) -> None:
        self._count += 1
        self._held.setdefault(values, {}).setdefault(single.operand, {})[self._count] = single
        heappush(self._order, (single.last, self._count, single.operand, values))
        self.due = self._order[0][0]

    def _take(self, values: Values, operand: int, number: int) -> _Single | None:
        """Hold an instance no longer; return it, if it was held."""
        by_operand = self._held.get(values, {})
        singles = by_operand.get(operand, {})
        single = singles.pop(number, None)
        if not singles:
            by_operand.pop(operand, None)
        if not by_operand:
            self._held.pop(values, None)
        return single

    def _pairs(self, values: Values, operand: int, instance: Instance) -> Iterator[tuple[int, _Single, Instance]]:
        """Yield the pairs of an instance with those that wait, the oldest first, each with the number of that one."""
        by_operand = self._held.get(values, {})
        others = [singles.items() for other, singles in by_operand.items() if other != operand]
        limit = self._work.limit()
        for number, single in merge(*others, key=itemgetter(0)):
            waiting = single.instance
            short = instance.end - min(instance.start, waiting.start) <= self._window
            alive = instance.end <= min(waiting.expires, instance.expires)
            another = waiting.label is None or waiting.label != instance.label
            if not self._work.take(1, limit):
                return
            if another and short and alive and self._work.take(len(waiting.rows) * len(instance.rows) - 1, limit):
                rows = self._where.holding(joined(waiting.rows, instance.rows))
                if rows:
                    yield number, single, _of((single.operand, waiting), (operand, instance), rows=rows)

    def advance(self, moment: int) -> list[Instance]:
        """Let those stand alone for which no partner can come any more."""
        found = []
        while self._order and self._order[0][0] <= moment:
            _, number, operand, values = heappop(self._order)
            single = self._take(values, operand, number)
            if single is not None and not single.is_paired:
                rows = self._where.holding(single.instance.rows)
                found += [_of((operand, single.instance), rows=rows)] if rows else []
        self.due = self._order[0][0] if self._order else FOREVER
        return found

    def forget(self, moment: int) -> None:
        """All that wait may still become composites."""

    def _all(self) -> Iterator[tuple[Values, _Single]]:
        """Yield those that wait, in the order of coming for each value."""
        for values, by_operand in self._held.items():
            for _, single in sorted(each for singles in by_operand.values() for each in singles.items()):
                yield values, single

    def live(self) -> dict[Values, int]:
        """Return how many wait for a partner."""
        return {values: sum(map(len, by_operand.values())) for values, by_operand in self._held.items()}

    def waiting(self) -> Iterator[tuple[Values, Wait]]:
        """Yield those that wait for a partner."""
        for values, single in self._all():
            yield values, Wait((single.instance,), (), single.last)

    def state(self) -> list[Any]:
        """Return who waits, and whether they had a partner."""
        return [
            [values, single.last, single.operand, to_plain(single.instance), single.is_paired]
            for values, single in self._all()
        ]

    def restore(self, state: list[Any]) -> None:
        """Have those wait that a state says, and no others."""
        self._held, self._order, self.due = {}, [], FOREVER
        for values, last, operand, plain, is_paired in state:
            self._hold(from_stored(values), _Single(last, operand, from_plain(plain), is_paired))
