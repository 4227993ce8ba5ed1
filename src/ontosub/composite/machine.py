"""What an operator is to the rest of the detector: a state machine for one value of the correlating variables.

It is fed the instances of its operands in canonical order (by their ends) and is told how far time has come. It reads
no clock, and asks nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from ontosub.composite.instance import Instance
from ontosub.composite.moments import FOREVER


@dataclass(frozen=True, slots=True)
class Wait:
    """What a machine holds, which of its operands it waits for, and the last moment at which they may come.

    With `absence`, it waits for the operands not to come.
    """

    held: tuple[Instance, ...]
    operands: tuple[int, ...]
    until: int = FOREVER
    absence: bool = False


class Machine(Protocol):
    """An operator at work.

    `due` is a moment no later than the first at which `advance` would decide something, and the first at which it may
    forget something. `scheduled` belongs to whoever runs it: when it will be told the time next.
    """

    due: int
    scheduled: int

    def feed(self, operand: int, instance: Instance) -> list[Instance]:
        """Take in an instance that ends no earlier than any before it; return the composites that it completes."""
        ...

    def advance(self, moment: int) -> list[Instance]:
        """Take note that all instances that end by `moment` have come; return the composites that this decides."""
        ...

    def live(self) -> int:
        """Return how many instances are held."""
        ...

    def waiting(self) -> Iterator[Wait]:
        """Yield what is held and waited for."""
        ...

    def state(self) -> Any:
        """Return the state as lists, texts and numbers."""
        ...

    def restore(self, state: Any) -> None:
        """Take over a state."""
        ...


@dataclass(slots=True)
class Work:
    """What an operator has done: candidates looked at, and instances for which there were too many of them."""

    steps: int = 0
    overruns: int = 0


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How an operator is run: what makes a machine for a key, the values of the correlating variables.

    `delay` is how long after the end of its instances it may take to know them, beyond what its operands take.
    `openers` are the operands whose instances mean something to a machine that holds nothing yet; None means all.
    `first` makes the machine of an operator that waits for something from the start, and is not divided.
    """

    make: Callable[[tuple[str, ...]], Machine]
    delay: int = 0
    openers: frozenset[int] | None = None
    first: Callable[[], Machine] | None = None
    work: Work = field(default_factory=Work)
