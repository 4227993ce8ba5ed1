"""Deliveries, and a small disk, for the folder."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontosub.sinks import Delivery
from ontosub.sinks.rows import KINDS

MATCH: dict[str, Any] = {
    "event_id": "e",
    "subscription_id": "s",
    "bindings": [[("x", '"1"')]],
    "time_start": None,
    "time_end": None,
}
REJECT: dict[str, Any] = {
    "event_id": "e",
    "content_type": "text/turtle",
    "payload": b"?",
    "reason": "no Turtle",
    "line": 1,
    "column": 2,
}
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
DETECTION: dict[str, Any] = {
    "subscription_id": "fire",
    "detection_id": "d",
    "bindings": [[("room", "<urn:küche>"), ("by", "_:b0")], [("room", '"1"')]],
    "time_start": NOON,
    "time_end": NOON,
    "event_ids": ["e1", "é 2"],
    "constituents": json.dumps({"what": "before", "constituents": [{"what": "räuch", "event_id": "e1"}]}),
}
TEMPLATES = {"matches": MATCH, "rejects": REJECT, "detections": DETECTION}


@pytest.fixture
def stage(tmp_path: Path) -> Callable[..., Delivery]:
    """Return what makes a delivery of rows, each given by what is special about it."""
    numbers = count()

    def make(*rows: dict[str, Any], batch: int = 0, pipeline: str = "p", kind: str = "matches") -> Delivery:
        template, schema = TEMPLATES[kind], KINDS[kind]
        path = tmp_path / f"staged-{next(numbers)}.parquet"
        pq.write_table(pa.Table.from_pylist([{**template, **row} for row in rows], schema=schema), path)
        return Delivery(pipeline, batch, schema, (path,))

    return make


class Disk:
    """A folder with room for 2 MB."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        with self._filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(4096)):
                pass

    def make_room(self) -> None:
        self._filler.unlink()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Disk]:
    """Return a disk that is filled soon."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount to make a small disk with")
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted: {done.stderr.strip()}")
    yield Disk(folder)
    # Lazily: a test that has failed may have left files open, and the mount must not outlive it.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
