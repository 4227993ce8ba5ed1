"""Events from the files of a folder, each file once: those that are there, then those that appear.

A file is one row, and its events are told apart by `decode`; only files of Parquet have a row for each event. So an
event is called after its file, relative to the folder: `monday/lots.csv`, `monday/lots.csv#2`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import col, create_map, lit, lower, regexp_extract, substring

from ontosub.formats.media import FORMATS, media_of
from ontosub.model.errors import UsageError
from ontosub.spark.schemas import EVENTS, OPTIONAL
from ontosub.spark.sources.source import Source, check_limit

FILES_MAX = 1_000
PARQUET = "parquet"

_MEDIA_TYPES = {extension: each.media_types[0] for each in FORMATS for extension in each.extensions}
_CONTENTS = "path string, modificationTime timestamp, length long, content binary"
_COMPANION = r"(?i)\.(context|mapping)\.json$"
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


@dataclass(frozen=True, slots=True)
class FileSource(Source):
    """The files in a folder and in the folders inside of it.

    `format` is a media type, an extension or a short name, or `parquet` for files with the columns of EVENTS; without
    it, each file's extension says what it is, and files with other extensions are left alone. So are files whose name
    begins with `.` or `_`, and the `.context.json` and `.mapping.json` that lie beside others.

    A micro-batch has at most `max_files` files, or at most `max_bytes` bytes but at least one file. Folders elsewhere
    (`hdfs://…`) are those that Spark has been set up for.
    """

    path: str | Path
    format: str | None = None
    max_files: int | None = None
    max_bytes: int | None = None

    def check(self) -> None:
        check_limit("max_files", self.max_files)
        check_limit("max_bytes", self.max_bytes)
        if self.max_files is not None and self.max_bytes is not None:
            raise UsageError("max_files and max_bytes are both given: Spark takes one of them")
        if self.format is not None and not self._is_parquet:
            _check_format(self.format)
        if not _REMOTE.match(str(self.path)):
            self._check_folder(Path(self.path))

    def identity(self) -> str:
        return f"files {self._root}"

    def stream(self, spark: SparkSession) -> DataFrame:
        schema = EVENTS if self._is_parquet else _CONTENTS
        reader = spark.readStream.format(self._reader).schema(schema).options(**self._found, **self._admitted)
        return self._events(reader.load(_literally(self._root)))

    def batch(self, spark: SparkSession) -> DataFrame:
        schema = EVENTS if self._is_parquet else _CONTENTS
        reader = spark.read.format(self._reader).schema(schema).options(**self._found)
        return self._events(reader.load(_literally(self._root)))

    @property
    def _is_parquet(self) -> bool:
        return self.format is not None and self.format.lower() in (PARQUET, f".{PARQUET}")

    @property
    def _reader(self) -> str:
        return PARQUET if self._is_parquet else "binaryFile"

    @property
    def _root(self) -> str:
        """The folder as Spark writes it in the paths of its files."""
        given = str(self.path)
        return given.rstrip("/") if _REMOTE.match(given) else f"file:{os.path.abspath(given)}"

    @property
    def _found(self) -> dict[str, str]:
        options = {"recursiveFileLookup": "true"}
        if self.format is None or self._is_parquet:
            options["pathGlobFilter"] = _glob([PARQUET] if self._is_parquet else list(_MEDIA_TYPES))
        return options

    @property
    def _admitted(self) -> dict[str, str]:
        # Spark forgets files that are much older than the newest, and never reads one that it takes for forgotten.
        options = {"maxFileAge": "36500d"}
        if self.max_bytes is not None:
            return {**options, "maxBytesPerTrigger": str(self.max_bytes)}
        return {**options, "maxFilesPerTrigger": str(self.max_files or FILES_MAX)}

    def _events(self, files: DataFrame) -> DataFrame:
        if self._is_parquet:
            return files
        path = col("path")
        nothing = lit(None).cast("timestamp")
        return files.where(~path.rlike(_COMPANION)).select(
            substring(path, len(self._root) + 2, 1 << 30).alias("event_id"),
            self._content_type(path).alias("content_type"),
            col("content").alias("payload"),
            nothing.alias("time_start"),
            nothing.alias("time_end"),
        )

    def _content_type(self, path: Column) -> Column:
        if self.format is not None:
            return lit(media_of(self.format).format.media_types[0] if "/" not in self.format else self.format)
        known = create_map(*[lit(text) for pair in _MEDIA_TYPES.items() for text in pair])
        return known[lower(regexp_extract(path, r"\.([^./]+)$", 1))]

    def _check_folder(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UsageError(f"path is {folder}: there is no such folder")
        found = next(_parquet_files(folder), None)
        if found is not None and self.format is None:
            raise UsageError(f"format is not given, and the folder {folder} has files of Parquet: give {PARQUET!r}")
        if found is not None and self._is_parquet:
            _check_columns(found)


def _check_format(name: str) -> None:
    try:
        media_of(name)
    except UsageError as error:
        raise UsageError(f"format: {error}; or {PARQUET}") from None


def _parquet_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.suffix.lower() == f".{PARQUET}" and path.name[0] not in "._")


def _check_columns(path: Path) -> None:
    """Check one file: Spark would take a column that is missing for one without values."""
    try:
        names = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"path: {path} cannot be read as Parquet: {error}") from None
    missing = [name for name in EVENTS.names if name not in names and name not in OPTIONAL]
    if missing:
        raise UsageError(f"path: {path} lacks the column {missing[0]}")


def _glob(extensions: list[str]) -> str:
    """Return Hadoop's pattern for names with one of the extensions, in whichever case."""
    spelled = ["".join(f"[{letter}{letter.upper()}]" for letter in extension) for extension in extensions]
    return f"*.{{{','.join(spelled)}}}"


def _literally(path: str) -> str:
    """Return a path that Spark, which takes all paths for patterns, takes for itself."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)
