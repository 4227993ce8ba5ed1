"""An index in a directory: immutable files of arrays, and a manifest that says which of them are the index.

    manifest                what belongs to the index, with checksums; replacing it is what commits a save
    segments/<name>.arrays  segments, tombstones, and what the index has as a whole
    lock                    held by the one process that saves

A save writes new files beside those in use, then replaces the manifest in one step. A crash before that step leaves
the former version, one after it the new version, and nothing in between. Files that the manifest no longer names are
collected; as on any POSIX system, readers that have them mapped keep them.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from numpy.typing import NDArray

from ontosub.disk import PARTIAL, sync
from ontosub.matching.compiled.files.array_files import (
    MAGIC,
    ArrayFile,
    Arrays,
    Json,
    open_arrays,
    own_errors,
    replace_file,
    write_arrays,
)
from ontosub.matching.compiled.files.manifest import (
    NAME,
    NOT_AN_INDEX,
    Manifest,
    manifest_from_bytes,
    manifest_to_bytes,
)
from ontosub.model.errors import IndexDirectoryError, UsageError

_MANIFEST, _LOCK, _SEGMENTS, _SUFFIX = "manifest", "lock", "segments", ".arrays"
_OURS = {_MANIFEST, _MANIFEST + PARTIAL, _LOCK, _SEGMENTS}


@dataclass(frozen=True, slots=True)
class Opened:
    """A version of an index, mapped: the arrays and the JSON of each of its files."""

    manifest: Manifest
    contents: Mapping[ArrayFile, tuple[Arrays, dict[str, Json]]]


def open_index(
    directory: Path, *, fingerprint: str | None = None, verify: bool = True, former: Opened | None = None
) -> Opened:
    """Map all files of the version that is there now, while another process may be saving the next one.

    Files that `former` has already are taken from it. Raises IndexDirectoryError when the directory is not an index,
    was made with an ontology of another fingerprint or by another version of the format, or is corrupt.
    """
    known = {} if former is None else former.contents
    while True:
        manifest = read_manifest(directory, fingerprint=fingerprint)
        try:
            return Opened(
                manifest,
                {
                    entry: known[entry] if entry in known else open_file(directory, entry, verify=verify)
                    for entry in manifest.entries
                },
            )
        except IndexDirectoryError:
            # A file may be gone because the next version has just been committed; then that one is to be opened.
            if read_manifest(directory).generation == manifest.generation:
                raise


def open_file(directory: Path, entry: ArrayFile, *, verify: bool = True) -> tuple[Arrays, dict[str, Json]]:
    """Return the arrays of one of the manifest's files as read-only maps, and its JSON; see `open_arrays`."""
    return open_arrays(segment_path(directory, entry.name), entry, verify=verify)


def read_manifest(directory: Path, *, fingerprint: str | None = None) -> Manifest:
    """Return what the directory says it holds; see `open_index` for what is refused."""
    path = directory / _MANIFEST
    with own_errors(path):
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            what = "it has no manifest" if directory.is_dir() else "there is no such directory"
            raise IndexDirectoryError(f"not an index directory: {what}", str(directory), NOT_AN_INDEX) from error
    manifest = manifest_from_bytes(data, path)
    if fingerprint is not None and manifest.fingerprint != fingerprint:
        raise IndexDirectoryError(
            "the index was made with another ontology",
            str(directory),
            "Open it with the ontology that it was made with, or build the index again.",
        )
    return manifest


class Writer:
    """The only one that saves into a directory, from here to `close` (or the death of its process).

    Write files, commit a manifest that names them, collect what no manifest names any more. `manifest` is the version
    that was committed last, by whomever; None when there is none yet.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._written: set[str] = set()
        _make(directory)
        self._lock = _locked(directory)
        try:
            self.manifest = read_manifest(directory) if _has_manifest(directory) else None
        except BaseException:
            self.close()
            raise

    def write(self, name: str, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Json]) -> ArrayFile:
        """Write a file that a manifest can name. It must not have the name of one that is in use."""
        if not NAME.fullmatch(name):
            raise UsageError(f"a file of an index cannot be called {name!r}")
        if self.manifest is not None and any(entry.name == name for entry in self.manifest.entries):
            raise UsageError(f"the index has a file {name!r} already, and files never change")
        self._written.add(name)
        return write_arrays(segment_path(self.directory, name), name, arrays, meta)

    def commit(self, manifest: Manifest) -> None:
        """Make this the version that readers see.

        Its generation must be the one after `self.manifest`'s (or 1), and all of its files must be there.
        """
        former = 0 if self.manifest is None else self.manifest.generation
        if manifest.generation != former + 1:
            raise IndexDirectoryError(
                f"generation {manifest.generation} cannot follow generation {former}",
                str(self.directory),
                "Another process has saved here meanwhile: open the directory again, or save into another one.",
            )
        self.adopt(manifest)

    def adopt(self, manifest: Manifest) -> None:
        """Make this the version that readers see, whatever was there before; all of its files must be there."""
        for entry in manifest.entries:
            open_file(self.directory, entry, verify=False)
        data = manifest_to_bytes(manifest)
        _sync(self.directory / _SEGMENTS)
        replace_file(self.directory / _MANIFEST, [data])
        self.manifest = manifest
        self._written.clear()
        _sync(self.directory)

    def collect(self) -> list[str]:
        """Remove the files that are neither named by the manifest nor written since; return their names.

        Whatever else somebody put into the directory stays.
        """
        kept = {entry.name for entry in self.manifest.entries} if self.manifest is not None else set[str]()
        kept |= self._written
        removed = []
        with own_errors(self.directory / _SEGMENTS):
            for path in sorted((self.directory / _SEGMENTS).iterdir()):
                if _is_ours(path) and path.name.removesuffix(_SUFFIX) not in kept:
                    os.unlink(path)
                    removed.append(path.name)
        return removed

    def close(self) -> None:
        """Let others save."""
        if self._lock >= 0:
            # Explicitly, because a forked child would go on holding what was only closed here.
            fcntl.flock(self._lock, fcntl.LOCK_UN)
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def segment_path(directory: Path, name: str) -> Path:
    """Return where a file of an index is."""
    return directory / _SEGMENTS / (name + _SUFFIX)


def _has_manifest(directory: Path) -> bool:
    return (directory / _MANIFEST).exists()


def _make(directory: Path) -> None:
    """Make the directory, unless it is there; refuse one with things in it that are not an index."""
    with own_errors(directory):
        if not directory.exists():
            os.makedirs(directory)
            _sync(directory.parent)
        foreign = not _has_manifest(directory) and {path.name for path in directory.iterdir()} - _OURS
        if foreign:
            raise IndexDirectoryError(
                f"not an index directory: it holds {min(foreign)!r}", str(directory), NOT_AN_INDEX
            )
        os.makedirs(directory / _SEGMENTS, exist_ok=True)


def _locked(directory: Path) -> int:
    """Return a descriptor that holds the lock. The system lets go of it when the process ends, in whichever way."""
    path = directory / _LOCK
    with own_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            hint = "Wait until the other process has saved, or save into another directory."
            raise IndexDirectoryError("the directory is in use: another process saves", str(directory), hint) from error
    return descriptor


def _sync(directory: Path) -> None:
    with own_errors(directory):
        sync(directory)


def _is_ours(path: Path) -> bool:
    """Say whether a file was written here, by its name and by how it begins; one may have been left unfinished."""
    if path.is_symlink() or not path.is_file() or not path.name.endswith((_SUFFIX, _SUFFIX + PARTIAL)):
        return False
    with path.open("rb") as file:
        beginning = file.read(len(MAGIC))
    return beginning == MAGIC or (path.name.endswith(PARTIAL) and MAGIC.startswith(beginning))


__all__ = ["ArrayFile", "Arrays", "Json", "Manifest", "Opened", "Writer", "open_file", "open_index", "read_manifest"]
