"""What an operator is to the rest of the detector: a state machine, for all values of the correlating variables.

It is fed the instances of its operands in canonical order (by their ends), each with the values that it belongs to, and
is told how far time has come. It reads no clock, and asks nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ontosub.composite.instance import Instance
from ontosub.composite.moments import FOREVER
from ontosub.composite.values import Values
from ontosub.composite.work import Work


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

    `due` is a moment no later than the first at which `advance` would decide something, and one at which it forgets
    what a stream that has fallen silent leaves behind.
    """

    due: int

    def gate(self, operand: int) -> Mapping[Values, object] | None:
        """Return what has the values for which an instance of the operand means anything; others need not be fed.

        None means that every instance does. What is returned is looked at again and again, and always up to date.
        """
        ...

    def feed(self, values: Values, operand: int, instance: Instance) -> list[Instance]:
        """Take in an instance that ends no earlier than any before it; return the composites that it completes."""
        ...

    def advance(self, moment: int) -> list[Instance]:
        """Take note that all instances that end by `moment` have come; return the composites that this decides."""
        ...

    def forget(self, moment: int) -> None:
        """Forget all that means nothing any more, when all instances that end by `moment` have come."""
        ...

    def live(self) -> dict[Values, int]:
        """Return how many instances are held for which values."""
        ...

    def waiting(self) -> Iterator[tuple[Values, Wait]]:
        """Yield what is held and waited for."""
        ...

    def state(self) -> list[Any]:
        """Return the state as lists, texts and numbers."""
        ...

    def restore(self, state: list[Any]) -> None:
        """Hold what a state says, and nothing else."""
        ...


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How an operator is run: its machine, and what that has done.

    `delay` is how long after the end of its instances it may take to know them, beyond what its operands take.
    """

    machine: Machine
    delay: int = 0
    work: Work = field(default_factory=Work)
