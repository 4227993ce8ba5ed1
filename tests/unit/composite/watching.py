"""A detector for tests: texts of composites over the subscriptions a, b and c; times are in seconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ontosub import Binding, Composite, Detection, Detector, Interval, Match, Subscription
from ontosub.model.terms import BlankNode, Literal

NAMES = {
    name: Subscription.parse("SELECT ?x ?v { ?e <urn:x> ?x ; <urn:v> ?v }", id=name) for name in ("a", "b", "c", "d-1")
}
ZERO = datetime(2026, 1, 1, tzinfo=UTC)


def at(second: float) -> datetime:
    return ZERO + timedelta(seconds=second)


def composite(text: str, name: str = "t", **options) -> Composite:
    return Composite.parse(text, id=name, names=NAMES, **options)


def match(subscription: str, start: float, end: float | None = None, *answers: dict, event: str | None = None) -> Match:
    """Return a match; without answers it has one that binds nothing but ?x = 0 and ?v = 0."""
    terms = [
        Binding({name: value if isinstance(value, BlankNode) else Literal(value) for name, value in answer.items()})
        for answer in answers or ({"x": 0, "v": 0},)
    ]
    interval = Interval(at(start), at(start if end is None else end))
    return Match(subscription, event or f"{subscription}{start:g}", terms, None, interval)


def detect(text: str, *matches: Match, until: float = 10_000, start: float | None = None, **options) -> list[Detection]:
    """Return what a composite detects among matches."""
    detector = Detector(start=None if start is None else at(start), **options)
    detector.subscribe(composite(text))
    for each in matches:
        detector.feed(each)
    return detector.advance(at(until))


def told(detections: list[Detection]) -> list[tuple[str, ...]]:
    """Return the events that each detection is made of."""
    return [detection.event_ids for detection in detections]


def times(detection: Detection) -> tuple[float, float]:
    """Return when a detection starts and ends, in seconds."""
    interval = detection.interval
    return (interval.start - ZERO).total_seconds(), (interval.end - ZERO).total_seconds()
