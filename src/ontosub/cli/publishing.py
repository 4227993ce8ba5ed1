"""What becomes of an event: its matches, the composite events that it decides, and whom it was given up for."""

from __future__ import annotations

from collections.abc import Iterator

from ontosub.cli.inputs import Published
from ontosub.composite import CompositeMatcher, Detection
from ontosub.model import Diagnostic, Match, Severity


def publish(matcher: CompositeMatcher, published: Published) -> tuple[list[Match], list[Detection], list[Diagnostic]]:
    """Return an event's matches, the detections that are decided when it comes, and what composites go without.

    They go without an event that has no time: that is no reason to keep its matches from anybody.
    """
    event = published.event
    if event.interval is not None:
        matches, detections = matcher.publish(event)
        return matches, detections, []
    found = matcher.matcher.match(event)
    untimed = {match.subscription_id for match in found if matcher.detector.concerns(match.subscription_id)}
    matches = [match for match in found if match.subscription_id not in matcher.inline]
    return matches, [], list(_untimed(matcher, published, untimed))


def _untimed(matcher: CompositeMatcher, published: Published, matched: set[str]) -> Iterator[Diagnostic]:
    composites = matcher.detector.composites.values() if matched else ()
    without = [composite.id for composite in composites if composite.subscription_ids & matched]
    if without:
        yield Diagnostic(
            f"the event {published.event.id} has no time: it takes no part in {', '.join(without)}",
            Severity.WARNING,
            "Give it one: a mapping says with `time` where it is, a CloudEvent has it in its envelope.",
            source=published.source,
        )


def given_up(matcher: CompositeMatcher) -> list[str]:
    """Return whom the last event was given up for; for a subscription inside composites, these are."""
    over_budget = matcher.matcher.over_budget
    names = [name for name in matcher.matcher.subscriptions if name in over_budget]
    return list(dict.fromkeys(told for name in names for told in sorted(matcher.inline.get(name, {name}))))
