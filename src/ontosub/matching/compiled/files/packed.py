"""Many records in few bytes: compressed blocks of neighbours, of which one is unpacked to read a record.

Subscriptions resemble each other, so that a block of them takes a tenth of their bytes. A block ends after 32 records
or 64 KiB, whichever comes first. Blocks read last are kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ontosub.matching.compiled.files.array_files import RESTORE, Arrays
from ontosub.model.errors import IndexDirectoryError

BLOCK_RECORDS_MAX, BLOCK_BYTES_MAX = 32, 1 << 16
BLOCKS_KEPT = 64

_CODEC = pa.Codec("zstd", compression_level=3)


def pack(records: Iterable[bytes]) -> Arrays:
    """Return arrays from which `Packed` reads the records again, by number.

    `record_starts` are positions in the unpacked records, one after the other; `block_records` are the first records of
    the blocks, `block_starts` the blocks' positions in `blocks`. Each ends with what would come next.
    """
    record_starts, block_records, block_starts = [0], [0], [0]
    blocks = []
    for block in _blocks(records):
        for record in block:
            record_starts.append(record_starts[-1] + len(record))
        blocks.append(_CODEC.compress(b"".join(block), asbytes=True))
        block_records.append(len(record_starts) - 1)
        block_starts.append(block_starts[-1] + len(blocks[-1]))
    return {
        "record_starts": np.array(record_starts, np.int64),
        "block_records": np.array(block_records, np.int64),
        "block_starts": np.array(block_starts, np.int64),
        "blocks": np.frombuffer(b"".join(blocks), np.uint8),
    }


def _blocks(records: Iterable[bytes]) -> Iterator[list[bytes]]:
    block, size = list[bytes](), 0
    for record in records:
        block.append(record)
        size += len(record)
        if len(block) == BLOCK_RECORDS_MAX or size >= BLOCK_BYTES_MAX:
            yield block
            block, size = [], 0
    if block:
        yield block


class Packed:
    """Records in the arrays that `pack` made, which may be memory-mapped: `packed[number]` are the record's bytes."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Raise IndexDirectoryError when the arrays are not what `pack` makes."""
        blocks, record_starts = column(arrays, "blocks", np.uint8), _positions(arrays, "record_starts", None)
        block_starts = _positions(arrays, "block_starts", blocks.size)
        block_records = _positions(arrays, "block_records", record_starts.size - 1)
        if block_starts.size != block_records.size:
            raise malformed("block_starts")
        # Single numbers are read several times faster through memory views than through arrays.
        self._blocks, self._record_starts = blocks.data, record_starts.data
        self._block_starts, self._block_records = block_starts.data, block_records.data
        self._unpacked = lru_cache(BLOCKS_KEPT)(self._unpack)

    def __len__(self) -> int:
        return len(self._record_starts) - 1

    def __getitem__(self, number: int) -> bytes:
        if not 0 <= number < len(self):
            raise IndexError(number)
        block = bisect_right(self._block_records, number) - 1
        first = self._record_starts[self._block_records[block]]
        return self._unpacked(block)[self._record_starts[number] - first : self._record_starts[number + 1] - first]

    def _unpack(self, block: int) -> bytes:
        packed = self._blocks[self._block_starts[block] : self._block_starts[block + 1]]
        first, end = self._block_records[block], self._block_records[block + 1]
        try:
            size = self._record_starts[end] - self._record_starts[first]
            return bytes(_CODEC.decompress(packed, size, asbytes=True))
        except (OSError, ValueError, MemoryError) as error:
            raise malformed("blocks") from error


def _positions(arrays: Mapping[str, NDArray[Any]], name: str, end: int | None) -> NDArray[np.int64]:
    """Return an array of positions that start at 0, never fall, and end at `end`."""
    found = column(arrays, name, np.int64)
    fits = found.size > 0 and found[0] == 0 and (end is None or found[-1] == end)
    if not fits or (found[1:] < found[:-1]).any():
        raise malformed(name)
    return found


def column(arrays: Mapping[str, NDArray[Any]], name: str, dtype: type[np.generic]) -> NDArray[Any]:
    """Return the flat array of that name and type; raise IndexDirectoryError when there is none."""
    found = arrays.get(name)
    if found is None or found.dtype != dtype or found.ndim != 1 or not found.flags.c_contiguous:
        raise malformed(name)
    return found


def malformed(name: str) -> IndexDirectoryError:
    """Return the error that an array is not what it should be."""
    return IndexDirectoryError(f"the array {name!r} of a segment is malformed", hint=RESTORE)
