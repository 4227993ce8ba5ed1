"""One file of named arrays that is mapped into memory instead of being read.

    magic and length of the header · header (JSON) · array · array · …

The header names the arrays, in order, with their types, shapes and checksums; header and arrays start at multiples of
64 bytes. Checksums are nested: whoever refers to a file (the manifest) holds the header's, the header holds those of
the arrays. So the header is always checked, the arrays when asked to. A file is written whole or not at all and never
changed afterwards, so that a reader may keep it mapped. Nothing is ever unpickled.

CRC-32 because it is in the standard library and twice as fast as any other there: 1 GB in about 0.3 s. It guards
against faulty disks and careless hands; against a forger, the structure is checked before it is believed.
"""

from __future__ import annotations

import errno
import json
import math
import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ontosub import disk
from ontosub.model.errors import IndexDirectoryError

Json: TypeAlias = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
Arrays: TypeAlias = dict[str, NDArray[Any]]

RESTORE = "Restore the directory from a backup, or build the index again from its subscriptions."
MAGIC = b"ontosub\x01"

_PREFIX = struct.Struct("<8sQ")
_ALIGNMENT = 64
_KINDS = "biuf"
"""Booleans, integers and floats: what has no pointers in it."""


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """What must be known of a file before it is opened: its name, its size in bytes, the checksum of its header."""

    name: str
    size: int
    checksum: int


def write_arrays(path: Path, name: str, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Json]) -> ArrayFile:
    """Write arrays and a little JSON to a file, whole or not at all, and return what its readers must know."""
    flat = {key: _bytes_of(array) for key, array in arrays.items()}
    rows = [[key, array.dtype.str, list(array.shape), _checksum(flat[key])] for key, array in arrays.items()]
    header = json.dumps({"arrays": rows, "meta": dict(meta)}, separators=(",", ":")).encode()
    header += b" " * (-(_PREFIX.size + len(header)) % _ALIGNMENT)
    header = _PREFIX.pack(MAGIC, len(header)) + header
    replace_file(path, [header, *(part for data in flat.values() for part in (data, _padding(data)))])
    size = len(header) + sum(_padded(data.nbytes) for data in flat.values())
    return ArrayFile(name, size, zlib.crc32(header))


def open_arrays(path: Path, entry: ArrayFile, *, verify: bool = True) -> tuple[Arrays, dict[str, Json]]:
    """Return the arrays of a file as read-only maps, and its JSON.

    The size, the header, and the arrays' types and bounds are checked in any case, their contents if `verify`.

    Raises IndexDirectoryError, naming the file, when it is not what was written.
    """
    data = _mapped(path, entry.size)
    length = _header_length(path, data)
    if zlib.crc32(memoryview(data)[:length]) != entry.checksum:
        raise corrupt(path, "its header has been altered")
    try:
        header = json.loads(data[_PREFIX.size : length])
        return _arrays(path, data, length, header["arrays"], verify), dict(header["meta"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise corrupt(path, "its header is malformed") from error


def _arrays(path: Path, data: mmap.mmap, start: int, rows: list[Any], verify: bool) -> Arrays:
    view, arrays = memoryview(data), Arrays()
    for name, type_, shape, checksum in rows:
        dtype = np.dtype(type_)
        if dtype.kind not in _KINDS or any(length < 0 for length in shape):
            raise corrupt(path, f"the array {name!r} is of a type that is never written")
        end = start + _padded(dtype.itemsize * math.prod(shape))
        if end > len(data):
            raise corrupt(path, f"the array {name!r} does not fit into it")
        if verify and zlib.crc32(view[start:end]) != checksum:
            raise corrupt(path, f"the array {name!r} has been altered")
        arrays[name] = np.ndarray(shape, dtype, buffer=data, offset=start)
        start = end
    if start != len(data):
        raise corrupt(path, "its arrays do not fill it")
    return arrays


def _mapped(path: Path, size: int) -> mmap.mmap:
    with own_errors(path), path.open("rb") as file:
        found = os.fstat(file.fileno()).st_size
        if found != size:
            raise corrupt(path, f"it is {'truncated' if found < size else 'too long'}: {found} bytes of {size}")
        if size < _PREFIX.size:
            raise corrupt(path, "it is too short to be an array file")
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _header_length(path: Path, data: mmap.mmap) -> int:
    """Return where the header ends and the arrays start."""
    magic, length = _PREFIX.unpack_from(data)
    if magic != MAGIC:
        raise corrupt(path, "it is not an array file")
    if _PREFIX.size + length > len(data):
        raise corrupt(path, "its header has been altered")
    return int(_PREFIX.size + length)


def _bytes_of(array: NDArray[Any]) -> memoryview:
    if array.dtype.kind not in _KINDS or array.dtype.str.startswith(">"):
        raise TypeError(f"an array of type {array.dtype} cannot be stored")
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _checksum(data: memoryview) -> int:
    return zlib.crc32(_padding(data), zlib.crc32(data))


def _padded(size: int) -> int:
    return size + -size % _ALIGNMENT


def _padding(data: memoryview) -> bytes:
    return bytes(-data.nbytes % _ALIGNMENT)


def replace_file(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Put a file in place, whole or not at all."""
    with own_errors(path):
        disk.replace_file(path, parts)


def corrupt(path: Path, what: str) -> IndexDirectoryError:
    """Return the error that says what is wrong with a file."""
    return IndexDirectoryError(f"the file is corrupt: {what}", str(path), RESTORE)


@contextmanager
def own_errors(path: Path) -> Iterator[None]:
    """Turn what the operating system raises about a file into our own error."""
    try:
        yield
    except FileNotFoundError as error:
        raise IndexDirectoryError("the file is missing", str(path), RESTORE) from error
    except OSError as error:
        message, hint = _REASONS.get(error.errno or 0, ((error.strerror or str(error)).lower(), None))
        raise IndexDirectoryError(message, str(path), hint) from error


_FULL = "no space left on the device", "Free some space and save again; what was saved before is intact."
_DENIED = "permission denied", "Let this user read and write the directory, or choose another one."
_REASONS: dict[int, tuple[str, str | None]] = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _FULL),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _DENIED),
}
