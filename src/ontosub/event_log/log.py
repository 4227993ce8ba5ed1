"""Writing a log: the one process that appends to it, and removes what need not be kept any longer."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

import pyarrow as pa

from ontosub.disk import sync
from ontosub.event_log.end import End, EndFile, read_end
from ontosub.event_log.events import Rows, as_batch, measured
from ontosub.event_log.faults import EventLogError, own_errors
from ontosub.event_log.frame import encoded
from ontosub.event_log.reader import EventLogReader
from ontosub.event_log.recovery import LOCK, recovered
from ontosub.event_log.segment import segment_firsts, segment_path
from ontosub.model.errors import Unavailable, UsageError

SEGMENT_BYTES = 64 * 1024 * 1024
"""At which size a segment is closed and the next one begun."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CLOSED = -1


class EventLog(EventLogReader):
    """A log that this process writes to, alone, from here to `close` (or its death). The directory is made if need be.

    Raises EventLogError when another process writes to it, or when it holds other things than an event log.
    """

    def __init__(self, directory: str | Path, *, segment_bytes: int = SEGMENT_BYTES) -> None:
        super().__init__(directory)
        if segment_bytes < 1:
            raise UsageError(f"segment_bytes is {segment_bytes}: it should be at least 1")
        self._segment_bytes = segment_bytes
        self._appending = Lock()
        with own_errors(self.directory):
            _make(self.directory)
            self._lock = _locked(self.directory)
        self._end_file: EndFile | None = None
        self._segment_file = _CLOSED
        try:
            with own_errors(self.directory):
                self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        self._end = recovered(self.directory)
        self._end_file = EndFile(self.directory)
        self._end_file.write(self._end)
        # The segment that is written to, and whether it may have bytes behind the end that an append has left.
        self._active, self._torn = self._end.segment, False
        self._segment_file = _opened(self.directory, self._active)

    def append(self, events: Rows, *, published_at: datetime | None = None) -> range:
        """Append events, whole or not at all, and return their offsets. They are on the disk when this returns.

        Events are a table of Arrow or a list of dicts, with the columns of EVENTS. `published_at` is now, by default.
        May be called from several threads; better, put the events of several callers into one append.

        Raises UsageError or LimitError for what cannot be appended, Unavailable when the disk does not take it: then
        nothing has been appended, and trying again may help.
        """
        batch = as_batch(events)
        published_us = _microseconds(datetime.now(UTC) if published_at is None else published_at)
        with self._appending:
            self._check_open()
            self._mend()
            first = self._end.offset
            if batch.num_rows > 0:
                self._write(batch, published_us)
            return range(first, self._end.offset)

    def truncate_before(self, offset: int) -> int:
        """Remove the segments that have only events before an offset, but never the last; return the new `start()`."""
        with self._appending, own_errors(self.directory):
            self._check_open()
            firsts = segment_firsts(self.directory)
            for first, following in pairwise(firsts):
                if following <= min(offset, self._end.segment):
                    segment_path(self.directory, first).unlink()
            sync(self.directory)
        return self.start()

    def close(self) -> None:
        """Let others write."""
        with self._appending:
            if self._end_file is not None:
                self._end_file.close()
            if self._segment_file != _CLOSED:
                os.close(self._segment_file)
            if self._lock != _CLOSED:
                # Explicitly, because a forked child would go on holding what was only closed here.
                fcntl.flock(self._lock, fcntl.LOCK_UN)
                os.close(self._lock)
            self._end_file, self._segment_file, self._lock = None, _CLOSED, _CLOSED

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _check_open(self) -> EndFile:
        if self._end_file is None:
            raise UsageError("the event log has been closed")
        return self._end_file

    def _write(self, batch: pa.RecordBatch, published_us: int) -> None:
        """Write a frame, force it to the disk, and only then move the end behind it."""
        former = self._end
        data = encoded(batch, former.offset, former.size, published_us)
        with self._own_errors():
            self._roll(len(data))
            position, self._torn = self._length, True
            _write_all(self._segment_file, data, position)
            os.fsync(self._segment_file)
            if position == 0:
                sync(self.directory)
            offset, size = former.offset + batch.num_rows, former.size + measured(batch, batch.num_rows)
            end = End(former.log, self._active, position + len(data), offset, size)
            self._check_open().write(end)
            self._end, self._torn = end, False

    @property
    def _length(self) -> int:
        """The length of the segment that is written to: zero if it has been begun, but the end is not in it yet."""
        return self._end.position if self._end.segment == self._active else 0

    def _mend(self) -> None:
        """Cut off what an append that failed may have left, wherever it was interrupted: the file has the true end."""
        if self._torn:
            with self._own_errors():
                self._end = read_end(self.directory)
                os.ftruncate(self._segment_file, self._length)
                self._torn = False

    def _roll(self, coming: int) -> None:
        """Begin a new segment if what is coming does not fit into this one. An empty one takes anything."""
        if self._length > 0 and self._length + coming > self._segment_bytes:
            descriptor = _opened(self.directory, self._end.offset)
            former, self._segment_file, self._active = self._segment_file, descriptor, self._end.offset
            os.close(former)

    @contextmanager
    def _own_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            told = (error.strerror or str(error)).lower()
            raise Unavailable(f"the event log {self.directory} does not take events: {told}") from error


def _opened(directory: Path, first: int) -> int:
    return os.open(segment_path(directory, first), os.O_RDWR | os.O_CREAT, 0o666)


def _microseconds(moment: datetime) -> int:
    if moment.tzinfo is None:
        raise UsageError(f"published_at is {moment}: it needs a time zone")
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _write_all(descriptor: int, data: bytes, position: int) -> None:
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest, position)
        rest, position = rest[written:], position + written


def _make(directory: Path) -> None:
    if not directory.exists():
        directory.mkdir(parents=True)
        sync(directory.parent)


def _locked(directory: Path) -> int:
    """Return a descriptor that holds the lock. The system lets go of it when the process ends, in whichever way."""
    descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        hint = "A log has one writer: send events to the process that has it, or stop that process first."
        raise EventLogError(
            "the event log is in use: another process writes to it", str(directory), hint=hint
        ) from error
    return descriptor
