"""What has been written is on the disk, or it may be gone after a crash."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PARTIAL = ".partial"
"""What a file's name ends with while it is being written."""


def sync(path: Path) -> None:
    """Force a file, or a directory's own list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Put a file in place, whole or not at all: a neighbour is written, forced to the disk, and takes its name."""
    partial = path.with_name(path.name + PARTIAL)
    try:
        with partial.open("wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise
