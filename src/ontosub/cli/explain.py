"""`ontosub explain`: why an event matches a subscription, or how near it comes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import typer

from ontosub.cli import options
from ontosub.cli.each_event import Given, for_each_event
from ontosub.cli.inputs import Published, Reading
from ontosub.cli.publishing import given_up, publish
from ontosub.cli.results import over_budget, overruns, show_detections, waiting_object
from ontosub.cli.terminal import show
from ontosub.composite import CompositeMatcher, Detection, Waiting
from ontosub.composite.moments import ticks
from ontosub.matching import Explanation, Matcher
from ontosub.model import Diagnostic, Severity
from ontosub.model.errors import LimitError


def command(
    events: options.Events = None,
    ontology: options.Ontologies = None,
    subscription: options.Subscriptions = None,
    folder: options.Folder = None,
    language: options.Language = None,
    format: options.Format = None,
    context: options.Context = None,
    mapping: options.Mapping = None,
    vocab: options.Vocab = None,
    base: options.Base = None,
    strict: options.Strict = False,
    as_json: options.Json = False,
) -> None:
    """Explain why events match subscriptions, or what keeps them from it.

    A line with a plus is a constraint that holds, with the facts and axioms behind it; a line with a minus is one
    that fails, with the value that makes it fail; one with a question mark is one that would take too long to look
    into. The exit code says nothing about the verdict.

    At the end, for each composite: what was detected by the time of the last event, and what it still waits for.

    \b
    Examples:
      ontosub explain -o auction.ttl -s cheap.ops desktop.ttl
      ontosub explain -o auction.ttl -s cheap.ops desktop.ttl --json
    """

    ends: list[int] = []

    def explain(matcher: CompositeMatcher, published: Published) -> Iterator[Diagnostic]:
        for name in matcher.matcher.subscriptions:
            explanation = explained(matcher.matcher, published, name)
            if isinstance(explanation, Diagnostic):
                yield explanation
            else:
                _tell(explanation.to_dict(), explanation.lines(), as_json=as_json)
                if explanation.matched is None:
                    yield over_budget(published.event, published.source, [name])
        if matcher.detector.composites:
            yield from publish(matcher, published)[2]
            if without := given_up(matcher):
                yield over_budget(published.event, published.source, without)
        if published.event.interval is not None:
            ends.append(ticks(published.event.interval.end))

    def end(matcher: CompositeMatcher) -> Iterable[Diagnostic]:
        # Only now, so that the order of the events does not matter.
        found = matcher.detector.advance_to(max(ends)) if ends else []
        for name in matcher.detector.composites:
            detections = [each for each in found if each.subscription_id == name]
            _show(name, detections, matcher.waiting(name), as_json=as_json)
        return overruns(matcher, as_json=as_json)

    reading = Reading(format, base, context, mapping, vocab)
    given = Given(ontology, subscription, events, folder, language, reading, strict)
    for_each_event(given, "explaining", explain, end)


def _show(name: str, detections: list[Detection], waiting: list[Waiting], *, as_json: bool) -> None:
    show_detections(detections, as_json=as_json)
    if not detections and not as_json:
        show(f"{name}: not detected")
    for wait in waiting:
        _tell(waiting_object(wait), [str(wait)], as_json=as_json)


def _tell(written: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(written))
    else:
        show(*lines)


def explained(matcher: Matcher, published: Published, name: str) -> Explanation | Diagnostic:
    """Return why the event matches the subscription or not; a warning when finding that out takes too long."""
    try:
        return matcher.explain(published.event, name)
    except LimitError as error:
        message = f"the subscription {name} cannot be explained: {error}"
        return Diagnostic(message, Severity.WARNING, source=published.source)
