"""Finding the end of a log again, when it is opened to be written to.

Behind the end that was noted there may be appends that had reached the disk (the writer died before it noted them) and
the torn beginning of one that had not. The former are kept, the latter is cut off. Damage *before* the noted end is no
torn tail but the loss of events that were acknowledged, and is never repaired in silence.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from ontosub.disk import sync
from ontosub.event_log.end import NAME, NOT_A_LOG, End, create_end, has_end, read_end
from ontosub.event_log.events import measured
from ontosub.event_log.faults import EventLogError, corrupt
from ontosub.event_log.frame import frame_at, rows_of
from ontosub.event_log.segment import SUFFIX, Segment, segment_firsts, segment_path

LOCK = "lock"


def recovered(directory: Path) -> End:
    """Return where the log in a directory ends, after all that lies behind has been cut off.

    An empty directory becomes a log. The caller has the lock.
    """
    if not has_end(directory):
        create_end(directory, _begun(directory))
        sync(directory)
    end = read_end(directory)
    for found in _whole_frames(directory, end):
        end = found
    _cut(directory, end)
    return end


def _begun(directory: Path) -> End:
    """Return an end to search from: the beginning of a new log or, if somebody removed the file, of the last segment.

    Either way the log has a new identity, because offsets may now mean other events than before.
    """
    foreign = [path.name for path in directory.iterdir() if not _is_ours(path)]
    if foreign:
        raise EventLogError(f"not an event log: it holds {min(foreign)!r}", str(directory), hint=NOT_A_LOG)
    first = max(segment_firsts(directory), default=0)
    frame = frame_at(_data(directory, first), 0)
    if frame is None and first > 0:
        raise corrupt(segment_path(directory, first), 0, f"event {first} should begin here")
    return End(secrets.token_bytes(16), first, 0, first, 0 if frame is None else frame.bytes_before)


def _is_ours(path: Path) -> bool:
    return path.name in {LOCK, NAME, NAME + ".partial"} or path.suffix == SUFFIX


def _whole_frames(directory: Path, end: End) -> Iterator[End]:
    """Yield the end after each whole frame that lies behind the noted end."""
    first, position = end.segment, end.position
    while True:
        data = _data(directory, first)
        if len(data) < position:
            path = segment_path(directory, first)
            raise corrupt(path, len(data), f"the file ends here, and should have {position} bytes")
        while (found := _next(data, position, first, end)) is not None:
            end, position = found, found.position
            yield end
        if position < len(data) or end.offset == first:  # a torn tail, or an empty segment
            return
        first, position = end.offset, 0


def _data(directory: Path, first: int) -> memoryview:
    segment = Segment(directory, first)
    return segment.mapped() if segment.path.exists() else memoryview(b"")


def _next(data: memoryview, position: int, segment: int, end: End) -> End | None:
    frame = frame_at(data, position)
    if frame is None or (frame.first, frame.bytes_before) != (end.offset, end.size):
        return None
    batch = rows_of(data, frame)
    if batch is None:
        return None
    return End(end.log, segment, frame.end, frame.stop, end.size + measured(batch, frame.rows))


def _cut(directory: Path, end: End) -> None:
    for first in segment_firsts(directory):
        path = segment_path(directory, first)
        if first > end.offset:
            raise corrupt(path, 0, f"the log ends with event {end.offset - 1}, in another file")
        if first > end.segment:
            path.unlink()
        elif first == end.segment:
            os.truncate(path, end.position)
            sync(path)
    sync(directory)
