"""Versions of the index, pinned: all tasks of a micro-batch work with the same one, whoever saves meanwhile."""

from __future__ import annotations

import shutil
from pathlib import Path

from ontosub.spark.task_index import TaskIndex


class Snapshots:
    """Keeps the version that was pinned last, in a folder that workers can read."""

    def __init__(self, folder: Path, index: TaskIndex) -> None:
        self._folder = folder
        self._index = index
        self._pinned: TaskIndex | None = None
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    def pin(self) -> TaskIndex:
        """Return the version that the index has now, to be read by workers until the next call.

        Raises IndexDirectoryError when the index has become another one.
        """
        if self._pinned is None or Path(self._pinned.directory).name != str(self._index.version()):
            self._pinned = self._taken()
        return self._pinned

    def _taken(self) -> TaskIndex:
        into = self._folder / "new"
        shutil.rmtree(into, ignore_errors=True)
        target = self._folder / str(self._index.copied(into))
        into.rename(target)
        for other in self._folder.iterdir():
            if other != target:
                shutil.rmtree(other, ignore_errors=True)
        return self._index.at(target)
