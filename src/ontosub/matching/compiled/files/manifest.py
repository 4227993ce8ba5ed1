"""The manifest of an index: which files it is made of, as a value and as bytes.

The first line says what the file is, in which version of the format, with the checksum of the rest, which is JSON:

    ontosub index 1 8d2f60a5
    {"fingerprint": …, "generation": 7, "segments": [{"name": …, "size": …, "checksum": …}, …], …}
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ontosub.matching.compiled.files.array_files import ArrayFile, Json, corrupt
from ontosub.model.errors import IndexDirectoryError

VERSION = 1
"""The version of the format; it grows when files written before can no longer be read."""

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
"""What a file of an index may be called: nothing that leads elsewhere."""

NOT_AN_INDEX = "Give the directory that an index was saved into, or, to save, one that is new or empty."

_FIRST_LINE = re.compile(rb"ontosub index (\d{1,9}) ([0-9a-f]{8})\n")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What makes up one version of an index.

    `generation` grows by one with every save. `segments` are in order; `tombstones` has, by the name of a segment, the
    file that says what was removed from it; `files` has, by any name, what belongs to the index as a whole. `meta` is
    whatever else the index wants to know of itself.
    """

    fingerprint: str
    generation: int
    segments: tuple[ArrayFile, ...] = ()
    tombstones: Mapping[str, ArrayFile] = field(default_factory=dict)
    files: Mapping[str, ArrayFile] = field(default_factory=dict)
    meta: Mapping[str, Json] = field(default_factory=dict)

    @property
    def entries(self) -> Iterator[ArrayFile]:
        """Every file of this version."""
        yield from self.segments
        yield from self.tombstones.values()
        yield from self.files.values()


def manifest_to_bytes(manifest: Manifest) -> bytes:
    """Return the manifest as the bytes of its file."""
    told = {
        "fingerprint": manifest.fingerprint,
        "generation": manifest.generation,
        "segments": [asdict(entry) for entry in manifest.segments],
        "tombstones": {name: asdict(entry) for name, entry in manifest.tombstones.items()},
        "files": {name: asdict(entry) for name, entry in manifest.files.items()},
        "meta": dict(manifest.meta),
    }
    rest = json.dumps(told, indent=1, sort_keys=True).encode()
    return b"ontosub index %d %08x\n" % (VERSION, zlib.crc32(rest)) + rest


def manifest_from_bytes(data: bytes, path: Path) -> Manifest:
    """Return the manifest that the file at `path` holds.

    Raises IndexDirectoryError when it holds something else, a manifest of another version, or an altered one.
    """
    first_line = _FIRST_LINE.match(data)
    if first_line is None:
        raise IndexDirectoryError("not an index directory: this is no manifest of ours", str(path), NOT_AN_INDEX)
    version, rest = int(first_line[1]), data[first_line.end() :]
    if version != VERSION:
        message = f"made by {'a newer' if version > VERSION else 'an older'} version of Ontosub"
        hint = "Update Ontosub." if version > VERSION else "Build the index again from its subscriptions."
        raise IndexDirectoryError(f"{message} (format {version}, not {VERSION})", str(path.parent), hint)
    if b"%08x" % zlib.crc32(rest) != first_line[2]:
        raise corrupt(path, "it has been altered")
    try:
        return _manifest(json.loads(rest))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise corrupt(path, "it is malformed") from error


def _manifest(told: dict[str, Any]) -> Manifest:
    return Manifest(
        str(told["fingerprint"]),
        int(told["generation"]),
        tuple(_entry(entry) for entry in told["segments"]),
        {str(name): _entry(entry) for name, entry in told["tombstones"].items()},
        {str(name): _entry(entry) for name, entry in told["files"].items()},
        dict(told["meta"]),
    )


def _entry(told: dict[str, Any]) -> ArrayFile:
    if not NAME.fullmatch(told["name"]):
        raise ValueError("a file may not have this name")
    return ArrayFile(told["name"], int(told["size"]), int(told["checksum"]))
