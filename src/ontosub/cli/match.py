"""`ontosub match`: who is notified of what."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

import typer

from ontosub.cli import options
from ontosub.cli.each_event import Given, for_each_event
from ontosub.cli.explain import explained
from ontosub.cli.inputs import Published, Reading
from ontosub.cli.publishing import given_up, publish
from ontosub.cli.results import match_lines, match_object, over_budget, over_budget_object, overruns, show_detections
from ontosub.cli.terminal import show
from ontosub.composite import CompositeMatcher
from ontosub.composite.moments import FOREVER
from ontosub.matching import Explanation
from ontosub.model import Diagnostic, Match, Severity


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
    explain: Annotated[bool, typer.Option("--explain", help="Say why each match is one.")] = False,
    lateness: Annotated[
        str | None,
        typer.Option(
            "--lateness",
            metavar="DURATION",
            help="Tell composite events as soon as they are decided, when events come at most so late, such as 30s. "
            "Without it, the events are all that ever come, in any order: everything is decided at the end.",
        ),
    ] = None,
    strict: options.Strict = False,
    as_json: options.Json = False,
) -> None:
    """Match events against subscriptions, and show who is notified of what.

    An event that cannot be read is reported on standard error; the others are matched all the same, and the exit
    code is 2 at the end. Subscriptions that an event would cost too much to decide are named on standard error, and
    with --json also in a line of their own, {"event": …, "source": …, "over_budget": [ids]}.

    Composite events are shown as trees of what they are made of, with --json in lines of their own, {"subscription": …,
    "detection": …, "bindings": …, "interval": …, "events": [ids], "constituents": …}. Composites that would have had
    too many combinations to try are named on standard error, with --json also as {"subscription": …, "overruns": …}.

    \b
    Examples:
      ontosub match --folder examples/auction
      ontosub match -o auction.ttl -s cheap.rq -s rules/ event.ttl lots.csv
      curl -s https://example.org/feed | ontosub match -s cheap.rq --format jsonld --json -
      ontosub match -s alarms/ readings/ --lateness 30s
    """

    def notify(matcher: CompositeMatcher, published: Published) -> Iterator[Diagnostic]:
        matches, detections, warned = publish(matcher, published)
        without = given_up(matcher)
        for match in matches:
            why = explained(matcher.matcher, published, match.subscription_id) if explain else None
            if isinstance(why, Diagnostic):
                yield why
            _show(match, published, why if isinstance(why, Explanation) else None, as_json=as_json)
        if without:
            if as_json:
                typer.echo(json.dumps(over_budget_object(published.event, published.source, without)))
            yield over_budget(published.event, published.source, without)
        yield from warned
        show_detections(detections, as_json=as_json)

    def end(matcher: CompositeMatcher) -> Iterator[Diagnostic]:
        if lateness is None:
            show_detections(matcher.detector.advance_to(FOREVER - 1), as_json=as_json)
        elif late := matcher.counters.late:
            yield _too_late(late, matcher.detector.late[-1].event_id)
        yield from overruns(matcher, as_json=as_json)

    reading = Reading(format, base, context, mapping, vocab)
    given = Given(ontology, subscription, events, folder, language, reading, strict, lateness)
    for_each_event(given, "matching", notify, end)


def _show(match: Match, published: Published, why: Explanation | None, *, as_json: bool) -> None:
    if as_json:
        written = match_object(match, published.source)
        typer.echo(json.dumps(written if why is None else {**written, "explanation": why.to_dict()}))
    else:
        reasons = [f"    + {reason}" for reason in why.held] if why else []
        show(*match_lines(match), *reasons)


def _too_late(late: int, event_id: str) -> Diagnostic:
    matches = "1 match" if late == 1 else f"{late:,} matches"
    return Diagnostic(
        f"{matches} came too late to be part of a composite event, the last by event {event_id}",
        Severity.WARNING,
        "Give a longer --lateness, or none when all events are there.",
    )
