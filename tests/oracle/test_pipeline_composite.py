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
from ontosub.composite.table import feed, latest_of
from ontosub.composite.table import table_of as detections_table
from ontosub.pipeline import composing_history
from ontosub.pipeline.composing import Composing, Timing
from spark_streams import table_of


@pytest.fixture(autouse=True)
def _short_stretches(monkeypatch):
    """Store a state after a few batches."""
    monkeypatch.setattr(composing_history, "BATCHES_MAX", 3)


class Pipeline:
    """A pipeline that composes, is cut off, and composes again what was not done."""

    def __init__(self, folder: Path, case, random: Random) -> None:
        self._folder, self._random = folder, random
        self._timing = Timing(timedelta(microseconds=case.lateness), case.lifetime)
        self._composing = Composing(folder / "state", self._timing)

    def compose(self, number: int, composites, others, piece, latest):
        """Compose a batch; where it is cut off, with other composites at first."""
        middle = self._random.randint(0, len(piece))
        files = [self._folder / f"{part}.parquet" for part in range(2)]
        for file, part in zip(files, (piece[:middle], piece[middle:]), strict=True):
            pq.write_table(table_of(part), file)
        while self._random.random() < 0.3:
            self._composing.compose(number, self._random.choice([composites, others]), files, latest)
            self._restart(0.5)
        self._restart(0.3)
        detections, unused = self._composing.compose(number, composites, files, latest)
        assert unused == (0, 0)
        return detections

    def _restart(self, chance: float) -> None:
        if self._random.random() < chance:
            self._composing = Composing(self._folder / "state", self._timing)


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
        pipeline = Pipeline(Path(folder), case, random)
        for number, (piece, latest) in enumerate(batches(case, random)):
            found += pipeline.compose(number, composites, composites, piece, latest)
    assert shown(detections_table(found).to_pylist()) == expected(case)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_composites_that_come_and_go(seed):
    """What each batch decides is what a detector decides that is never cut off; without composites there is none."""
    case, random = drawn(seed), Random(seed)
    never_cut = Detector(lifetime=case.lifetime)
    with TemporaryDirectory() as folder:
        pipeline = Pipeline(Path(folder), case, random)
        for number, (piece, latest) in enumerate(batches(case, random)):
            share = random.choice([0.0, 0.5, 0.8, 1.0])
            standing, others = ({each.id: each for each in case.composites if random.random() < share} for _ in "ab")
            never_cut = never_cut if standing else Detector(lifetime=case.lifetime)
            for name in never_cut.composites.keys() - standing.keys():
                never_cut.unsubscribe(name)
            for each in standing.values():
                never_cut.subscribe(each)
            wanted = []
            if standing:
                feed(never_cut, table_of(piece))
                wanted = [] if latest is None else never_cut.advance_to(latest - case.lateness - 1)
            found = pipeline.compose(number, standing, others, piece, latest)
            assert [each.key for each in found] == [each.key for each in wanted]
