"""Bounds on what a payload may cost, so that untrusted input never exhausts the reader.

Every bound is checked before, or while, the work is done and never after it. `LimitError` names the bound and its
value.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from ontosub.model.errors import LimitError, UsageError

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """How large, deep and costly one payload may be.

    `payload_bytes`: its size. `depth`: nesting of JSON, XML and triple terms. `triples`: statements of one message.
    `literal_chars`: the longest literal. `term_chars`: all terms of a payload written out in full (a long prefix
    used often is a bomb). `entity_chars`: what XML entities expand to. `context_work`: the terms that JSON-LD
    contexts define, times the places that they are copied to. `faults`: bad records that are told of one by one.
    """

    payload_bytes: int = 64 * MIB
    depth: int = 100
    triples: int = 1_000_000
    literal_chars: int = 4 * MIB
    term_chars: int = 256 * MIB
    entity_chars: int = 16 * MIB
    context_work: int = 2_000_000
    faults: int = 1_000

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 1:
                raise UsageError(f"the limit {field.name} must be at least 1")

    def check(self, name: str, amount: int, what: str) -> None:
        """Raise LimitError when `amount` exceeds the limit called `name`; `what` tells of what, {} being the amount."""
        allowed: int = getattr(self, name)
        if amount > allowed:
            raise LimitError(f"{what.replace('{}', f'{amount:,}')}: the limit is {name} = {allowed:,}")


DEFAULT = Limits()
