"""What a pipeline composes is what the detector finds, wherever it is cut off, and whatever is done again."""

from datetime import timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composite_cases import drawn, expected, pieces, shown
from ontosub.composite import Detector
from ontosub.composite.moments import FOREVER
from ontosub.composite.table import Fed, feed, latest_of
from ontosub.composite.table import table_of as detections_table
from ontosub.pipeline import composing_history
from ontosub.pipeline.composing import Composing, Timing
from spark_streams import table_of


@pytest.fixture(autouse=True)
def _short_stretches(monkeypatch):
    """Store a state after a few batches."""
    monkeypatch.setattr(composing_history, "BATCHES_MAX", 3)


class Pipeline:
    """A pipeline that composes, is cut off, and composes again what was not done; its lifetime may be another then."""

    def __init__(self, folder: Path, lateness: int, random: Random) -> None:
        self._folder, self._random, self._lateness = folder, random, timedelta(microseconds=lateness)
        self._composing: Composing | None = None

    def compose(self, number: int, composites, others, piece, latest, lifetime):
        """Compose a batch; where it is cut off, with other composites at first."""
        middle = self._random.randint(0, len(piece))
        files = [self._folder / f"{part}.parquet" for part in range(2)]
        for file, part in zip(files, (piece[:middle], piece[middle:]), strict=True):
            pq.write_table(table_of(part), file)
        while self._random.random() < 0.3:
            chosen = self._random.choice([composites, others])
            self._running(lifetime, 0.5).compose(number, chosen, files, latest)
        return self._running(lifetime, 0.3).compose(number, composites, files, latest)

    def _running(self, lifetime, chance: float) -> Composing:
        """Return what composes: another process now and then, and for another lifetime."""
        if self._composing is None or self._lifetime != lifetime or self._random.random() < chance:
            self._lifetime = lifetime
            self._composing = Composing(self._folder / "state", Timing(self._lateness, lifetime))
        return self._composing


def batches(case, random: Random):
    """Yield the matches of each micro-batch, and when the last of them ends; after the last, all is over."""
    for piece in pieces(random, case, 6):
        yield piece, latest_of(table_of(piece))
    yield [], FOREVER - 1 + case.lateness


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_composed_is_what_the_detector_finds(seed):
    case, random = drawn(seed), Random(seed)
    composites, found = {each.id: each for each in case.composites}, []
    with TemporaryDirectory() as folder:
        pipeline = Pipeline(Path(folder), case.lateness, random)
        for number, (piece, latest) in enumerate(batches(case, random)):
            composed = pipeline.compose(number, composites, composites, piece, latest, case.lifetime)
            assert (composed.unused, composed.overruns) == ((0, 0), {})
            found += composed.detections
    assert shown(detections_table(found).to_pylist()) == expected(case)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_composites_that_come_and_go(seed):
    """What each batch decides is what a detector decides that is never cut off; without composites there is none.

    Some matches come too late, and lifetimes change, too.
    """
    case, random = drawn(seed), Random(seed)
    lateness, lifetime = random.choice([case.lateness, 0]), case.lifetime
    never_cut = Detector(lifetime=lifetime)
    with TemporaryDirectory() as folder:
        pipeline = Pipeline(Path(folder), lateness, random)
        for number, (piece, latest) in enumerate(batches(case, random)):
            share = random.choice([0.0, 0.5, 0.8, 1.0])
            standing, others = ({each.id: each for each in case.composites if random.random() < share} for _ in "ab")
            if random.random() < 0.2:
                lifetime = random.choice([None, timedelta(microseconds=3)])
                never_cut = Detector.restored(never_cut.state(), never_cut.composites, lifetime=lifetime)
            never_cut = never_cut if standing else Detector(lifetime=lifetime)
            for name in never_cut.composites.keys() - standing.keys():
                never_cut.unsubscribe(name)
            for each in standing.values():
                never_cut.subscribe(each)
            wanted, unused = [], Fed(0, 0)
            if standing:
                unused = feed(never_cut, table_of(piece))
                wanted = [] if latest is None else never_cut.advance_to(latest - lateness - 1)
            found = pipeline.compose(number, standing, others, piece, latest, lifetime)
            assert [each.key for each in found.detections] == [each.key for each in wanted]
            assert found.unused == unused
