"""Rows as files: a folder for each micro-batch, which appears as a whole or not at all.

A batch is put together in a hidden folder beside its place, synced, and renamed. The name of that folder is free of
chance and each pipeline has one writer, so what a crash has left behind is found and removed when the pipeline delivers
next, and what another pipeline is writing meanwhile is left alone.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq

from ontosub.disk import sync
from ontosub.model.errors import UsageError
from ontosub.sinks.file_faults import told
from ontosub.sinks.moments import is_within_calendar
from ontosub.sinks.rows import json_objects, json_text, kind_of
from ontosub.sinks.sink import Delivery, Sink

FORMATS = ("parquet", "json")

_RESERVED = re.compile(r"[\x00-\x2c/:-@\[-^`{-\x7f]")
"""What is escaped in names of folders; nothing else, since Spark takes an escape for a character, not for a byte."""


class FileSink(Sink):
    """Deliver rows to `path/<kind>/pipeline=<name>/batch=<number>/part-….<format>`.

    Folders are named as Hive names partitions: `spark.read.parquet(f"{path}/matches")` and `pyarrow.dataset` read all
    batches as one table. Empty batches leave nothing.
    """

    def __init__(self, path: str | Path, format: str = "parquet") -> None:
        if format not in FORMATS:
            raise UsageError(f"option format: {format!r} is none of {', '.join(FORMATS)}")
        self._path = Path(path)
        self._format = format

    def open(self) -> None:
        with told("path", self._path):
            self._path.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._path, prefix="."):
                pass
            sync(self._path.parent)

    def deliver(self, delivery: Delivery) -> None:
        folder = self._folder(delivery)
        with told("path", self._path):
            if folder.exists():
                self._check_format(folder)
            elif any(_has_rows(file) for file in delivery.files):
                self._publish(delivery, folder)
            # Also for a batch that was there: whoever renamed it may have died before this.
            for level in (folder.parent, folder.parent.parent, self._path):
                if level.exists():
                    sync(level)

    def _folder(self, delivery: Delivery) -> Path:
        pipeline = "pipeline=" + _RESERVED.sub(lambda found: f"%{ord(found[0]):02X}", delivery.pipeline)
        return self._path / kind_of(delivery) / pipeline / f"batch={delivery.batch:012d}"

    def _check_format(self, folder: Path) -> None:
        if not any(folder.glob(f"*.{self._format}")):
            raise UsageError(
                f"option path: {folder} is there, but not as {self._format}: give each format its own path"
            )

    def _publish(self, delivery: Delivery, folder: Path) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        for leftover in folder.parent.glob(".batch=*"):
            shutil.rmtree(leftover)
        hidden = folder.with_name("." + folder.name)
        try:
            hidden.mkdir()
            (_write_lines if self._format == "json" else _link)(delivery, hidden)
            for part in hidden.iterdir():
                sync(part)
            sync(hidden)
            hidden.rename(folder)
        except BaseException:
            shutil.rmtree(hidden, ignore_errors=True)  # above all, this makes room on a full disk
            raise


def _has_rows(file: Path) -> bool:
    return bool(pq.read_metadata(file).num_rows)


def _write_lines(delivery: Delivery, folder: Path) -> None:
    with (folder / "part-00000.json").open("w", encoding="utf-8", newline="\n") as lines:
        for table in delivery.tables():
            lines.writelines(json_text(row) + "\n" for row in json_objects(table))


def _link(delivery: Delivery, folder: Path) -> None:
    """Link the staged files, which nobody writes to any more, or copy them if they are on another file system.

    A file with moments that not every reader can hold is written anew, without them.
    """
    for number, file in enumerate(filter(_has_rows, delivery.files)):
        part = folder / f"part-{number:05d}.parquet"
        if not is_within_calendar(file):
            _rewrite(replace(delivery, files=(file,)), part)
            continue
        try:
            os.link(file, part)
        except OSError:
            shutil.copyfile(file, part)


def _rewrite(delivery: Delivery, part: Path) -> None:
    with pq.ParquetWriter(part, delivery.schema) as writer:
        for table in delivery.tables():
            writer.write_table(table)
