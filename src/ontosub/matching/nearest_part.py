"""The largest part of a pattern that does match an event graph.

The part is found greedily (a constraint is kept if it can hold together with those kept before), and improved when
leaving out a single constraint is enough. So with one or two failing constraints it is the largest there is. All the
searches together have a budget; a constraint that none of them could decide within it is undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ontosub.matching.constraints import Constraint, constraints_of, restricted
from ontosub.matching.definition import NOTHING, Mu, mappings
from ontosub.model import GraphPattern
from ontosub.model.errors import LimitError
from ontosub.semantics.budget import Budget
from ontosub.semantics.context import Context
from ontosub.semantics.event_graph import EventGraph

CONSTRAINTS_MAX = 200
"""How many constraints of a pattern are tried: each is a search of its own, whose preparation is quadratic in them."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a pattern that matches, how it does, what is left out, and what could not be decided."""

    mu: Mu
    held: Sequence[Constraint]
    failed: Sequence[Constraint] = ()
    undecided: Sequence[Constraint] = ()

    @property
    def is_whole(self) -> bool:
        return not self.failed and not self.undecided

    def rank(self) -> tuple[bool, float]:
        """Return what makes one part nearer to its whole than another."""
        total = len(self.held) + len(self.failed) + len(self.undecided)
        return self.is_whole, len(self.held) / (total or 1)


class Parts:
    """The parts of one pattern that match. The whole may cost what deciding it did; smaller ones share the budget.

    `spent` is how many steps the searches for smaller ones have taken.
    """

    def __init__(self, pattern: GraphPattern, graph: EventGraph, steps: int) -> None:
        self._pattern = pattern
        self._graph = graph
        self._constraints = constraints_of(pattern)
        self._share = max(steps // (2 * len(self._constraints) + 1), len(graph.triples))
        self.spent = 0

    def whole(self, start: Mu = NOTHING) -> Part | None:
        """Return the whole, under a mapping that agrees with the start, if it is found."""
        try:
            mu = next(mappings(self._pattern, self._graph, start=start), None)
        except LimitError:
            return None
        return None if mu is None else Part(mu, self._constraints)

    def nearest(self) -> Part:
        """Return the largest part found, short of the whole."""
        part = self._greedy()
        return part if len(part.failed) + len(part.undecided) <= 1 else self._without_one() or part

    def _greedy(self) -> Part:
        mu: Mu = {}
        held: list[Constraint] = []
        failed: list[Constraint] = []
        undecided: list[Constraint] = []
        for constraint in self._constraints[:CONSTRAINTS_MAX]:
            try:
                longer = self._search([*held, constraint])
            except LimitError:
                undecided.append(constraint)
                continue
            if longer is None:
                failed.append(constraint)
            else:
                mu = longer
                held.append(constraint)
        return Part(mu, held, failed, [*undecided, *self._constraints[CONSTRAINTS_MAX:]])

    def _without_one(self) -> Part | None:
        """Return the part that leaves out a single constraint, if there is one."""
        for left_out in self._constraints if len(self._constraints) <= CONSTRAINTS_MAX else ():
            kept = [constraint for constraint in self._constraints if constraint != left_out]
            try:
                mu = self._search(kept)
            except LimitError:
                continue
            if mu is not None:
                return Part(mu, kept, [left_out])
        return None

    def _search(self, kept: Sequence[Constraint]) -> Mu | None:
        budget = Budget(steps=self._share)
        try:
            return next(mappings(restricted(self._pattern, kept), self._graph, Context(budget)), None)
        finally:
            self.spent += self._share - budget.steps
