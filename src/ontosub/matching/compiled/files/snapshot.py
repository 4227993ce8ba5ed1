"""A version of an index, kept: what a directory holds now, in a directory of its own that no save will touch."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ontosub.matching.compiled.files.array_files import own_errors
from ontosub.matching.compiled.files.directory import Writer, read_manifest, segment_path
from ontosub.matching.compiled.files.manifest import Manifest
from ontosub.model.errors import IndexDirectoryError


def take_snapshot(directory: Path, into: Path, *, fingerprint: str | None = None) -> Manifest:
    """Make a new directory `into` that holds the version that `directory` holds now, and return its manifest.

    Files are shared where the file system can, else copied. Another process may be saving meanwhile. Raises
    IndexDirectoryError as `open_index` does.
    """
    while True:
        manifest = read_manifest(directory, fingerprint=fingerprint)
        try:
            _copy(directory, into, manifest)
            return manifest
        except FileNotFoundError as error:
            # A file may be gone because the next version has just been committed; then that one is to be taken.
            shutil.rmtree(into, ignore_errors=True)
            if read_manifest(directory).generation == manifest.generation:
                raise IndexDirectoryError(
                    "a file of the index is missing", str(error.filename), "Build the index again."
                ) from error


def _copy(directory: Path, into: Path, manifest: Manifest) -> None:
    with Writer(into) as writer:
        for entry in manifest.entries:
            _link(segment_path(directory, entry.name), segment_path(into, entry.name))
        writer.adopt(manifest)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without links
        with own_errors(target):
            shutil.copyfile(source, target)
