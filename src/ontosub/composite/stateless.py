"""A machine that remembers nothing: it decides on each instance by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ontosub.composite.instance import Instance
from ontosub.composite.machine import Wait
from ontosub.composite.moments import FOREVER
from ontosub.composite.values import Values


class Stateless:
    """Gives what a function makes of each instance."""

    def __init__(self, function: Callable[[int, Instance], list[Instance]]) -> None:
        self._function = function
        self.due = FOREVER

    def gate(self, operand: int) -> None:
        """Every instance is looked at."""

    def feed(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        """Return what the function makes of it."""
        return self._function(operand, instance)

    def advance(self, moment: int) -> list[Instance]:
        """Nothing waits for time to pass."""
        return []

    def forget(self, moment: int) -> None:
        """There is nothing to forget."""

    def live(self) -> dict[Values, int]:
        """Nothing is held."""
        return {}

    def waiting(self) -> Iterator[tuple[Values, Wait]]:
        """Yield nothing."""
        return iter(())

    def state(self) -> list[Any]:
        """There is none."""
        return []

    def restore(self, state: list[Any]) -> None:
        """There is nothing to take over."""
