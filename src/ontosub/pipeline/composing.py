"""Composite events in a pipeline: one detector in the driver, which sees the matches of every micro-batch.

What it goes through is on the disk before a batch counts as done. So a batch that Spark repeats is composed again from
what was held before it, and the next one goes on from there: nothing is detected twice, and nothing is missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ontosub.composite import Detection, Detector
from ontosub.composite.moments import ticks_of
from ontosub.composite.table import Fed, feed
from ontosub.languages.composite import to_text
from ontosub.matching.batch import MATCHES
from ontosub.model.composite import Composite
from ontosub.pipeline.composing_history import History


@dataclass(frozen=True, slots=True)
class Operands:
    """The subscriptions that composites are made of; those `inside` of composites are told to nobody else."""

    all: frozenset[str]
    inside: frozenset[str]

    @classmethod
    def of(cls, composites: Mapping[str, Composite]) -> Operands:
        """Return what some composites are made of."""
        return cls(
            frozenset(name for each in composites.values() for name in each.subscription_ids),
            frozenset(each.id for composite in composites.values() for each in composite.subscriptions),
        )


class Composed(NamedTuple):
    """What has been detected, how many matches were not used, and the overruns of each composite that had any."""

    detections: list[Detection]
    unused: Fed
    overruns: dict[str, int]


@dataclass(frozen=True, slots=True)
class Timing:
    """How late matches may come, and how long they may be part of composites."""

    lateness: timedelta = timedelta(0)
    lifetime: timedelta | None = None


class Composing:
    """The detector of a pipeline, and the folder of its history. Raises UsageError when that cannot be read."""

    def __init__(self, folder: Path, timing: Timing) -> None:
        self._history, self._timing = History(folder), timing
        self._live: tuple[int, Detector] | None = None
        self._history.check()

    def compose(
        self, batch: int, composites: Mapping[str, Composite], files: Iterable[Path], latest: int | None
    ) -> Composed:
        """Take in the matches of a micro-batch, and return what they and the passing of time let be detected.

        `latest` is when the last match of the batch ends, of any subscription: the watermark follows it.
        """
        self._history.begin(batch)
        live, self._live = self._live, None  # until all is stored
        if not composites:
            self._history.end(batch)
            return Composed([], Fed(0, 0), {})
        if live is not None and live[0] == batch - 1:
            detector, has_changed = live[1], False
        else:
            detector, has_changed = self._before(batch, composites)
        has_changed |= _adopt(detector, composites)
        matches = matches_in(files)
        # A match that ends exactly so much earlier is still in time.
        watermark = None if latest is None else latest - ticks_of(self._timing.lateness) - 1
        composed = _taken(detector, matches, watermark)
        self._history.add(batch, matches, watermark)
        if has_changed or self._history.is_long(batch):
            self._history.keep(batch, {"lifetime": self._lifetime, "detector": detector.state()})
        self._history.done()
        self._live = batch, detector
        return composed

    def _before(self, batch: int, composites: Mapping[str, Composite]) -> tuple[Detector, bool]:
        """Return the detector as it was before a batch, and whether it is another one for what is asked for now.

        Composites that do not stand any more are left out, and the lifetime is that of now.
        """
        state = self._history.state(batch)
        if state is None:
            return Detector(lifetime=self._timing.lifetime), True
        known = {name: text for name, (text, _) in state["detector"]["composites"].items()}
        kept = {name: each for name, each in composites.items() if known.get(name) == to_text(each.pattern)}
        lifetime = None if state["lifetime"] is None else timedelta(microseconds=state["lifetime"])
        detector = Detector.restored(state["detector"], kept, lifetime=lifetime)
        for matches, watermark in self._history.since(batch):
            _taken(detector, matches, watermark)
        lives_otherwise = lifetime != self._timing.lifetime
        if lives_otherwise:
            detector = Detector.restored(detector.state(), kept, lifetime=self._timing.lifetime)
        return detector, lives_otherwise or len(kept) < len(known)

    @property
    def _lifetime(self) -> int | None:
        return None if self._timing.lifetime is None else ticks_of(self._timing.lifetime)


def _taken(detector: Detector, matches: pa.Table, watermark: int | None) -> Composed:
    former, unused = detector.overruns, feed(detector, matches)
    found = [] if watermark is None else detector.advance_to(watermark)
    overruns = {name: count - former.get(name, 0) for name, count in detector.overruns.items()}
    return Composed(found, unused, {name: count for name, count in overruns.items() if count})


def matches_in(files: Iterable[Path]) -> pa.Table:
    """Return the matches in some files, as a table."""
    return pa.concat_tables([MATCHES.empty_table(), *(pq.read_table(path).cast(MATCHES) for path in files)])


def _adopt(detector: Detector, composites: Mapping[str, Composite]) -> bool:
    """Have the composites that stand now, and say whether they were others; those that stay go on where they were."""
    former = detector.composites
    gone = [name for name, each in former.items() if not _is_same(composites.get(name), each)]
    for name in gone:
        detector.unsubscribe(name)
    new = [each for name, each in composites.items() if name not in former or name in gone]
    for composite in new:
        detector.subscribe(composite)
    return bool(gone or new)


def _is_same(wanted: Composite | None, standing: Composite) -> bool:
    return wanted is standing or (wanted is not None and wanted.pattern == standing.pattern)
