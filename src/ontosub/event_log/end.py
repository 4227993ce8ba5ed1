"""Where the log ends: one small file, overwritten after each append has reached the disk.

Readers believe it and nothing else. What lies behind it in the segments (an append that is under way, one that has
failed, what a crash has left) does not exist for them.

The file has two slots, written in turn, so that a write which was interrupted, or which a reader meets half way, leaves
the end before.
"""

from __future__ import annotations

import os
import struct
import zlib
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from ontosub.event_log.faults import EventLogError, corrupt, own_errors

NAME = "end"
_MAGIC = b"OELend1\0"
_RECORD = struct.Struct("<8s16sQQQQ")
_CHECKSUM = struct.Struct("<I")
_SLOTS = (0, 512)
"""Where the slots begin: disks write sectors of 512 bytes, or more, whole."""

_TRIES = 100

NOT_A_LOG = "Give the directory of an event log, or one that is empty or does not exist yet, to begin a log there."


class End(NamedTuple):
    """The identity of a log, and its end: in which segment, at which byte of it, after how many events and bytes."""

    log: bytes
    segment: int
    position: int
    offset: int
    size: int


def has_end(directory: Path) -> bool:
    """Say whether a directory is an event log."""
    return (directory / NAME).is_file()


def read_end(directory: Path) -> End:
    """Return where the log ends now. Raises EventLogError when the directory is not a log."""
    path = directory / NAME
    for _ in range(_TRIES):  # two ends may have been written while this read
        found = [end for end in _slots(path) if end is not None]
        if found:
            return max(found, key=lambda end: end.offset)
    raise corrupt(path, None, "it does not tell where the log ends")


def _slots(path: Path) -> list[End | None]:
    with own_errors(path):
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            what = f"it has no file {NAME}" if path.parent.is_dir() else "there is no such directory"
            raise EventLogError(f"not an event log: {what}", str(path.parent), hint=NOT_A_LOG) from error
    return [_from_bytes(data[start : start + _RECORD.size + _CHECKSUM.size]) for start in _SLOTS]


def create_end(directory: Path, end: End) -> None:
    """Make the file, whole or not at all; the caller forces the directory to the disk."""
    partial = directory / (NAME + ".partial")
    with partial.open("wb") as file:
        for start in _SLOTS:
            file.seek(start)
            file.write(_to_bytes(end))
        file.flush()
        os.fsync(file.fileno())
    partial.replace(directory / NAME)


class EndFile:
    """The file, held open by the one that writes it."""

    def __init__(self, directory: Path) -> None:
        self._slots = cycle(_SLOTS)
        if _slots(directory / NAME)[0] == read_end(directory):
            next(self._slots)
        self._descriptor = os.open(directory / NAME, os.O_RDWR)

    def write(self, end: End) -> None:
        """Note a new end. It need not be forced to the disk: who opens the log to write looks behind its end."""
        os.pwrite(self._descriptor, _to_bytes(end), next(self._slots))

    def close(self) -> None:
        os.close(self._descriptor)


def _to_bytes(end: End) -> bytes:
    record = _RECORD.pack(_MAGIC, *end)
    return record + _CHECKSUM.pack(zlib.crc32(record))


def _from_bytes(data: bytes) -> End | None:
    record, checksum = data[: _RECORD.size], data[_RECORD.size :]
    if len(record) < _RECORD.size or _CHECKSUM.pack(zlib.crc32(record)) != checksum:
        return None
    magic, *fields = _RECORD.unpack(record)
    return End(*fields) if magic == _MAGIC else None
