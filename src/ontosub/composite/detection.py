"""Detections: a composite subscription and the events that it was made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from ontosub.composite.instance import Instance
from ontosub.composite.moments import interval_of
from ontosub.composite.terms import binding_of
from ontosub.languages.composite.printer import operator_word
from ontosub.model.composite import Disjunction, EventPattern, Iteration, Primitive, operands_of
from ontosub.model.interval import Interval
from ontosub.model.match import Binding
from ontosub.model.terms import written


@dataclass(frozen=True, slots=True)
class Constituent:
    """An instance in the tree of a detection: of a subscription (with its event), or of an operator."""

    what: str
    interval: Interval
    bindings: tuple[Binding, ...]
    event_id: str | None = None
    constituents: tuple[Constituent, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self.lines(_answer))

    def lines(self, answer: Callable[[Binding], str], indent: str = "") -> Iterator[str]:
        """Yield the tree line by line, each answer as `answer` writes it."""
        event = f" by event {self.event_id}" if self.event_id is not None else ""
        answers = "; ".join(filter(None, map(answer, self.bindings)))
        yield f"{indent}{self.what}{event} at {self.interval}" + (f": {answers}" if answers else "")
        for constituent in self.constituents:
            yield from constituent.lines(answer, indent + "  ")

    def to_dict(self) -> dict[str, Any]:
        """Return the tree for programs: texts and lists only."""
        shown: dict[str, Any] = {
            "what": self.what,
            "start": self.interval.start.isoformat(),
            "end": self.interval.end.isoformat(),
            "bindings": [{name: written(term) for name, term in binding.items()} for binding in self.bindings],
        }
        if self.event_id is not None:
            shown["event_id"] = self.event_id
        if self.constituents:
            shown["constituents"] = [constituent.to_dict() for constituent in self.constituents]
        return shown


def _answer(binding: Binding) -> str:
    return ", ".join(f"?{name} = {term}" for name, term in sorted(binding.items()))


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """A composite event that a composite subscription asked for. `str()` shows how it came about."""

    subscription_id: str
    pattern: EventPattern = field(repr=False, compare=False)
    instance: Instance = field(repr=False, compare=False)

    @property
    def key(self) -> str:
        """What tells it from other detections, and is the same when it is found again."""
        told = repr((self.subscription_id, self.instance.key))
        return sha256(told.encode(errors="surrogatepass")).hexdigest()[:32]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Detection) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def interval(self) -> Interval:
        """From the earliest start of its constituents to their latest end."""
        return interval_of(self.instance.start, self.instance.end)

    @property
    def bindings(self) -> list[Binding]:
        """The answers: those of the constituents that go together, merged."""
        return [binding_of(row) for row in self.instance.rows]

    @property
    def event_ids(self) -> tuple[str, ...]:
        """The events that it is made of, each once, in the order of the tree."""
        return tuple(dict.fromkeys(_events(self.instance)))

    @property
    def tree(self) -> Constituent:
        """The instances that it is made of, down to events."""
        return _told(self.pattern, self.instance)

    def __str__(self) -> str:
        return f"{self.subscription_id}: {self.tree}"


def _events(instance: Instance) -> Iterator[str]:
    if instance.label is not None:
        yield instance.label[1]
    for part in instance.constituents:
        yield from _events(part)


def _told(pattern: EventPattern, instance: Instance) -> Constituent:
    interval = interval_of(instance.start, instance.end)
    bindings = tuple(binding_of(row) for row in instance.rows)
    if isinstance(pattern, Primitive):
        return Constituent(pattern.subscription_id, interval, bindings, instance.label and instance.label[1])
    parts = tuple(map(_told, _patterns(pattern, instance), instance.constituents))
    return Constituent(operator_word(pattern), interval, bindings, None, parts)


def _patterns(pattern: EventPattern, instance: Instance) -> tuple[EventPattern, ...]:
    """Return the operand that each constituent is an instance of."""
    operands = operands_of(pattern)
    if isinstance(pattern, Disjunction):
        distinct = list(dict.fromkeys(operands))
        return tuple(distinct[operand] for operand, _ in instance.key[2])
    return operands * len(instance.constituents) if isinstance(pattern, Iteration) else operands
