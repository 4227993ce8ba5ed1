"""Reading a log: from any place, any number of times, while another process writes to it."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from ontosub.event_log.end import End, read_end
from ontosub.event_log.events import measured
from ontosub.event_log.faults import EventLogError, corrupt, own_errors
from ontosub.event_log.frame import Frame
from ontosub.event_log.merging import Sized, merged
from ontosub.event_log.segment import Segment, segment_firsts
from ontosub.model.errors import UsageError

_REMEMBERED = 16
"""How many segments are remembered: the others are seldom read, and memory is finite."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Place(NamedTuple):
    """Where a frame is: its segment, its first event, and the byte at which it begins."""

    segment: int
    offset: int
    position: int


class EventLogReader:
    """The events of a log. Its methods see what has been appended so far; nothing is held open between them.

    Not to be shared between threads. All methods raise EventLogError when the directory is no log or is corrupt.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._firsts: list[int] = []
        self._segments: OrderedDict[int, Segment] = OrderedDict()

    def id(self) -> str:
        """Return what tells this log from every other one, whichever directory they are in."""
        return read_end(self.directory).log.hex()

    def start(self) -> int:
        """Return the offset of the first event that is kept."""
        end = read_end(self.directory)
        return next(iter(segment_firsts(self.directory)), end.offset)

    def end(self) -> int:
        """Return the offset after the last event: the one that the next event will have."""
        return read_end(self.directory).offset

    def segments(self, start: int, stop: int) -> list[int]:
        """Return the offsets between `start` and `stop` at which the log can be cut without any search."""
        return [first for first in segment_firsts(self.directory) if start < first < stop]

    def read(self, start: int, stop: int | None = None, *, place: Place | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the events from `start` to before `stop` (by default, to the end), in batches of EVENTS.

        Small appends are merged; large ones are not even copied. `place`, from the method of that name, saves a search.
        """
        if place is not None:
            self._segment(place.segment).remember(place.offset, place.position)
        return merged(self._rows(start, self.end() if stop is None else stop))

    def bytes_between(self, start: int, stop: int) -> int:
        """Return how many bytes of ids, content types and payloads the events from `start` to before `stop` have."""
        return self.bytes_before(stop) - self.bytes_before(start)

    def bytes_before(self, offset: int) -> int:
        """Return how many bytes all events before an offset have, those that are no longer kept included."""
        end = read_end(self.directory)
        if offset == end.offset:
            return end.size
        segment, data, frame = self._frame(offset)
        inside = offset - frame.first
        return frame.bytes_before + (measured(segment.rows(data, frame), inside) if inside else 0)

    def reach(self, start: int, *, max_events: int | None = None, max_bytes: int | None = None) -> int:
        """Return how far to read from `start` without going beyond so many events or bytes; at least one event."""
        stop = self.end() if max_events is None else min(self.end(), start + max_events)
        if max_bytes is None or stop <= start + 1:
            return stop
        limit = self.bytes_before(start) + max_bytes
        fitting = bisect_right(range(start + 2, stop + 1), limit, key=self.bytes_before)
        return start + 1 + fitting

    def published_at(self, offset: int) -> datetime:
        """Return when the event at an offset was appended."""
        return _EPOCH + timedelta(microseconds=self._frame(offset)[2].published_us)

    def place(self, offset: int) -> Place:
        """Return where the event at an offset is, for another process to read from there."""
        segment, _, frame = self._frame(offset)
        return Place(segment.first, frame.first, frame.position)

    def _rows(self, start: int, stop: int) -> Iterator[Sized]:
        for segment, data, frame in self._frames(start, stop):
            batch, size = segment.rows(data, frame), frame.length
            if start > frame.first or stop < frame.stop:
                skipped = max(0, start - frame.first)
                batch = batch.slice(skipped, min(stop, frame.stop) - frame.first - skipped)
                size = size * batch.num_rows // frame.rows
            yield batch, size

    def _frame(self, offset: int) -> tuple[Segment, memoryview, Frame]:
        return next(self._frames(offset, offset + 1))

    def _frames(self, start: int, stop: int) -> Iterator[tuple[Segment, memoryview, Frame]]:
        """Yield the frames with the events from `start` to before `stop`."""
        end = read_end(self.directory)
        if not 0 <= start <= stop <= end.offset:
            raise UsageError(f"the event log has no events {start} to {stop}: it ends at {end.offset}")
        offset = start
        while offset < stop:
            segment, data = self._opened(offset, end)
            for frame in segment.frames(data, offset):
                yield segment, data, frame
                offset = frame.stop
                if offset >= stop:
                    return
            if offset == segment.first or offset not in self._firsts:
                raise corrupt(segment.path, len(data), f"event {offset} should follow, in a file of its own")

    def _opened(self, offset: int, end: End) -> tuple[Segment, memoryview]:
        if end.segment not in self._firsts or offset < self._firsts[0]:
            self._firsts = segment_firsts(self.directory)
        number = bisect_right(self._firsts, offset) - 1
        if number < 0:
            raise self._gone(offset)
        segment = self._segment(self._firsts[number])
        with own_errors(segment.path):
            try:
                return segment, segment.mapped(end.position if segment.first == end.segment else None)
            except FileNotFoundError:
                raise self._gone(offset) from None

    def _segment(self, first: int) -> Segment:
        segment = self._segments.pop(first, None) or Segment(self.directory, first)
        self._segments[first] = segment
        if len(self._segments) > _REMEMBERED:
            self._segments.popitem(last=False)
        return segment

    def _gone(self, offset: int) -> EventLogError:
        self._firsts = segment_firsts(self.directory)
        kept = f"its first event is {self._firsts[0]}" if self._firsts else "it has no segments"
        hint = "Start from an event that is kept, and keep events until all readers have read them."
        return EventLogError(f"event {offset} is no longer kept: {kept}", str(self.directory), hint=hint)
