"""What a pipeline composes is what the detector finds, wherever it is cut off, and whatever is done again."""

from datetime import timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from composite_cases import drawn, expected, pieces, shown
from ontosub.composite.moments import FOREVER
from ontosub.composite.table import latest_of
from ontosub.composite.table import table_of as detections_table
from ontosub.pipeline.composing import Composing, Timing
from spark_streams import table_of


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_composed_is_what_the_detector_finds(seed):
    """In micro-batches of several files; processes end before, after and in the middle of any of them."""
    case, random = drawn(seed), Random(seed)
    composites = {each.id: each for each in case.composites}
    timing = Timing(timedelta(microseconds=case.lateness), case.lifetime)
    found = []
    with TemporaryDirectory() as folder:
        composing = Composing(Path(folder, "state"), timing)
        batches = [*pieces(random, case, 6), []]
        for number, piece in enumerate(batches):
            middle = random.randint(0, len(piece))
            files = [Path(folder, f"{part}.parquet") for part in range(2)]
            for file, part in zip(files, (piece[:middle], piece[middle:]), strict=True):
                pq.write_table(table_of(part), file, row_group_size=3)
            latest = FOREVER - 1 + case.lateness if number == len(batches) - 1 else latest_of(table_of(piece))
            while True:
                if random.random() < 0.3:
                    composing = Composing(Path(folder, "state"), timing)
                detections, unused = composing.compose(number, composites, files, latest)
                if random.random() < 0.7:
                    break  # else the batch was not staged, and comes again
            assert unused == (0, 0)
            found += detections
    assert shown(detections_table(found).to_pylist()) == expected(case)
