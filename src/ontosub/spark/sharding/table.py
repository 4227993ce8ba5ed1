"""The routing table of a sharded index, as a value and as a file: which shards have subscriptions of which classes.

The first line says what the file is, in which version of the format, with the checksum of the rest, which is JSON:

    ontosub shards 1 8d2f60a5
    {"classes": {"http://example.org/auction#Computer": [0, 2], …}, "general": [2], "generation": 7, …}

It is written after the shards, and names the generation of each: what does not fit together is not used.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ontosub.matching.compiled.files.array_files import corrupt, own_errors, replace_file
from ontosub.model.errors import IndexDirectoryError

VERSION = 1
"""The version of the format; it grows when tables written before can no longer be read."""

_NAME = "shards"
_FIRST_LINE = re.compile(rb"ontosub shards (\d{1,9}) ([0-9a-f]{8})\n")


@dataclass(frozen=True, slots=True)
class Table:
    """What a sharded index says of itself.

    `generations` and `weights` have a number for each shard: the version of its index, and about how much is in it.
    `classes` has the shards of each class, `general` those that every event goes to.
    """

    fingerprint: str
    generation: int
    generations: tuple[int, ...]
    weights: tuple[int, ...]
    classes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    general: tuple[int, ...] = ()


def is_sharded(directory: Path) -> bool:
    """Say whether a directory holds a sharded index."""
    return (directory / _NAME).is_file()


def shard_path(directory: Path, shard: int) -> Path:
    """Return where the index of a shard is."""
    return directory / str(shard)


def write_table(directory: Path, table: Table) -> None:
    """Make this the routing table of a directory, in one step."""
    told = {
        "fingerprint": table.fingerprint,
        "generation": table.generation,
        "generations": table.generations,
        "weights": table.weights,
        "classes": dict(table.classes),
        "general": table.general,
    }
    rest = json.dumps(told, indent=1, sort_keys=True).encode()
    replace_file(directory / _NAME, [b"ontosub shards %d %08x\n" % (VERSION, zlib.crc32(rest)), rest])


def read_table(directory: Path, *, fingerprint: str | None = None) -> Table:
    """Return the routing table of a directory.

    Raises IndexDirectoryError when there is none, when it is corrupt or of another version, or when the index was made
    with an ontology of another fingerprint.
    """
    path = directory / _NAME
    with own_errors(path):
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            hint = "Give the directory that shard_index has made."
            raise IndexDirectoryError("not a sharded index: it has no routing table", str(directory), hint) from error
    table = _from_bytes(data, path)
    if fingerprint is not None and table.fingerprint != fingerprint:
        hint = "Use it with the ontology that it was made with, or make it again."
        raise IndexDirectoryError("the index was made with another ontology", str(directory), hint)
    return table


def _from_bytes(data: bytes, path: Path) -> Table:
    first_line = _FIRST_LINE.match(data)
    if first_line is None:
        raise corrupt(path, "it is no routing table of ours")
    version, rest = int(first_line[1]), data[first_line.end() :]
    if version != VERSION:
        hint = "Update Ontosub." if version > VERSION else "Make the shards again from their subscriptions."
        raise IndexDirectoryError(f"the shards are of format {version}, not {VERSION}", str(path.parent), hint)
    if b"%08x" % zlib.crc32(rest) != first_line[2]:
        raise corrupt(path, "it has been altered")
    try:
        return _table(json.loads(rest))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise corrupt(path, "it is malformed") from error


def _table(told: dict[str, Any]) -> Table:
    table = Table(
        str(told["fingerprint"]),
        int(told["generation"]),
        _integers(told["generations"]),
        _integers(told["weights"]),
        {str(class_): _integers(shards) for class_, shards in told["classes"].items()},
        _integers(told["general"]),
    )
    count = len(table.generations)
    named = {shard for shards in (*table.classes.values(), table.general) for shard in shards}
    if count < 1 or len(table.weights) != count or not named <= set(range(count)):
        raise ValueError("there are no such shards")
    return table


def _integers(told: list[Any]) -> tuple[int, ...]:
    return tuple(int(each) for each in told)
