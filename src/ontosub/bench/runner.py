"""Run engines on workloads: check the answers first, then time them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

from ontosub.bench.engines.engine import Engine
from ontosub.bench.reference import Reference
from ontosub.bench.timing import time_each
from ontosub.bench.workload import Workload
from ontosub.model.errors import LimitError, UsageError

Tell = Callable[[str], None]
"""Is told what is being done."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What an engine did on a workload. Times are milliseconds for one event."""

    engine: str
    is_peer: bool
    is_linear: bool
    subscriptions: int
    """How many the engine was prepared with; fewer than the workload has if that would take too long."""
    events: int
    """How many were timed."""
    prepare_s: float
    match_ms: float
    """From a decoded event to the ids of the subscriptions that it matches."""
    whole_ms: float
    """The same from the payload, N-Triples: reading and decoding included; in batches if the engine has such."""
    bindings_ms: float | None
    matches: float
    """For one event, on average over the events that were checked."""
    counters: Mapping[str, float] = field(default_factory=dict)
    """What the engine counted for one event; what ends in `_bytes` is a size."""


class LeftOut(NamedTuple):
    """An engine that did not run, and why."""

    engine: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What all engines did on one workload; their answers have been checked."""

    workload: Workload
    measurements: tuple[Measurement, ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class Conditions:
    """How thorough a run is."""

    budget_s: float = 5.0
    """How long an engine may be timed; a single event is always finished."""
    bindings: bool = False
    """Whether all answers are timed as well, where an engine gives them."""


def run(
    workload: Workload, engines: Iterable[Engine], conditions: Conditions | None = None, tell: Tell = lambda _: None
) -> Outcome:
    """Check and time the engines, each with memory to itself.

    Raises Disagreement before any time can be seen when an engine gives a wrong answer.
    """
    trial = _Trial(workload, conditions or Conditions())
    measured, left_out = list[Measurement](), list[LeftOut]()
    for engine in engines:
        tell(f"{workload.name} {workload.size:,}: {engine.name}")
        reason = engine.missing()
        if reason is None:
            try:
                measured.append(trial.measure(engine))
            except (UsageError, LimitError) as error:
                reason = str(error)
        if reason is not None:
            left_out.append(LeftOut(engine.name, reason))
    trial.check_again()
    return Outcome(workload, tuple(measured), tuple(left_out))


class _Answers(NamedTuple):
    """What an engine said of the events that are checked, and which subscriptions it knew."""

    engine: str
    taken: frozenset[str]
    found: list[set[str]]
    counters: dict[str, float]


class _Trial:
    """The engines on one workload, one after the other."""

    def __init__(self, workload: Workload, conditions: Conditions) -> None:
        self._workload = workload
        self._conditions = conditions
        self._reference = Reference(workload)
        self._answers: list[_Answers] = []

    def measure(self, engine: Engine) -> Measurement:
        """Prepare the engine, check it, then time it."""
        taken = self._workload.subscriptions[: engine.capacity(self._workload)]
        began = perf_counter()
        engine.prepare(taken, self._workload.ontology)
        prepare_s = perf_counter() - began
        decoded = [engine.decode(published.event) for published in self._workload.events]
        answers = self._checked(engine, frozenset(each.id for each in taken), decoded)
        budget_s = self._conditions.budget_s
        matched = time_each(engine.match, decoded, budget_s=budget_s)
        whole_s = self._whole_s(engine)
        return Measurement(
            engine.name,
            engine.is_peer,
            engine.is_linear,
            len(taken),
            matched.events,
            prepare_s,
            matched.seconds * 1e3,
            whole_s * 1e3,
            self._bindings_ms(engine, decoded),
            sum(map(len, answers.found)) / len(answers.found),
            answers.counters,
        )

    def _checked(self, engine: Engine, taken: frozenset[str], decoded: Sequence[object]) -> _Answers:
        events = self._reference.events
        before = dict(engine.counters())
        found = [set(engine.match(each)) for each in decoded[: len(events)]]
        answers = _Answers(engine.name, taken, found, _per_event(before, engine.counters(), len(events)))
        self._answers.append(answers)
        self._check(answers)
        if self._conditions.bindings:
            for published, each in zip(events, decoded, strict=False):
                self._reference.check_bindings(engine.name, published, engine.bindings(each) or {})
        return answers

    def check_again(self) -> None:
        """Hold every engine to what the engines after it have brought to light."""
        for answers in self._answers:
            self._check(answers)

    def _check(self, answers: _Answers) -> None:
        for published, found in zip(self._reference.events, answers.found, strict=True):
            self._reference.check(answers.engine, published, found, answers.taken)

    def _whole_s(self, engine: Engine) -> float:
        events, budget_s = self._workload.events, self._conditions.budget_s
        at_once = engine.batch(events)
        if at_once is None:
            return time_each(engine.match_payload, events, budget_s=budget_s).seconds
        return time_each(lambda _: at_once(), [None], budget_s=budget_s).seconds / len(events)

    def _bindings_ms(self, engine: Engine, decoded: Sequence[object]) -> float | None:
        if not self._conditions.bindings or engine.bindings(decoded[0]) is None:
            return None
        return time_each(engine.bindings, decoded, budget_s=self._conditions.budget_s).seconds * 1e3


def _per_event(before: Mapping[str, float], after: Mapping[str, float], events: int) -> dict[str, float]:
    """Return what was counted for one event; sizes are what they are."""
    return {
        name: value if name.endswith("_bytes") else (value - before.get(name, 0)) / events
        for name, value in after.items()
    }
