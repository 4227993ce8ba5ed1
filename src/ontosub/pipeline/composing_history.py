"""What a detector has gone through, on disk: a state now and then, and the matches of every micro-batch since.

    <batch>.json      what the detector held after a micro-batch; empty if there was none
    <batch>.arrow     the matches of a micro-batch, and the watermark after them

What was held before a batch is what the last state before it makes of the matches since. Writing a whole state with
every batch would take longer than all else where much is held.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from ontosub.disk import replace_file, sync
from ontosub.model.errors import UsageError

_VERSION = 1
"""Of what is stored."""

_WATERMARK = b"watermark"
MATCHES_BYTES_MIN, BATCHES_MAX = 1_000_000, 100
"""A state is due when more bytes of matches have come than it takes, and than this, or so many batches."""


class History:
    """The folder of one detector. What is added is on the disk when `done` returns."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def check(self) -> None:
        """Raise UsageError when the last state cannot be read."""
        self.state(sys.maxsize)

    def begin(self, batch: int) -> None:
        """Leave only what tells what was held before a batch: it may have been tried before, and was not done."""
        base = self._base(batch)
        for path in list(self._folder.glob("[0-9]*.*")):
            number = int(path.name.partition(".")[0])
            if base is None or not (path == self._state(base) or base < number < batch):
                path.unlink()

    def state(self, batch: int) -> dict[str, Any] | None:
        """Return the last state that was stored before a batch; None if there is none, or the detector had ended."""
        base = self._base(batch)
        if base is None or not self._state(base).stat().st_size:
            return None
        path = self._state(base)
        try:
            told = json.loads(path.read_bytes())
            version, state = told["version"], told["state"]
        except (ValueError, LookupError, TypeError) as error:
            raise _unreadable(path, error) from error
        if version != _VERSION:
            raise UsageError(f"state: {path}: made by another version of Ontosub: run that one, or give another folder")
        found: dict[str, Any] = state
        return found

    def since(self, batch: int) -> Iterator[tuple[pa.Table, int | None]]:
        """Yield the matches of the batches between that state and a batch, each with the watermark after it."""
        base = self._base(batch)
        for number in range(batch if base is None else base + 1, batch):
            path = self._matches(number)
            try:
                with pa.OSFile(str(path)) as file:
                    matches = pa.ipc.open_file(file).read_all()
                watermark = json.loads(matches.schema.metadata[_WATERMARK])
            except (ValueError, LookupError, TypeError, OSError) as error:
                raise _unreadable(path, error) from error
            yield matches, watermark

    def add(self, batch: int, matches: pa.Table, watermark: int | None) -> None:
        """Store the matches of a batch."""
        self._folder.mkdir(parents=True, exist_ok=True)
        told, written = matches.replace_schema_metadata({_WATERMARK: json.dumps(watermark)}), pa.BufferOutputStream()
        with pa.ipc.new_file(written, told.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_table(told)
        replace_file(self._matches(batch), [written.getvalue()])

    def is_long(self, batch: int) -> bool:
        """Say whether a state is due after a batch."""
        base = self._base(batch)
        if base is None or batch - base >= BATCHES_MAX:
            return True
        size = sum(self._matches(number).stat().st_size for number in range(base + 1, batch + 1))
        return size > max(MATCHES_BYTES_MIN, self._state(base).stat().st_size)

    def keep(self, batch: int, state: dict[str, Any]) -> None:
        """Store what is held after a batch."""
        told = json.dumps({"version": _VERSION, "state": state}, ensure_ascii=False, separators=(",", ":"))
        replace_file(self._state(batch), [told.encode()])

    def end(self, batch: int) -> None:
        """Note that there is no detector after a batch: what comes later begins with nothing."""
        base = self._base(batch)
        if base is not None and self._state(base).stat().st_size:
            replace_file(self._state(batch), [])
            self.done()

    def done(self) -> None:
        """Force what was added to the disk."""
        sync(self._folder)

    def _base(self, batch: int) -> int | None:
        """Return after which batch the last state before this one was stored."""
        stored = [int(path.stem) for path in self._folder.glob("[0-9]*.json")]
        return max((number for number in stored if number < batch), default=None)

    def _state(self, batch: int) -> Path:
        return self._folder / f"{batch}.json"

    def _matches(self, batch: int) -> Path:
        return self._folder / f"{batch}.arrow"


def _unreadable(path: Path, error: Exception) -> UsageError:
    return UsageError(f"state: {path}: cannot be read: {error}")
