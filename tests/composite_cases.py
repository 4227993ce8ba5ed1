"""Composites and the matches that arrive for them, drawn; and what a detector finds among them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random

from composite_generators import Drawing
from composite_generators import history as generated
from ontosub.composite import Detector
from ontosub.composite.moments import FOREVER
from ontosub.composite.table import table_of
from ontosub.model.composite import Composite
from oracle.composite_definition import Fact


@dataclass(frozen=True)
class Case:
    """Composites, and matches in the order in which they arrive, each at most `lateness` late."""

    composites: tuple[Composite, ...]
    arriving: tuple[Fact, ...]
    lateness: int
    lifetime: timedelta | None


def drawn(seed: int, composites: int = 4, matches: int = 14) -> Case:
    """Draw a case."""
    random = Random(seed)
    patterns = [Drawing(random.random()).pattern(random.choice([1, 2, 3])) for _ in range(composites)]
    lateness = random.randint(0, 8)
    history = [replace(fact, lifetime=None) for fact in generated(matches, random.random())]
    arriving = sorted(history, key=lambda fact: fact.end + random.random() * (lateness + 0.99))
    lifetime = random.choice([None, None, timedelta(microseconds=5)])
    named = tuple(Composite(f"c{number}", pattern) for number, pattern in enumerate(patterns))
    return Case(named, tuple(arriving), lateness, lifetime)


def expected(case: Case) -> Counter:
    """Return what is found when all matches have come, as `shown` shows it."""
    detector = Detector(lifetime=case.lifetime)
    for composite in case.composites:
        detector.subscribe(composite)
    for fact in case.arriving:
        detector.put(fact.subscription, fact.event, fact.start, fact.end, tuple(map(dict, fact.rows)))
    return shown(table_of(detector.advance_to(FOREVER - 1)).to_pylist())


def shown(rows) -> Counter:
    """Return what can be compared of rows of DETECTIONS, as Spark or Arrow has them."""
    return Counter(
        (
            row["subscription_id"],
            row["detection_id"],
            frozenset(frozenset(dict(binding).items()) for binding in row["bindings"]),
            row["time_start"].timestamp(),
            row["time_end"].timestamp(),
            tuple(row["event_ids"]),
            row["constituents"],
        )
        for row in rows
    )


def pieces(random: Random, case: Case, most: int) -> list[list[Fact]]:
    """Return the matches in the pieces in which they arrive."""
    arriving = list(case.arriving)
    cuts = sorted(random.randint(0, len(arriving)) for _ in range(random.randint(0, most - 1)))
    return [arriving[a:b] for a, b in zip([0, *cuts], [*cuts, len(arriving)], strict=True)]
