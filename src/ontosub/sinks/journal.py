"""What a receiver has acknowledged, kept in a small local database, so that a restart does not send it again.

Batches of a pipeline come in order, and their parts too: one row for each pipeline and kind says it all.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

_TABLE = """
CREATE TABLE IF NOT EXISTS acknowledged (
    pipeline TEXT, kind TEXT, batch INTEGER NOT NULL, rows_per_part INTEGER NOT NULL, parts INTEGER NOT NULL,
    PRIMARY KEY (pipeline, kind)
)"""
_BEGIN = """
INSERT INTO acknowledged VALUES (:pipeline, :kind, :batch, :rows_per_part, 0)
ON CONFLICT DO UPDATE SET batch = :batch, rows_per_part = :rows_per_part, parts = 0 WHERE :batch > batch"""
_STATE = "SELECT batch, rows_per_part, parts FROM acknowledged WHERE pipeline = ? AND kind = ?"
_ACKNOWLEDGE = "UPDATE acknowledged SET parts = parts + 1 WHERE pipeline = ? AND kind = ? AND batch = ?"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch has come: how it was cut when it was first sent, and how many parts are acknowledged."""

    rows_per_part: int
    parts: int


class Journal:
    """The acknowledgements in a file. Raises what `sqlite3` raises."""

    def __init__(self, path: Path) -> None:
        # Spark calls from threads of its own, one after the other.
        self._connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute(_TABLE)
        except BaseException:
            self.close()
            raise

    def begin(self, pipeline: str, kind: str, batch: int, rows_per_part: int) -> Progress | None:
        """Return how far a batch has come, also if this is its beginning; None if it lies behind."""
        wanted = {"pipeline": pipeline, "kind": kind, "batch": batch, "rows_per_part": rows_per_part}
        self._connection.execute(_BEGIN, wanted)
        current, cut, parts = self._connection.execute(_STATE, (pipeline, kind)).fetchone()
        return Progress(cut, parts) if current == batch else None

    def acknowledge(self, pipeline: str, kind: str, batch: int) -> None:
        """Note that the next part of a batch is acknowledged."""
        self._connection.execute(_ACKNOWLEDGE, (pipeline, kind, batch))

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
