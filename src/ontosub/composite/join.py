"""One instance of each operand: what conjunction, concurrency and the sequence relations have in common.

Instances are held, oldest first, until no composite could end early enough to contain them. When one comes, it is
combined with those that are held; under *consume* with the oldest that fit, operand by operand in the order of writing,
under *reuse* with all that fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ontosub.composite.conditions import Conditions
from ontosub.composite.fading import Fading
from ontosub.composite.instance import Instance, Rows, composed, from_plain, joined, to_plain
from ontosub.composite.machine import Wait
from ontosub.composite.moments import FOREVER
from ontosub.composite.values import Values, from_stored
from ontosub.composite.work import Work

Fits = Callable[[Instance, Instance], bool]


@dataclass(slots=True)
class Plan:
    """What a join asks for.

    `operand_of` says which operand stands at each position: equal operands are one, at several positions. `triggers`
    are the positions at which a composite can be completed, `kept` the operands of which instances are held, `openers`
    those of which they are held before any other. `fits` is asked of neighbours. `at_once` says that the constituents
    end together. With `interchangeable` positions, equal operands are in canonical order. `shares_more` says that
    operands share variables by which the work is not divided; `renamed`, that some operands are the same subscription
    under different names, so that one match comes several times; `is_chain`, that each constituent ends before the next
    one does, and no operand stands at two positions.
    """

    operand_of: tuple[int, ...]
    triggers: tuple[int, ...]
    kept: frozenset[int]
    openers: frozenset[int]
    window: int
    where: Conditions
    consumes: bool
    fits: Fits | None = None
    at_once: bool = False
    interchangeable: bool = False
    shares_more: bool = True
    renamed: bool = False
    is_chain: bool = False
    work: Work = field(default_factory=Work)
    positions: list[tuple[int, ...]] = field(init=False)

    def __post_init__(self) -> None:
        operands = range(max(self.operand_of) + 1)
        self.positions = [tuple(p for p in self.triggers if self.operand_of[p] == each) for each in operands]
        if self.interchangeable:
            # The newest instance stands last among equals, so only there can it complete a composite.
            self.positions = [positions[-1:] for positions in self.positions]

    def last(self, instance: Instance) -> int:
        """Return the last moment at which a composite that contains the instance may end."""
        if self.at_once:
            return instance.end
        last = instance.start + self.window
        return last if last < instance.expires else instance.expires


class JoinMachine:
    """Holds instances, those of each operand by themselves.

    `_used` are the matches that were used up at the moment `_used_at`: they may still come under another name.
    `_is_mixed` says that some instance is outlived before one that came earlier.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._held: list[dict[Values, list[Instance]]] = [{} for _ in plan.positions]
        self._used: set[tuple[Values, tuple[str, str] | None]] = set()
        self._used_at = 0
        self._is_mixed = False
        self._fading = Fading()
        self.due = FOREVER

    def gate(self, operand: int) -> Mapping[Values, object] | None:
        """An instance that cannot be the first must find one of another operand: in a chain, of the one before."""
        if operand in self._plan.openers:
            return None
        position = self._plan.operand_of.index(operand)
        return self._held[self._plan.operand_of[position - 1 if position else 1]]

    def feed(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        """Combine the instance with those that are held; hold it, unless it was used up."""
        plan = self._plan
        if instance.start + plan.window < instance.end or instance.expires < instance.end:
            return []
        if self._used and self._is_used(values, instance):
            return []
        found: list[Instance] = []
        if plan.positions[operand]:
            found = self._completed(values, operand, instance)
            if found and plan.consumes:
                return found
        if operand in plan.kept:
            held = self._held[operand].get(values)
            if held is None:
                self._held[operand][values] = [instance]
            else:
                self._is_mixed |= plan.last(instance) < plan.last(held[-1])
                held.append(instance)
            if self._fading.hold(plan.last(instance)):
                self.forget(instance.end - 1)
            self.due = self._fading.due
        return found

    def _completed(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        plan = self._plan
        search = self._pairs if len(plan.operand_of) == 2 else self._combinations
        if not plan.consumes:
            positions = plan.positions[operand]
            return [composed(*each) for position in positions for each in search(values, instance, position)]
        completed = []
        for position in plan.positions[operand]:
            for each in search(values, instance, position):
                completed.append(each)
                break
        if not completed:
            return []
        constituents, rows = completed[0]
        if len(completed) > 1:
            constituents, rows = min(completed, key=lambda each: [part.key for part in each[0]])
        self._consume(values, constituents, instance)
        return [composed(constituents, rows)]

    def _is_used(self, values: Values, instance: Instance) -> bool:
        if self._used_at != instance.end:
            self._used = set()
        return (values, instance.label) in self._used

    def _consume(self, values: Values, constituents: tuple[Instance, ...], newest: Instance) -> None:
        """Use up the constituents; the newest is not held yet."""
        if self._plan.renamed:
            self._used_at = newest.end
            self._used.update((values, used.label) for used in constituents if used.end == newest.end and used.label)
        for operand, used in zip(self._plan.operand_of, constituents, strict=True):
            for held in self._held if self._plan.renamed else self._held[operand : operand + 1]:
                others = held.get(values, [])
                for number, each in enumerate(others):
                    if _same(each, used):
                        del others[number]
                        break
                if not others:
                    held.pop(values, None)

    def _drop_dead(self, values: Values) -> None:
        """Forget what has lost the last instance that it could follow: none comes later that ends before it."""
        first, *others = (self._held[operand] for operand in self._plan.operand_of[:-1])
        for held in others:
            leaders, followers = first.get(values), held.get(values, [])
            dead = 0
            while dead < len(followers) and (not leaders or followers[dead].end <= leaders[0].end):
                dead += 1
            del followers[:dead]
            if not followers:
                held.pop(values, None)
            first = held

    def _candidates(self, values: Values, operand: int, end: int) -> list[Instance]:
        """Return the instances that may be part of a composite that ends at `end`; forget those that are outlived."""
        held, last = self._held[operand].get(values), self._plan.last
        if held is None:
            return []
        if self._is_mixed:
            held[:] = [each for each in held if last(each) >= end]
        outlived = 0
        while outlived < len(held) and last(held[outlived]) < end:
            outlived += 1
        del held[:outlived]
        if not held:
            del self._held[operand][values]
        return held

    def _pairs(self, values: Values, instance: Instance, position: int) -> Iterator[tuple[tuple[Instance, ...], Rows]]:
        """Yield the pairs of the instance at a position with one that is held, the oldest first."""
        plan, fits, work = self._plan, self._plan.fits, self._plan.work
        limit = work.limit()
        for other in self._candidates(values, plan.operand_of[1 - position], instance.end):
            if not work.take(1, limit):
                return
            pair = (instance, other) if position == 0 else (other, instance)
            if (fits is not None and not fits(*pair)) or (plan.renamed and _same(*pair)):
                continue
            left, right = pair[0].rows, pair[1].rows
            more = len(left) * len(right) - 1
            if more and not work.take(more, limit):
                continue
            rows = self._joined(left, right)
            if plan.where:
                rows = plan.where.holding(rows)
            if rows:
                yield pair, rows

    def _joined(self, first: Rows, second: Rows) -> Rows:
        if not self._plan.shares_more and len(first) == 1 and len(second) == 1:
            return ({**first[0], **second[0]},)
        return joined(first, second)

    def _combinations(
        self, values: Values, instance: Instance, position: int
    ) -> Iterator[tuple[tuple[Instance, ...], Rows]]:
        """Yield what the instance at a position completes: for the first operand the oldest first, then the next."""
        plan = self._plan
        if plan.is_chain:
            self._drop_dead(values)
        choices = [
            [instance] if each == position else self._candidates(values, operand, instance.end)
            for each, operand in enumerate(plan.operand_of)
        ]
        if all(choices):
            yield from self._extended((), ({},), choices, position, plan.work.limit())

    def _extended(
        self, chosen: tuple[Instance, ...], rows: Rows, choices: list[list[Instance]], position: int, limit: int
    ) -> Iterator[tuple[tuple[Instance, ...], Rows]]:
        """Yield what becomes of the constituents chosen so far, with one of the choices for each further position."""
        at = len(chosen)
        if at == len(choices):
            passed = self._plan.where.holding(rows)
            if passed:
                yield chosen, passed
            return
        newest, work = choices[position][0] if at != position else None, self._plan.work
        for candidate in choices[at]:
            if not work.take(1, limit):
                return
            if not self._may_follow(chosen, candidate, newest):
                continue
            others = candidate.rows
            more = len(rows) * len(others) - 1
            if more and not work.take(more, limit):
                continue
            merged = self._joined(rows, others)
            if merged:
                yield from self._extended((*chosen, candidate), merged, choices, position, limit)

    def _may_follow(self, chosen: tuple[Instance, ...], candidate: Instance, newest: Instance | None) -> bool:
        """Say whether the candidate can be the next constituent after those chosen."""
        plan, at = self._plan, len(chosen)
        if (newest is not None and _same(candidate, newest)) or any(_same(candidate, each) for each in chosen):
            return False
        if plan.fits is not None and chosen and not plan.fits(chosen[-1], candidate):
            return False
        if not plan.interchangeable:
            return True
        equals = [each for number, each in enumerate(chosen) if plan.operand_of[number] == plan.operand_of[at]]
        return not equals or equals[-1].key < candidate.key

    def advance(self, moment: int) -> list[Instance]:
        """Forget what can no longer become part of a composite."""
        self.forget(moment)
        return []

    def forget(self, moment: int) -> None:
        """Forget what can no longer become part of a composite."""
        plan, left, latest = self._plan, 0, -FOREVER
        last, first = plan.last, moment - plan.window
        for held in self._held:
            gone = []
            for values, others in held.items():
                head = others[0]
                if len(others) > 1 or plan.at_once:
                    others[:] = [each for each in others if last(each) > moment]
                elif head.start <= first or head.expires <= moment:  # what `last` says, and what is nearly always asked
                    gone.append(values)
                    continue
                if others:
                    left += len(others)
                    latest = max(latest, last(others[-1]))  # nearly always the last of them: if not, it looks again
                else:
                    gone.append(values)
            for values in gone:
                del held[values]
        self._is_mixed &= left > 0
        self._fading.looked(left, latest)
        self.due = self._fading.due

    def live(self) -> dict[Values, int]:
        """Return how many instances are held."""
        found: dict[Values, int] = {}
        for held in self._held:
            for values, others in held.items():
                found[values] = found.get(values, 0) + len(others)
        return found

    def waiting(self) -> Iterator[tuple[Values, Wait]]:
        """Yield each instance that is held, with the operands of which none is, or else all others."""
        operands = dict.fromkeys(self._plan.operand_of)
        for values in self.live():
            missing = tuple(each for each in operands if values not in self._held[each])
            for operand in operands:
                others = missing or tuple(each for each in operands if each != operand) or (operand,)
                for instance in self._held[operand].get(values, ()):
                    yield values, Wait((instance,), others, self._plan.last(instance))

    def state(self) -> list[Any]:
        """Return what is held."""
        return [
            [operand, values, list(map(to_plain, others))]
            for operand, held in enumerate(self._held)
            for values, others in held.items()
        ]

    def restore(self, state: list[Any]) -> None:
        """Hold what a state says, and nothing else."""
        for held in self._held:
            held.clear()
        for operand, values, others in state:
            self._held[operand][from_stored(values)] = list(map(from_plain, others))
            ends = list(map(self._plan.last, self._held[operand][from_stored(values)]))
            self._is_mixed |= any(later < sooner for sooner, later in pairwise(ends))
        self.forget(-FOREVER)


def _same(left: Instance, right: Instance) -> bool:
    """Say whether both are one instance, or one match under different names."""
    return left is right or (left.label is not None and left.label == right.label and left.end == right.end)
