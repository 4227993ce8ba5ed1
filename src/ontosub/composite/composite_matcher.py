"""A matcher and a detector together: publish events, and be told of matches and of composite events."""

from __future__ import annotations

from collections.abc import Mapping, Set
from datetime import datetime, timedelta
from typing import NamedTuple

from ontosub.composite.detection import Detection
from ontosub.composite.detector import Counters, Detector
from ontosub.composite.waiting import Waiting
from ontosub.matching import Matcher
from ontosub.model import Event, Match, Ontology, Subscription
from ontosub.model.composite import Composite
from ontosub.model.errors import LanguageError, UsageError


class Published(NamedTuple):
    """What became of an event: its matches, and the detections that were decided when it came."""

    matches: list[Match]
    detections: list[Detection]


class CompositeMatcher:
    """Finds the matches of events and, among them, composite events. For tests and small programs.

    The watermark follows the events at the distance `lateness`: an event may come that much later than one that ends
    after it. With None, only `advance` moves it. `lifetime` holds for events that state none; `start` is where silences
    are counted from. A class that the ontology does not know is an error when the matcher is `strict`.
    """

    def __init__(
        self,
        ontology: Ontology | None = None,
        *,
        lateness: timedelta | None = timedelta(0),
        lifetime: timedelta | None = None,
        start: datetime | None = None,
        algorithm: str = "auto",
        strict: bool = False,
    ) -> None:
        self.matcher = Matcher(ontology, algorithm, strict=strict)
        self.detector = Detector(lateness=lateness, lifetime=lifetime, start=start)
        self._inline: dict[str, set[str]] = {}

    @property
    def names(self) -> Mapping[str, Subscription | Composite]:
        """What a composite may name: the standing subscriptions and composites."""
        return {**self._told(), **self.detector.composites}

    @property
    def inline(self) -> Mapping[str, Set[str]]:
        """The subscriptions that are there only because composites have them inside, and which composites these are."""
        return self._inline

    def _told(self) -> dict[str, Subscription]:
        standing = self.matcher.subscriptions
        return {name: standing[name] for name in standing if name not in self._inline}

    def subscribe(self, subscription: Subscription | Composite) -> None:
        """Take in a subscription or a composite; the next event sees it.

        The subscriptions that a composite names must be there already; those that were written inside it come with it,
        and their matches are not told by themselves. Raises UsageError for an id that is taken or a name that is not,
        and LanguageError for an unknown class when the matcher is strict.
        """
        if isinstance(subscription, Subscription):
            if subscription.id in self.detector.composites:
                raise UsageError(f"the id {subscription.id!r} is taken by a composite: unsubscribe that one first")
            self.matcher.subscribe(subscription)
            return
        inline = {each.id for each in subscription.subscriptions}
        standing = self.matcher.subscriptions
        if subscription.id in standing:
            raise UsageError(f"the id {subscription.id!r} is taken by a subscription: unsubscribe that one first")
        for each in subscription.subscriptions:
            if each.id in standing and each.id not in self._inline and standing[each.id] != each:
                raise UsageError(
                    f"the id {each.id!r}, of a subscription inside {subscription.id!r}, is taken by another"
                )
        missing = sorted(name for name in subscription.subscription_ids - inline if name not in standing)
        if missing:
            raise UsageError(f"the composite {subscription.id!r} needs {missing[0]!r}: subscribe to that one first")
        self.detector.subscribe(subscription)
        try:
            for each in subscription.subscriptions:
                if each.id in self._inline or each.id not in standing:
                    self.matcher.subscribe(each)
                    self._inline.setdefault(each.id, set()).add(subscription.id)
        except LanguageError:  # a strict matcher refuses it: then the whole composite
            self.unsubscribe(subscription.id)
            raise

    def unsubscribe(self, id: str) -> None:
        """Forget a subscription or a composite. Raises UsageError for a subscription that a composite is made of."""
        if id not in self.detector.composites:
            users = [each.id for each in self.detector.composites.values() if id in each.subscription_ids]
            if users:
                raise UsageError(f"the composite {users[0]!r} is made of {id!r}: unsubscribe that one first")
            self.matcher.unsubscribe(id)
            return
        self.detector.unsubscribe(id)
        for inline, users_of in list(self._inline.items()):
            users_of.discard(id)
            if not users_of:
                del self._inline[inline]
                self.matcher.unsubscribe(inline)

    def publish(self, event: Event) -> Published:
        """Match an event, and return its matches and what they and the passing of time let be detected.

        Raises UsageError for an event without a time that is part of a composite.
        """
        matches = self.matcher.match(event)
        detections: list[Detection] = []
        for match in matches:
            if self.detector.concerns(match.subscription_id):
                detections += self.detector.feed(match, lifetime=event.lifetime)
        if event.interval is not None:
            detections += self.detector.follow(event.interval.end)
        return Published([match for match in matches if match.subscription_id not in self._inline], detections)

    def advance(self, moment: datetime) -> list[Detection]:
        """Let time pass to a moment: no event that ends by then will come. Return what that decides."""
        return self.detector.advance(moment)

    def waiting(self, id: str) -> list[Waiting]:
        """Return what a composite still waits for, and until when."""
        return self.detector.waiting(id)

    @property
    def overruns(self) -> dict[str, int]:
        """For how many instances not all combinations were tried, by composite: it may lack detections."""
        return self.detector.overruns

    @property
    def counters(self) -> Counters:
        """How much was done, and how much is held."""
        return self.detector.counters
