"""What a composite subscription still waits for, and until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ontosub.composite.instance import Instance, Row
from ontosub.composite.machine import Wait
from ontosub.composite.moments import FOREVER, moment_of
from ontosub.composite.terms import binding_of
from ontosub.languages.composite import to_text
from ontosub.model.composite import Composite, EventPattern, operands_of
from ontosub.model.match import Binding


@dataclass(frozen=True, slots=True)
class Waiting:
    """What an operator of a composite subscription holds and waits for.

    `event_ids` are the events that are held, `binding` the values of the correlating variables that others must share,
    `operands` the patterns that are waited for; with `absence`, that they do not occur. `until` is the last moment of
    event time at which they may, None when there is no limit.
    """

    subscription_id: str
    pattern: str
    event_ids: tuple[str, ...]
    binding: Binding
    operands: tuple[str, ...]
    until: datetime | None
    absence: bool

    def __str__(self) -> str:
        held = f"has {', '.join(self.event_ids)}, " if self.event_ids else ""
        answer = ", ".join(f"?{name} = {term}" for name, term in sorted(self.binding.items()))
        verb = "waits whether no" if self.absence else "waits for"
        wanted = " and ".join(self.operands) or "another operand"
        until = "" if self.until is None else f" until {self.until.isoformat()}"
        return f"{self.subscription_id}: {self.pattern} {held}{verb} {wanted}{until}" + (
            f" ({answer})" if answer else ""
        )


def described(composite: Composite, pattern: EventPattern, row: Row, wait: Wait) -> Waiting:
    """Return what a machine waits for, in the words of its composite subscription."""
    operands = list(dict.fromkeys(operands_of(pattern)))
    return Waiting(
        composite.id,
        to_text(pattern),
        tuple(dict.fromkeys(event for instance in wait.held for event in _events(instance))),
        binding_of(row),
        tuple(to_text(operands[min(number, len(operands) - 1)]) for number in wait.operands),
        None if wait.until >= FOREVER else moment_of(wait.until),
        wait.absence,
    )


def _events(instance: Instance) -> list[str]:
    own = [] if instance.label is None else [instance.label[1]]
    return own + [event for part in instance.constituents for event in _events(part)]
