"""The composite subscriptions that stand, as workers know them: sent with the stage, or in a file that may change.

Which shard a composite is in depends on nothing but itself, so that it stays there whoever else comes and goes.
Composites with the same operands are together: their equal sub-patterns are detected once.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from zlib import crc32

from ontosub.model.composite import Composite
from ontosub.model.errors import UsageError
from ontosub.spark.composing.composite_file import read_composites


@dataclass(frozen=True)
class Composites:
    """One version of the composites that stand, divided over shards, which go by their `keys`."""

    version: str
    keys: tuple[int, ...]
    composites: tuple[Composite, ...]

    @cached_property
    def by_shard(self) -> dict[int, dict[str, Composite]]:
        """The composites of each shard by id."""
        found: dict[int, dict[str, Composite]] = {key: {} for key in self.keys}
        for composite in self.composites:
            operands = "\n".join(sorted(composite.subscription_ids))
            found[self.keys[crc32(operands.encode()) % len(self.keys)]][composite.id] = composite
        return found

    @cached_property
    def routes(self) -> dict[str, tuple[int, ...]]:
        """The shards that the matches of each subscription go to."""
        found: dict[str, dict[int, None]] = {}
        for key, composites in self.by_shard.items():
            for composite in composites.values():
                for subscription_id in composite.subscription_ids:
                    found.setdefault(subscription_id, {})[key] = None
        return {subscription_id: tuple(keys) for subscription_id, keys in found.items()}


_read: dict[tuple[Standing, tuple[int, ...]], Composites] = {}
"""The version of each stage's composites that this process has."""


class Standing(ABC):
    """Where the composites of a stage are found. Workers are sent it as it is."""

    def current(self, keys: tuple[int, ...]) -> Composites:
        """Return the version that stands now, read only if this process has it not."""
        while True:
            version = self._version()
            known = _read.get((self, keys))
            if known is not None and known.version == version:
                return known
            read = Composites(version, keys, tuple(self._composites()))
            # Kept only if it is known which version was read: another may have been saved meanwhile.
            if self._version() == version:
                _read[self, keys] = read

    @abstractmethod
    def _version(self) -> str: ...

    @abstractmethod
    def _composites(self) -> Iterable[Composite]: ...


@dataclass(frozen=True)
class Sent(Standing):
    """Composites that come with the stage, and never change."""

    pickled: bytes
    digest: str

    def _version(self) -> str:
        return self.digest

    def _composites(self) -> Iterable[Composite]:
        return pickle.loads(self.pickled)  # type: ignore[no-any-return]  # noqa: S301 - our own, sent by the driver

    def __hash__(self) -> int:
        return hash(self.digest)


@dataclass(frozen=True)
class Filed(Standing):
    """Composites in a file that every worker can read, and that is replaced when they change."""

    path: str

    def _version(self) -> str:
        found = Path(self.path).stat()
        return f"{found.st_mtime_ns} {found.st_size} {found.st_ino}"

    def _composites(self) -> Iterable[Composite]:
        return read_composites(self.path)


def standing_of(composites: Iterable[Composite] | str | Path) -> Standing:
    """Return where composites are: in the file of that path, which must be readable now, or else sent along."""
    if isinstance(composites, str | Path):
        path = Path(composites).resolve()
        read_composites(path)
        return Filed(str(path))
    found: dict[str, Composite] = {}
    if not isinstance(composites, Iterable):
        raise UsageError("composites are an iterable of Composite, or the path of a file of them (save_composites)")
    for composite in composites:
        if not isinstance(composite, Composite):
            raise UsageError(f"{composite!r} is no composite subscription: make it one with Composite.parse")
        if found.setdefault(composite.id, composite) != composite:
            raise UsageError(f"two composite subscriptions have the id {composite.id!r}")
    # What was written inside a text is for the matcher to know; the detector goes by ids.
    pickled = pickle.dumps([replace(each, subscriptions=(), text=None) for each in found.values()])
    return Sent(pickled, sha256(pickled).hexdigest())
