"""What one subscription may cost on one event, in steps and in bytes.

A subscriber's text is untrusted, and so is a publisher's payload: every loop over them spends steps, and every string
made, row held and answer written spends bytes. Bytes are never given back, so the sum of all that was made is bounded,
and with it both the memory that is held at any moment and the time that making it takes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ontosub.model.errors import LimitError

STEPS_MAX = 1_000_000
"""How many steps, each about a microsecond of Python's time, one subscription may take on one event."""

BYTES_MAX = 128 * 1024 * 1024
"""How many bytes one subscription may make on one event: rows, strings and answers together."""

TEXT_PER_STEP = 1_000
"""How many characters may be read or compared in the time of a step."""


@dataclass(slots=True)
class Budget:
    """What is left to spend. What is spent beyond it is a LimitError."""

    steps: int = STEPS_MAX
    bytes: int = BYTES_MAX

    def spend(self, steps: int = 1) -> None:
        """Take some steps."""
        self.steps -= steps
        if self.steps < 0:
            raise LimitError("the subscription needs more steps on this event than it is allowed")

    def read(self, characters: int) -> None:
        """Go through a text."""
        self.spend(1 + characters // TEXT_PER_STEP)

    def hold(self, size: int) -> None:
        """Make so many bytes."""
        self.bytes -= size
        if self.bytes < 0:
            raise LimitError("the subscription needs more memory on this event than it is allowed")
