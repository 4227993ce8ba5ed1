"""The state folder of a pipeline, and whose it is: a checkpoint means something only to the pipeline that wrote it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from time import time
from types import TracebackType
from typing import Any, Self

from ontosub.disk import replace_file
from ontosub.model.errors import UsageError

_VERSION = 1

_BATCHES_PER_S = 1_000_000
"""More micro-batches than there ever are in a second."""


class State:
    """The folder where a pipeline keeps what must survive it; one process at a time may have it."""

    def __init__(self, folder: Path, name: str, source: str, clock: Callable[[], float] = time) -> None:
        self._folder = folder.absolute()  # workers may work elsewhere
        self._own = {"version": _VERSION, "name": name, "source": source}
        self._clock = clock
        self._lock = -1
        self.first_batch = 0
        """The number of the first micro-batch, for sinks.

        Spark counts from 0 in every checkpoint. Sinks that have seen the batches of a former one, whose folder is gone,
        must not take those of this one for the same: so numbers go on growing with the time.
        """

    @property
    def checkpoint(self) -> Path:
        """Where Spark keeps offsets."""
        return self._folder / "checkpoint"

    @property
    def staging(self) -> Path:
        """Where the results of a micro-batch are until all sinks have them."""
        return self._folder / "staging"

    @property
    def index(self) -> Path:
        """Where the index of watched subscriptions is."""
        return self._folder / "index"

    @property
    def snapshots(self) -> Path:
        """Where versions of the index are pinned."""
        return self._folder / "snapshots"

    @property
    def composites(self) -> Path:
        """Where it is kept what composites wait with."""
        return self._folder / "composites"

    @property
    def deliveries(self) -> Path:
        """Where sinks that cannot remember what they were given have it noted."""
        return self._folder / "deliveries"

    def __enter__(self) -> Self:
        """Take the folder. Raises UsageError when it is another pipeline's, or in use."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise UsageError(f"state: {self._folder}: cannot be used: {(error.strerror or '').lower()}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._claim()
        except BlockingIOError as error:
            self._let_go()
            raise UsageError(f"state: {self._folder}: in use: this pipeline is running already") from error
        except BaseException:
            self._let_go()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._let_go()

    def _let_go(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _claim(self) -> None:
        owner = self._folder / "pipeline.json"
        if not owner.exists():
            if self.checkpoint.exists():
                raise UsageError(
                    f"state: {self._folder}: holds a checkpoint, but not one of Ontosub: give another folder"
                )
            self.first_batch = int(self._clock()) * _BATCHES_PER_S
            told = json.dumps({**self._own, "first_batch": self.first_batch}, indent=1) + "\n"
            replace_file(owner, [told.encode()])
            return
        found = self._read(owner)
        self.first_batch = found.pop("first_batch", 0)
        if found != self._own:
            differing = [key for key in self._own if found.get(key) != self._own[key]]
            told = ", ".join(f"its {key} is {found.get(key)!r}, not {self._own[key]!r}" for key in differing)
            raise UsageError(
                f"state: {self._folder}: the checkpoint of another pipeline: {told}. "
                "Its offsets would mean nothing here: give another folder, or run that pipeline"
            )

    def _read(self, owner: Path) -> dict[str, Any]:
        try:
            found = json.loads(owner.read_text())
        except (ValueError, OSError) as error:
            raise UsageError(f"state: {owner}: cannot be read: {error}") from error
        return found if isinstance(found, dict) else {}
