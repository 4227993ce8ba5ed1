"""The detector: composite subscriptions in, matches in, detections out.

Matches wait until the watermark passes them, and are then looked at in canonical order; so the order in which they
arrive does not matter as long as none comes too late. There is no clock: time is what `advance` says.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import heappop, heappush
from typing import Any

from ontosub.composite.detection import Detection
from ontosub.composite.instance import Row, Rows
from ontosub.composite.moments import FOREVER, moment_of, ticks, ticks_of
from ontosub.composite.network import Found, Network, Pending
from ontosub.composite.terms import scoped, text_of
from ontosub.composite.waiting import Waiting, described
from ontosub.languages.composite import to_text
from ontosub.model.composite import Composite
from ontosub.model.errors import UnknownSubscription, UsageError
from ontosub.model.match import Match

LATE_KEPT = 1_000
"""How many of the matches that came too late are kept to be looked at; all of them are counted."""


@dataclass(frozen=True, slots=True)
class Counters:
    """How much has been done, and how much is held now.

    `late` matches came after the watermark had passed them, `repeated` ones had been there already; neither was used.
    `pending` ones wait for the watermark. `live` instances are held by operators, for so many `keys`, when what is
    outlived is forgotten. `steps` are candidates and pairs of answers looked at; for `overruns` instances there were
    too many of them, and not all were tried, or what came of them was too large.
    """

    matches: int
    late: int
    repeated: int
    detections: int
    pending: int
    live: int
    keys: int
    operators: int
    steps: int
    overruns: int


class Detector:
    """Finds composite events among matches.

    With a `lateness`, the watermark follows the matches at this distance: a match may come that much later than one
    that ends after it. Without, only `advance` moves it. `lifetime` holds for matches that have none of their own.
    `start` is the first watermark: silences are counted from there.
    """

    def __init__(
        self,
        *,
        lateness: timedelta | None = None,
        lifetime: timedelta | None = None,
        start: datetime | None = None,
    ) -> None:
        if lateness is not None and lateness < timedelta(0):
            raise UsageError(f"the lateness is negative: {lateness}")
        if lifetime is not None and lifetime < timedelta(0):
            raise UsageError(f"the lifetime is negative: {lifetime}")
        self._lateness = None if lateness is None else ticks_of(lateness)
        self._lifetime = FOREVER if lifetime is None else ticks_of(lifetime)
        self._watermark = None if start is None else ticks(start)
        self._network = Network(self._lifetime)
        self._pending: list[Pending] = []
        self._matches = self._late = self._repeated = self._detections = 0
        self.late: deque[Match] = deque(maxlen=LATE_KEPT)

    @property
    def watermark(self) -> datetime | None:
        """The moment up to which all matches have been looked at."""
        return None if self._watermark is None else moment_of(self._watermark)

    @property
    def composites(self) -> dict[str, Composite]:
        """The standing composite subscriptions by id."""
        return {name: composite for name, (composite, _) in self._network.composites.items()}

    def subscribe(self, composite: Composite) -> None:
        """Take in a composite subscription; it sees the matches that come from now on.

        An id that is taken is a UsageError; a composite that is there already, unchanged, is accepted.
        """
        standing = self._network.composites.get(composite.id)
        if standing is None:
            self._network.add(composite, (self._watermark, self._matches))
        elif standing[0] != composite:
            raise UsageError(f"the id {composite.id!r} is taken by another composite: unsubscribe that one first")

    def unsubscribe(self, id: str) -> None:
        """Forget a composite subscription, and all that is held for it alone."""
        self._get(id)
        self._network.remove(id)

    def feed(self, match: Match, *, lifetime: timedelta | None = None) -> list[Detection]:
        """Take in a match, and return the detections that it lets the watermark pass.

        One that ends no later than the watermark comes too late: it is counted, kept in `late`, and not used. Raises
        UsageError for a match without an interval.
        """
        if match.interval is None:
            raise UsageError(f"the match of event {match.event_id!r} has no time: give the event one (time=…)")
        interval = match.interval
        end = ticks(interval.end)
        start = end if interval.start is interval.end else ticks(interval.start)
        if self._is_late(end):
            self.late.append(match)
            return []
        wanted = self._network.wanted(match.subscription_id)
        if wanted is not None:
            rows = tuple([_row(binding, wanted, match.event_id) for binding in match.bindings]) or ({},)
            lives = self._lifetime if lifetime is None else ticks_of(lifetime)
            self._push(match.subscription_id, match.event_id, start, end, rows, lives)
        return self._follow(end)

    def put(
        self, subscription_id: str, event_id: str, start: int, end: int, rows: Rows, lifetime: int | None = None
    ) -> bool:
        """Take in a match as numbers and texts: microseconds since 1970, and terms in N-Triples.

        Returns whether it came in time. Blank nodes must be scoped (`scoped_row`).
        """
        if self._is_late(end):
            return False
        if self._network.wanted(subscription_id) is not None:
            lives = self._lifetime if lifetime is None else lifetime
            self._push(subscription_id, event_id, start, end, rows, lives)
        return True

    def _is_late(self, end: int) -> bool:
        """Count a match, and say whether it comes too late."""
        self._matches += 1
        late = self._watermark is not None and end <= self._watermark
        self._late += late
        return late

    def _push(self, subscription_id: str, event_id: str, start: int, end: int, rows: Rows, lives: int) -> None:
        expires = end + lives if lives < FOREVER else FOREVER
        heappush(self._pending, (end, start, event_id, subscription_id, self._matches, rows, expires))

    def concerns(self, subscription_id: str) -> bool:
        """Say whether a composite is made of the matches of this subscription."""
        return self._network.wanted(subscription_id) is not None

    def follow(self, moment: datetime) -> list[Detection]:
        """Take note that something has come that ends at `moment`: the watermark follows it, if it follows anything."""
        return self._follow(ticks(moment))

    def _follow(self, end: int) -> list[Detection]:
        if self._lateness is None:
            return []
        # A match that ends exactly so much earlier is still in time.
        watermark = end - self._lateness - 1
        return self.advance_to(watermark) if self._watermark is None or watermark > self._watermark else []

    def advance(self, moment: datetime) -> list[Detection]:
        """Take note that all matches that end by `moment` have come; return what that decides, in canonical order.

        The watermark never goes back: an earlier moment changes nothing.
        """
        return self.advance_to(ticks(moment))

    def advance_to(self, watermark: int) -> list[Detection]:
        """Do as `advance` does, with a moment in microseconds since 1970."""
        if self._watermark is not None and watermark <= self._watermark:
            return []
        self._watermark = watermark
        found = self._released(watermark)
        found += self._network.run(watermark)
        self._detections += len(found)
        if len(found) > 1:
            found.sort(key=_order)
        composites = self._network.composites
        return [Detection(name, composites[name][0].pattern, instance) for name, instance in found]

    def _released(self, watermark: int) -> list[Found]:
        """Bring the matches that the watermark has passed to the operators, those with the same interval together."""
        pending, found = self._pending, list[Found]()
        while pending and pending[0][0] <= watermark:
            match = heappop(pending)
            if not pending or pending[0][0] != match[0] or pending[0][1] != match[1]:
                self._network.put(match, found)
                continue
            together = [match]
            while pending and pending[0][0] == match[0] and pending[0][1] == match[1]:
                other = heappop(pending)
                if other[2:4] == together[-1][2:4]:
                    self._repeated += 1
                else:
                    together.append(other)
            self._network.put_together(together, found)
        return found

    @property
    def due(self) -> int:
        """The watermark, in microseconds since 1970, at which something is decided next; for who sets timers."""
        first = self._pending[0][0] if self._pending else FOREVER
        return min(first, self._network.due())

    @property
    def counters(self) -> Counters:
        """What has been done, and what is held."""
        nodes = list(self._forgotten().nodes)
        live = [node.live() for node in nodes]
        return Counters(
            self._matches,
            self._late,
            self._repeated,
            self._detections,
            len(self._pending),
            sum(held for held, _ in live),
            sum(keys for _, keys in live),
            len(nodes),
            sum(node.work.steps for node in nodes),
            sum(node.work.overruns for node in nodes),
        )

    @property
    def overruns(self) -> dict[str, int]:
        """For how many instances not all combinations were tried, by composite; those that tried all are left out.

        Such a composite may lack detections. Counts begin with the detector, or when it is restored.
        """
        return self._network.overruns()

    def _forgotten(self) -> Network:
        """Return the network without what means nothing any more."""
        if self._watermark is not None:
            self._network.forget(self._watermark)
        return self._network

    def waiting(self, id: str) -> list[Waiting]:
        """Return what a composite subscription holds, what it still waits for, and until when."""
        composite = self._get(id)
        return [described(composite, pattern, row, wait) for pattern, row, wait in self._forgotten().waiting(id)]

    def state(self) -> dict[str, Any]:
        """Return all that is held, as lists, texts and numbers, to be stored anywhere."""
        return {
            "watermark": self._watermark,
            "composites": {
                name: [to_text(composite.pattern), list(origin)]
                for name, (composite, origin) in self._network.composites.items()
            },
            "counts": [self._matches, self._late, self._repeated, self._detections],
            "pending": [list(entry) for entry in sorted(self._pending, key=lambda entry: entry[:5])],
            "operators": self._forgotten().state(),
        }

    @classmethod
    def restored(cls, state: dict[str, Any], composites: dict[str, Composite], **options: Any) -> Detector:
        """Return a detector that goes on from a state, with the composites that stand now.

        Those that it knows go on where they were; others, also under an id that another had, begin at its watermark.
        `options` are the constructor's.
        """
        detector = cls(**options)
        detector._watermark = state["watermark"]
        detector._matches, detector._late, detector._repeated, detector._detections = state["counts"]
        for name, composite in composites.items():
            text, (watermark, matches) = state["composites"].get(name, (None, (None, 0)))
            if text != to_text(composite.pattern):
                watermark, matches = detector._watermark, detector._matches
            detector._network.add(composite, (watermark, matches))
        for end, start, event_id, subscription_id, number, rows, expires in state["pending"]:
            heappush(detector._pending, (end, start, event_id, subscription_id, number, tuple(rows), expires))
        detector._network.restore(state["operators"])
        return detector

    def _get(self, id: str) -> Composite:
        if id not in self._network.composites:
            raise UnknownSubscription(id)
        return self._network.composites[id][0]


def _order(found: Found) -> Any:
    key = found.instance.key
    return key[0], key[1], found.composite_id, key


def _row(binding: dict[str, Any], wanted: frozenset[str], event_id: str) -> Row:
    return {name: text_of(term, event_id) for name, term in binding.items() if name in wanted}


def scoped_row(binding: dict[str, str], event_id: str) -> Row:
    """Return an answer whose terms are texts in N-Triples as the detector wants it: blank nodes told apart by event."""
    return {name: scoped(text, event_id) for name, text in binding.items()}
