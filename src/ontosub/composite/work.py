"""The work of an operator, and its budget: a condition that nothing meets must not cost everything."""

from __future__ import annotations

from dataclasses import dataclass

STEPS_MAX = 100_000
"""How many steps may be taken for one instance: for each candidate one, or as many as there are pairs of answers."""


@dataclass(slots=True)
class Work:
    """What an operator has done: the steps that it took, and the instances for which these were not enough."""

    steps: int = 0
    overruns: int = 0
    _overrun: int = 0

    def limit(self) -> int:
        """Return the number of steps at which the work for the next instance must end."""
        return self.steps + STEPS_MAX

    def take(self, steps: int, limit: int) -> bool:
        """Take so many steps, and say whether that is within the limit. If not, none is taken: that is an overrun."""
        if self.steps + steps <= limit:
            self.steps += steps
            return True
        if self._overrun != limit:  # once for each instance
            self._overrun = limit
            self.overruns += 1
        return False
