"""One instance of each operand: what conjunction, concurrency and the sequence relations have in common.

Instances are held, oldest first, until no composite could end early enough to contain them. When one comes, it is
combined with those that are held; under *consume* with the oldest that fit, operand by operand in the order of writing,
under *reuse* with all that fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ontosub.composite.conditions import Conditions
from ontosub.composite.instance import Instance, Rows, composed, from_plain, joined, to_plain
from ontosub.composite.machine import Wait, Work
from ontosub.composite.moments import FOREVER

STEPS_MAX = 100_000
"""How many candidates may be looked at for one instance: a condition that nothing meets must not cost everything."""

Fits = Callable[[Instance, Instance], bool]


@dataclass(slots=True)
class Plan:
    """What is the same for all machines of a join.

    `operand_of` says which operand stands at each position: equal operands are one, at several positions. `triggers`
    are the positions at which a composite can be completed, `kept` the operands of which instances are held.
    `fits` is asked of neighbours. `at_once` says that the constituents end together. With `interchangeable`
    positions, equal operands are in canonical order. `shares_more` says that operands share variables by which the
    work is not divided; `renamed`, that some operands are the same subscription under different names, so that one
    match comes several times.
    """

    operand_of: tuple[int, ...]
    triggers: tuple[int, ...]
    kept: frozenset[int]
    window: int
    where: Conditions
    consumes: bool
    fits: Fits | None = None
    at_once: bool = False
    interchangeable: bool = False
    shares_more: bool = True
    renamed: bool = False
    work: Work = field(default_factory=Work)
    positions: list[tuple[int, ...]] = field(init=False)
    keeps: list[bool] = field(init=False)
    patience: int = field(init=False)

    def __post_init__(self) -> None:
        self.patience = 1 if self.window >= FOREVER else self.window // 2 + 1
        operands = range(max(self.operand_of) + 1)
        self.keeps = [each in self.kept for each in operands]
        self.positions = [tuple(p for p in self.triggers if self.operand_of[p] == each) for each in operands]
        if self.interchangeable:
            # The newest instance stands last among equals, so only there can it complete a composite.
            self.positions = [positions[-1:] for positions in self.positions]


class JoinMachine:
    """Holds instances, each with its operand and the last moment at which a composite that contains it may end."""

    __slots__ = ("_held", "_plan", "_used", "due", "scheduled")

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._held: list[tuple[int, int, Instance]] = []
        self._used: tuple[Instance, ...] = ()  # at this moment: they may still come under another name
        self.due = self.scheduled = FOREVER

    def feed(self, operand: int, instance: Instance) -> list[Instance]:
        """Combine the instance with those that are held; hold it, unless it was used up."""
        plan = self._plan
        last = instance.start + plan.window
        if instance.expires < last:
            last = instance.expires
        if last < instance.end or (self._used and any(_same(instance, used) for used in self._used)):
            return []
        found: list[Instance] = []
        if self._held and plan.positions[operand]:
            found = self._completed(operand, instance)
            if found and plan.consumes:
                return found
        if plan.keeps[operand]:
            if plan.at_once:
                last = instance.end
            self._held.append((last, operand, instance))
            # Forgetting can wait a little, so that many are forgotten together.
            forgotten = last + plan.patience
            if forgotten < self.due:
                self.due = forgotten - forgotten % plan.patience
        return found

    def _completed(self, operand: int, instance: Instance) -> list[Instance]:
        plan, held = self._plan, self._held
        while held and held[0][0] < instance.end:
            del held[0]
        search = self._pairs if len(plan.operand_of) == 2 else self._combinations
        if not plan.consumes:
            return [composed(*each) for position in plan.positions[operand] for each in search(instance, position)]
        completed = []
        for position in plan.positions[operand]:
            for each in search(instance, position):
                completed.append(each)
                break
        if not completed:
            return []
        constituents, rows = completed[0]
        if len(completed) > 1:
            constituents, rows = min(completed, key=lambda each: [part.key for part in each[0]])
        self._consume(constituents, instance)
        return [composed(constituents, rows)]

    def _consume(self, constituents: tuple[Instance, ...], newest: Instance) -> None:
        """Use up the constituents; the newest is not held yet."""
        held = self._held
        if self._plan.renamed:
            self._used = tuple(used for used in (*self._used, *constituents) if used.end == newest.end)
            self.due = min(self.due, newest.end)
            held[:] = [entry for entry in held if not any(_same(entry[2], used) for used in constituents)]
            return
        for used in constituents:
            for number, entry in enumerate(held):
                if entry[2] is used:
                    del held[number]
                    break

    def _pairs(self, instance: Instance, position: int) -> Iterator[tuple[tuple[Instance, ...], Rows]]:
        """Yield the pairs of the instance at a position with one that is held, the oldest first."""
        plan = self._plan
        fits, end, wanted = plan.fits, instance.end, plan.operand_of[1 - position]
        for steps, (last, operand, other) in enumerate(self._held, 1):
            plan.work.steps += 1
            if steps > STEPS_MAX:
                plan.work.overruns += 1
                return
            if operand != wanted or last < end:
                continue
            pair = (instance, other) if position == 0 else (other, instance)
            if (fits is not None and not fits(*pair)) or (plan.renamed and _same(*pair)):
                continue
            rows = self._joined(pair[0].rows, pair[1].rows)
            if plan.where:
                rows = plan.where.holding(rows)
            if rows:
                yield pair, rows

    def _joined(self, first: Rows, second: Rows) -> Rows:
        if not self._plan.shares_more and len(first) == 1 and len(second) == 1:
            return ({**first[0], **second[0]},)
        return joined(first, second)

    def _combinations(self, instance: Instance, position: int) -> Iterator[tuple[tuple[Instance, ...], Rows]]:
        """Yield what the instance at a position completes: for the first operand the oldest first, then the next."""
        plan, steps = self._plan, [0]
        usable: dict[int, list[Instance]] = {}
        for last, operand, held in self._held:
            if last >= instance.end:
                usable.setdefault(operand, []).append(held)
        choices = [usable.get(operand, []) for operand in plan.operand_of]
        choices[position] = [instance]
        try:
            yield from self._extended((), ({},), choices, position, steps)
        finally:
            plan.work.steps += steps[0]
            plan.work.overruns += steps[0] > STEPS_MAX

    def _extended(
        self, chosen: tuple[Instance, ...], rows: Rows, choices: list[list[Instance]], position: int, steps: list[int]
    ) -> Iterator[tuple[tuple[Instance, ...], Rows]]:
        """Yield what becomes of the constituents chosen so far, with one of the choices for each further position."""
        at = len(chosen)
        if at == len(choices):
            passed = self._plan.where.holding(rows)
            if passed:
                yield chosen, passed
            return
        for candidate in choices[at]:
            steps[0] += 1
            if steps[0] > STEPS_MAX:
                return
            if self._may_follow(chosen, candidate, choices[position][0] if at != position else None):
                merged = self._joined(rows, candidate.rows)
                if merged:
                    yield from self._extended((*chosen, candidate), merged, choices, position, steps)

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
        held = self._held
        while held and held[0][0] <= moment:
            del held[0]
        if self._used and self._used[0].end <= moment:
            self._used = ()
        self.due = min(max(held[0][0], moment + 1) if held else FOREVER, self._used[0].end if self._used else FOREVER)
        return []

    def live(self) -> int:
        """Return how many instances are held."""
        return len(self._held)

    def waiting(self) -> Iterator[Wait]:
        """Yield each instance that is held, with the operands of which none is, or else all others."""
        operands = dict.fromkeys(self._plan.operand_of)
        missing = tuple(each for each in operands if not any(operand == each for _, operand, _ in self._held))
        for last, operand, instance in self._held:
            yield Wait((instance,), missing or tuple(each for each in operands if each != operand) or (operand,), last)

    def state(self) -> Any:
        """Return what is held."""
        return [[last, operand, to_plain(instance)] for last, operand, instance in self._held]

    def restore(self, state: Any) -> None:
        """Hold what a state says."""
        self._held = [(last, operand, from_plain(plain)) for last, operand, plain in state]
        self.due = self._held[0][0] if self._held else FOREVER


def _same(left: Instance, right: Instance) -> bool:
    """Say whether both are one instance, or one match under different names."""
    return left is right or (left.label is not None and left.label == right.label and left.end == right.end)
