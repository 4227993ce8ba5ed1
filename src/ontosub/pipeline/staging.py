"""Staging: what the workers have made of a micro-batch, on disk until every sink has it.

    <batch>/          Parquet files of matches and rejects, as tasks wrote them, those of failed attempts among them,
                      and of what composites were made of, and of detections
    <batch>.json      which of these files count, and how much is in them; there as soon as all tasks are done

A batch that Spark repeats after a crash is delivered from what is here, if it had been finished: so all sinks get the
same rows, even if subscriptions have changed since.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ontosub.disk import replace_file, sync


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a micro-batch: names of files in its folder, and how many rows went in and came out.

    `operands_files` are matches that composites are made of; `late` ones of them came too late, `untimed` ones had no
    time, and neither were used. `latest` is when the last match ends, in microseconds since 1970. `overruns` says, by
    the composite's id, for how many instances not all combinations were tried.
    """

    matches_files: tuple[str, ...]
    rejects_files: tuple[str, ...]
    payloads: int
    matches: int
    rejects: int
    operands_files: tuple[str, ...] = ()
    latest: int | None = None
    detections_files: tuple[str, ...] = ()
    detections: int = 0
    late: int = 0
    untimed: int = 0
    overruns: dict[str, int] = field(default_factory=dict)


class Staging:
    """The staging folder of one pipeline."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def folder(self, batch: int) -> Path:
        """Return the folder of a batch."""
        return self._folder / str(batch)

    def begin(self, batch: int) -> Path:
        """Return the folder of a batch, made anew; every other batch has been delivered by now, and is discarded."""
        for path in sorted(self._folder.iterdir(), key=Path.is_dir):  # records first: without files they would mislead
            if path.is_dir():
                # A task that Spark has given up may still be writing there: the rest goes with the next batch.
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        self.folder(batch).mkdir(exist_ok=True)
        return self.folder(batch)

    def complete(self, batch: int, outcome: Outcome) -> None:
        """Note what the batch has come to; from here on it is not computed again."""
        sync(self.folder(batch))
        replace_file(self._record(batch), [json.dumps(asdict(outcome)).encode()])
        sync(self._folder)

    def outcome(self, batch: int) -> Outcome | None:
        """Return what the batch has come to, if it was finished."""
        try:
            told: dict[str, Any] = json.loads(self._record(batch).read_text())
        except FileNotFoundError:
            return None
        told |= {name: tuple(value) for name, value in told.items() if isinstance(value, list)}
        return Outcome(**told)

    def files(self, batch: int, names: Iterable[str]) -> tuple[Path, ...]:
        """Return the paths of files of a batch."""
        return tuple(self.folder(batch) / name for name in names)

    def _record(self, batch: int) -> Path:
        return self._folder / f"{batch}.json"
