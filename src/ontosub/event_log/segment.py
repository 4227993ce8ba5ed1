"""A segment: one file of frames, named by its first offset, and what is remembered of where its frames are."""

from __future__ import annotations

import mmap
import os
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from ontosub.event_log.faults import corrupt, own_errors
from ontosub.event_log.frame import Frame, frame_at, rows_of

SUFFIX = ".events"
_DIGITS = 20
_INTERVAL = 64 * 1024
"""How far apart, in bytes, the frames are whose places are remembered."""


def segment_path(directory: Path, first: int) -> Path:
    """Return the file of the segment that begins with an offset."""
    return directory / f"{first:0{_DIGITS}}{SUFFIX}"


def segment_firsts(directory: Path) -> list[int]:
    """Return the first offsets of all segments, in order."""
    with own_errors(directory):
        stems = [path.stem for path in directory.iterdir() if path.suffix == SUFFIX]
    return sorted(int(stem) for stem in stems if len(stem) == _DIGITS and stem.isdecimal())


class Segment:
    """One segment, read only. Headers are looked at once; later a place among them is found by bisection."""

    def __init__(self, directory: Path, first: int) -> None:
        self.first = first
        self.path = segment_path(directory, first)
        self._places = [(first, 0)]

    def mapped(self, size: int | None = None) -> memoryview:
        """Map the file, up to a size if it is still growing. FileNotFoundError when retention has removed it."""
        with self.path.open("rb") as file:
            found = os.fstat(file.fileno()).st_size
            if size is not None and found < size:
                raise corrupt(self.path, found, f"the file ends here, and should have {size} bytes")
            size = found if size is None else size
            return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b"")

    def remember(self, offset: int, position: int) -> None:
        """Note where a frame begins, so that the headers before it need not be looked at."""
        if position >= self._places[-1][1] + _INTERVAL:
            self._places.append((offset, position))

    def frames(self, data: memoryview, offset: int) -> Iterator[Frame]:
        """Yield the frames from the one with the event `offset` on. Raises EventLogError at a header that is none."""
        known = bisect_right(self._places, offset, key=lambda place: place[0]) - 1
        expected, position = self._places[known]
        while position < len(data):
            frame = frame_at(data, position)
            if frame is None or frame.first != expected:
                raise corrupt(self.path, position, f"event {expected} should begin here")
            self.remember(frame.first, position)
            if frame.stop > offset:
                yield frame
            expected, position = frame.stop, frame.end

    def rows(self, data: memoryview, frame: Frame) -> pa.RecordBatch:
        """Return the rows of a frame. Raises EventLogError when they are not what was written."""
        batch = rows_of(data, frame)
        if batch is None:
            raise corrupt(self.path, frame.position, f"the events {frame.first} to {frame.stop - 1} have been altered")
        return batch
