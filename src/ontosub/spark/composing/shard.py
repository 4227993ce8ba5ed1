"""A shard at work: a detector, the composites it has, and what becomes of chunks of matches; nothing of Spark."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from ontosub.composite import Detection, Detector
from ontosub.composite.moments import FOREVER
from ontosub.languages.composite import to_text
from ontosub.model.errors import UsageError
from ontosub.spark.composing.packing import unpacked
from ontosub.spark.composing.standing import Composites, Standing


class Chunk(NamedTuple):
    """What a shard gets of a table of matches; see CHUNKS."""

    version: str
    latest: int | None
    untimed: int
    matches: bytes | None


class Done(NamedTuple):
    """What a shard has made of some chunks. A match that several shards get is counted in one of them."""

    detections: list[Detection]
    matches: int
    late: int
    untimed: int


@dataclass(frozen=True, slots=True)
class Work:
    """What the shards of a stage have in common. Workers are sent it as it is.

    With a `lateness`, in microseconds, the watermark follows the matches at this distance.
    """

    id: str
    standing: Standing
    keys: tuple[int, ...]
    lateness: int | None
    lifetime: timedelta | None

    def begun(self, key: int) -> Shard:
        """Return a shard that has seen nothing."""
        composites = self.standing.current(self.keys)
        detector = Detector(lifetime=self.lifetime)
        for composite in composites.by_shard[key].values():
            detector.subscribe(composite)
        return Shard(self, key, detector, composites.version)

    def restored(self, key: int, stored: bytes) -> Shard:
        """Return a shard that goes on from what `Shard.stored` gave, with those of its composites that still stand."""
        shards, version, state = pickle.loads(stored)  # noqa: S301 - our own, from Spark's state
        if shards != len(self.keys):
            raise UsageError(f"the checkpoint was made with shards={shards}: go on with that, or begin a new one")
        composites = self.standing.current(self.keys)
        wanted = composites.by_shard[key]
        known = {name: text for name, (text, _) in state["composites"].items()}
        kept = {each.id: each for each in wanted.values() if known.get(each.id) == to_text(each.pattern)}
        is_same = version == composites.version and len(kept) == len(known) == len(wanted)
        return Shard(self, key, Detector.restored(state, kept, lifetime=self.lifetime), version if is_same else "")


class Shard:
    """One shard; `version` is that of the composites it has, empty if it lacks some of them."""

    def __init__(self, work: Work, key: int, detector: Detector, version: str) -> None:
        self._work, self._key, self._version = work, key, version
        self.detector = detector

    def stored(self) -> bytes:
        """Return all that the shard needs to go on elsewhere."""
        return pickle.dumps((len(self._work.keys), self._version, self.detector.state()), protocol=5)

    def take(self, chunks: Sequence[Chunk], watermark: int | None = None) -> Done:
        """Take in chunks, and return what that decides. All that ends by `watermark` had come before them."""
        found = [] if watermark is None else self.detector.advance_to(watermark)
        self._adopt(self._work.standing.current(self._work.keys), {chunk.version for chunk in chunks})
        matches = late = 0
        put = self.detector.put
        for chunk in chunks:
            for subscription_id, event_id, start, end, rows, is_own in unpacked(chunk.matches) if chunk.matches else ():
                matches += is_own
                if not put(subscription_id, event_id, start, end, rows):
                    late += is_own
        latest = max((chunk.latest for chunk in chunks if chunk.latest is not None), default=None)
        if self._work.lateness is not None and latest is not None:
            # A match that ends exactly so much earlier is still in time.
            found += self.detector.advance_to(latest - self._work.lateness - 1)
        return Done(found, matches, late, sum(chunk.untimed for chunk in chunks))

    def finish(self) -> list[Detection]:
        """Return what is decided when nothing more comes."""
        return self.detector.advance_to(FOREVER - 1)

    def _adopt(self, composites: Composites, sent_by: Iterable[str]) -> None:
        """Have the composites that stand now.

        Those that are gone are dropped at once. New ones are taken up only if all matches were sent with them in view:
        else they would miss some that they are entitled to.
        """
        if composites.version == self._version:
            return
        is_complete = all(version == composites.version for version in sent_by)
        former, wanted = self.detector.composites, composites.by_shard[self._key]
        kept = {name for name, each in former.items() if name in wanted and wanted[name].pattern == each.pattern}
        for name in former.keys() - kept:
            self.detector.unsubscribe(name)
        if is_complete:
            for composite in wanted.values():
                self.detector.subscribe(composite)
        self._version = composites.version if is_complete else ""
