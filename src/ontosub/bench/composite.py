"""How fast composite events are detected: a mix of composites by itself, and sequences next to DuckDB's join.

Time is that of one core. DuckDB joins the whole history at once, which a stream cannot wait for; it is the fairest peer
that says the same in its own words.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from ontosub.composite import Detection, Detector
from ontosub.model import Binding, Interval, Match
from ontosub.model.composite import (
    Aggregate,
    AggregateFunction,
    Composite,
    Conjunction,
    EventPattern,
    Exclusion,
    Iteration,
    Policy,
    Primitive,
    Sequence,
)
from ontosub.model.errors import OntosubError
from ontosub.model.expression import Call, Function
from ontosub.model.pattern import Filter
from ontosub.model.relation import Relation
from ontosub.model.terms import Literal, NamedNode, Variable

PRIMITIVES = 1_000
KEYS = 1_000
START = datetime(2026, 1, 1, tzinfo=UTC)
LATENESS = timedelta(seconds=1)
WINDOWS = tuple(timedelta(seconds=seconds) for seconds in (10, 30, 60))
SLICES = 20
"""In how many parts a run is timed: the best of the later half, when all windows are full, shows what the core can do
when nobody disturbs it."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Primitive matches per second of one core's time, in the best part of a run and over all of it."""

    best: float
    overall: float
    detections: int
    live: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Primitive matches per second over the same history, with equal answers; None where DuckDB is not installed."""

    ours: float
    duckdb: float | None
    detections: int


def mixed(count: int, seed: int) -> list[Composite]:
    """Return composites as people write them: sequences above all, correlated by sensor, each in its window."""
    random = Random(seed)  # noqa: S311 - a workload is no secret
    return [Composite(f"c{number}", _pattern(random)) for number in range(count)]


def _operand(number: int, value: str | None = None) -> Primitive:
    chosen = (("sensor", "sensor"),) if value is None else (("sensor", "sensor"), ("value", value))
    return Primitive(f"s{number}", chosen)


def _pattern(random: Random) -> EventPattern:
    a, b, c = random.sample(range(PRIMITIVES), 3)
    window, kind = random.choice(WINDOWS), random.random()
    if kind < 0.45:
        return Sequence(Relation.BEFORE, (_operand(a), _operand(b)), window)
    if kind < 0.55:
        return Sequence(Relation.BEFORE, (_operand(a), _operand(b), _operand(c)), window)
    if kind < 0.60:
        risen = Filter(Call(Function.GREATER, (Variable("w"), Call(Function.ADD, (Variable("v"), Literal(5))))))
        return Sequence(Relation.BEFORE, (_operand(a, "v"), _operand(b, "w")), window, (risen,))
    if kind < 0.70:
        return Conjunction((_operand(a), _operand(b)), window)
    if kind < 0.85:
        return Exclusion(_operand(a), _operand(b), window)
    mean = (Aggregate(AggregateFunction.AVG, "v", "mean"),)
    return Iteration(_operand(a, "v"), 3, window, ("sensor",), mean)


def sequences(count: int, seed: int) -> list[Composite]:
    """Return sequences of two, under reuse: what a join can say."""
    random = Random(seed)  # noqa: S311 - a workload is no secret
    found = []
    for number in range(count):
        first, second = random.sample(range(PRIMITIVES), 2)
        operands = (_operand(first), _operand(second))
        pattern = Sequence(Relation.BEFORE, operands, random.choice(WINDOWS), policy=Policy.REUSE)
        found.append(Composite(f"c{number}", pattern))
    return found


def matches(count: int, seed: int) -> list[Match]:
    """Return a stream of matches, a thousand in a second, up to half a second out of order."""
    random = Random(seed)  # noqa: S311 - a workload is no secret
    sensors = [NamedNode(f"urn:sensor:{number}") for number in range(KEYS)]
    values = [Literal(number) for number in range(100)]
    found = []
    for number in range(count):
        moment = START + timedelta(milliseconds=number + random.randrange(500), microseconds=random.randrange(1000))
        binding = Binding(sensor=random.choice(sensors), value=random.choice(values))
        name = f"s{random.randrange(PRIMITIVES)}"
        found.append(Match(name, f"e{number}", [binding], None, Interval.instant(moment)))
    return found


def rate(composites: list[Composite], stream: list[Match]) -> Rate:
    """Return how fast a detector goes through a stream, one match after the other."""
    detector = Detector(lateness=LATENESS)
    for composite in composites:
        detector.subscribe(composite)
    spent, found = [], 0
    size = len(stream) // SLICES
    with _frozen():
        for start in range(0, size * SLICES, size):
            began = time.process_time()
            for match in stream[start : start + size]:
                found += len(detector.feed(match))
            spent.append(time.process_time() - began)
    return Rate(size / min(spent[SLICES // 2 :]), size * SLICES / sum(spent), found, detector.counters.live)


class _frozen:  # noqa: N801 - used as a statement
    """Leave the stream, which a real one would not hold in memory, to no garbage collection."""

    def __enter__(self) -> None:
        gc.collect()
        gc.freeze()

    def __exit__(self, *_: object) -> None:
        gc.unfreeze()


def compare(composites: list[Composite], stream: list[Match]) -> Comparison:
    """Return how fast sequences are found, by us and by DuckDB. Raises OntosubError when their answers differ."""
    detector = Detector(lateness=LATENESS)
    for composite in composites:
        detector.subscribe(composite)

    def detect() -> list[Detection]:
        found = [detection for match in stream for detection in detector.feed(match)]
        return found + detector.advance(START + timedelta(days=1))

    with _frozen():
        seconds, found = _timed(detect)
    answers = sorted((each.subscription_id, *each.event_ids) for each in found)
    peer = _duckdb(composites, stream)
    if peer is None:
        return Comparison(len(stream) / seconds, None, len(answers))
    peer_seconds, peer_answers = peer
    if sorted(peer_answers) != answers:
        raise OntosubError("DuckDB and the detector do not find the same sequences")
    return Comparison(len(stream) / seconds, len(stream) / peer_seconds, len(answers))


def _timed(call: Callable[[], list[Detection]]) -> tuple[float, list[Detection]]:
    began = time.process_time()
    found = call()
    return time.process_time() - began, found


_JOIN = """
    SELECT composites.id, first.event, second.event
    FROM composites
    JOIN matches first ON first.subscription = composites.first
    JOIN matches second ON second.subscription = composites.second AND second.sensor = first.sensor
        AND second.moment > first.moment AND second.moment <= first.moment + composites.width
"""


def _duckdb(composites: list[Composite], stream: list[Match]) -> tuple[float, list[tuple[str, str, str]]] | None:
    """Return the core's time that DuckDB takes for the same sequences over the whole history, and its answers."""
    try:
        import duckdb
        import pyarrow as pa
    except ImportError:
        return None
    wanted = pa.table(list(zip(*_asked(composites), strict=True)), names=["id", "first", "second", "width"])
    given = pa.table(list(zip(*_rows(stream), strict=True)), names=["subscription", "event", "sensor", "moment"])
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("given_composites", wanted)
        connection.register("given_matches", given)
        connection.execute("CREATE TABLE composites AS SELECT * FROM given_composites")
        began = time.process_time()
        connection.execute("CREATE TABLE matches AS SELECT * FROM given_matches")
        answers: list[tuple[str, str, str]] = connection.execute(_JOIN).fetchall()
        return time.process_time() - began, answers


def _asked(composites: list[Composite]) -> Iterator[tuple[str, str, str, int]]:
    for composite in composites:
        pattern = composite.pattern
        assert isinstance(pattern, Sequence) and pattern.window is not None  # noqa: S101, PT018 - `sequences` made it
        first, second = (each.subscription_id for each in pattern.operands if isinstance(each, Primitive))
        yield composite.id, first, second, pattern.window // timedelta(microseconds=1)


def _rows(stream: list[Match]) -> Iterator[tuple[str, str, str, int]]:
    for match in stream:
        assert match.interval is not None  # noqa: S101 - `matches` made it
        moment = (match.interval.end - START) // timedelta(microseconds=1)
        yield match.subscription_id, match.event_id, str(match.bindings[0]["sensor"]), moment
