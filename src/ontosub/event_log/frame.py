"""A frame: what one append has written. A header of fixed size, then the rows as a record batch in Arrow's IPC format.

The header says where its events stand in the log, counted in events and in bytes, so that either can be found by
looking at headers alone. It has a checksum of its own, apart from that of the rows, for the same reason.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

import pyarrow as pa

from ontosub.matching.batch import EVENTS

MAGIC = b"OEL1"
HEADER = struct.Struct("<4sIIIQQQq")
_CHECKED = 8
"""Where the part of a header begins that its checksum covers: behind the magic and the checksum."""


class Frame(NamedTuple):
    """A header, and where in its file it was found."""

    position: int
    rows: int
    checksum: int
    length: int
    first: int
    bytes_before: int
    published_us: int

    @property
    def stop(self) -> int:
        """The offset after its last event."""
        return self.first + self.rows

    @property
    def end(self) -> int:
        """The position after its last byte."""
        return self.position + HEADER.size + self.length


def encoded(batch: pa.RecordBatch, first: int, bytes_before: int, published_us: int) -> bytes:
    """Return the bytes of a frame with these rows. They are a multiple of 8, which keeps rows aligned in the file."""
    body = batch.serialize()
    fields = (batch.num_rows, zlib.crc32(body), body.size, first, bytes_before, published_us)
    checked = HEADER.pack(MAGIC, 0, *fields)[_CHECKED:]
    return HEADER.pack(MAGIC, zlib.crc32(checked), *fields) + memoryview(body)


def frame_at(data: memoryview, position: int) -> Frame | None:
    """Return the frame that begins at a position, or None where there is none; its rows are not looked at."""
    stop = position + HEADER.size
    if stop > len(data):
        return None
    magic, checksum, rows, body_checksum, length, first, before, published = HEADER.unpack_from(data, position)
    if magic != MAGIC or zlib.crc32(data[position + _CHECKED : stop]) != checksum or stop + length > len(data):
        return None
    return Frame(position, rows, body_checksum, length, first, before, published)


def rows_of(data: memoryview, frame: Frame) -> pa.RecordBatch | None:
    """Return the rows of a frame, still in the memory of `data`, or None when they are not what was written."""
    body = data[frame.position + HEADER.size : frame.end]
    if zlib.crc32(body) != frame.checksum:
        return None
    return pa.ipc.read_record_batch(pa.py_buffer(body), EVENTS)
