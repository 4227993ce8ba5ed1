"""A machine that remembers nothing: it decides on each instance by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ontosub.composite.instance import Instance
from ontosub.composite.machine import Wait
from ontosub.composite.moments import FOREVER


class Stateless:
    """Gives what a function makes of each instance."""

    __slots__ = ("due", "feed", "scheduled")

    def __init__(self, function: Callable[[int, Instance], list[Instance]]) -> None:
        self.feed = function
        self.due = self.scheduled = FOREVER

    def advance(self, moment: int) -> list[Instance]:
        """Nothing waits for time to pass."""
        return []

    def live(self) -> int:
        """Nothing is held."""
        return 0

    def waiting(self) -> Iterator[Wait]:
        """Yield nothing."""
        return iter(())

    def state(self) -> Any:
        """There is none."""
        return None

    def restore(self, state: Any) -> None:
        """There is nothing to take over."""
