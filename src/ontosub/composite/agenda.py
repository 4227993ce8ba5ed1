"""Whose turn is when: the moments at which something is to be decided, one for each value of correlating variables."""

from __future__ import annotations

from heapq import heappop, heappush

from ontosub.composite.moments import FOREVER
from ontosub.composite.values import Values


class Agenda:
    """Moments by value. `due` is the first of them, FOREVER when there is none."""

    def __init__(self) -> None:
        self._moments: dict[Values, int] = {}
        self._order: list[tuple[int, Values]] = []
        self.due = FOREVER

    def note(self, values: Values, moment: int) -> None:
        """Have the values looked at by this moment, at the latest; a moment that is noted and earlier does for both."""
        if moment < self._moments.get(values, FOREVER):
            self._moments[values] = moment
            heappush(self._order, (moment, values))
            self.due = self._order[0][0]

    def take(self, moment: int) -> list[Values]:
        """Take the values whose moments have come, in their order."""
        found = []
        while self._order and self._order[0][0] <= moment:
            due, values = heappop(self._order)
            if self._moments.get(values) == due:
                del self._moments[values]
                found.append(values)
        self.due = self._order[0][0] if self._order else FOREVER
        return found
