"""Composite events in a pipeline: one detector in the driver, which sees the matches of every micro-batch.

    <batch>.json      what the detector holds after a micro-batch

It is stored before the batch counts as done. So a batch that Spark repeats is composed again from what was held before
it, and the next one goes on from what was stored with it: nothing is detected twice, and nothing is missed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from ontosub.composite import Detection, Detector
from ontosub.composite.moments import ticks_of
from ontosub.composite.table import Fed, feed
from ontosub.disk import replace_file, sync
from ontosub.model.composite import Composite
from ontosub.model.errors import UsageError

_VERSION = 1
"""Of what is stored."""


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
    """What has been detected, and how many matches were not used."""

    detections: list[Detection]
    unused: Fed


@dataclass(frozen=True, slots=True)
class Timing:
    """How late matches may come, and how long they may be part of composites."""

    lateness: timedelta = timedelta(0)
    lifetime: timedelta | None = None


class Composing:
    """The detector of a pipeline, and the folder where it is stored."""

    def __init__(self, folder: Path, timing: Timing) -> None:
        self._folder, self._timing = folder, timing
        self._live: tuple[int, Detector] | None = None

    def compose(
        self, batch: int, composites: Mapping[str, Composite], files: Iterable[Path], latest: int | None
    ) -> Composed:
        """Take in the matches of a micro-batch, and return what they and the passing of time let be detected.

        `latest` is when the last match of the batch ends, of any subscription: the watermark follows it.
        """
        if not composites:
            self._forget()
            return Composed([], Fed(0, 0))
        detector = self._before(batch, composites)
        self._live = None  # until what it holds then is stored
        unused = fed(detector, files)
        found: list[Detection] = []
        if latest is not None:
            # A match that ends exactly so much earlier is still in time.
            found = detector.advance_to(latest - ticks_of(self._timing.lateness) - 1)
        self._store(batch, detector)
        self._live = batch, detector
        return Composed(found, unused)

    def _before(self, batch: int, composites: Mapping[str, Composite]) -> Detector:
        """Return the detector as it was before a batch, with the composites that stand now."""
        if self._live is not None and self._live[0] == batch - 1:
            return _adopted(self._live[1], composites)
        former = [number for number in self._stored() if number < batch]
        if former:
            state = self._read(self._path(max(former)))
            return Detector.restored(state, dict(composites), lifetime=self._timing.lifetime)
        return _adopted(Detector(lifetime=self._timing.lifetime), composites)

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            told = json.loads(path.read_bytes())
            version, state = told["version"], told["detector"]
        except (ValueError, LookupError, TypeError) as error:
            raise UsageError(f"state: {path}: cannot be read: {error}") from error
        if version != _VERSION:
            raise UsageError(f"state: {path}: made by another version of Ontosub: run that one, or give another folder")
        found: dict[str, Any] = state
        return found

    def _store(self, batch: int, detector: Detector) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        told = {"version": _VERSION, "detector": detector.state()}
        replace_file(self._path(batch), [json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()])
        sync(self._folder)
        for number in self._stored():
            if number not in (batch - 1, batch):  # the batch may come again until all of it is done
                self._path(number).unlink()

    def _forget(self) -> None:
        self._live = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def _stored(self) -> list[int]:
        return [int(path.stem) for path in self._folder.glob("*.json")]

    def _path(self, batch: int) -> Path:
        return self._folder / f"{batch}.json"


def fed(detector: Detector, files: Iterable[Path]) -> Fed:
    """Give a detector the matches in some files, and return how many of them it did not use."""
    late = untimed = 0
    for path in files:
        with pq.ParquetFile(path) as file:
            for number in range(file.num_row_groups):
                unused = feed(detector, file.read_row_group(number))
                late, untimed = late + unused.late, untimed + unused.untimed
    return Fed(late, untimed)


def _adopted(detector: Detector, composites: Mapping[str, Composite]) -> Detector:
    """Return a detector with the composites that stand now; those that it has go on where they were."""
    for name, former in detector.composites.items():
        if name not in composites or composites[name].pattern != former.pattern:
            detector.unsubscribe(name)
    standing = detector.composites
    for name, composite in composites.items():
        if name not in standing:
            detector.subscribe(composite)
    return detector
