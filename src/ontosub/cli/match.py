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
from ontosub.cli.results import match_lines, match_object, over_budget, over_budget_object
from ontosub.matching import Explanation, Matcher
from ontosub.model import Diagnostic, Match


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
    strict: options.Strict = False,
    as_json: options.Json = False,
) -> None:
    """Match events against subscriptions, and show who is notified of what.

    An event that cannot be read is reported on standard error; the others are matched all the same, and the exit
    code is 2 at the end. Subscriptions that an event would cost too much to decide are named on standard error, and
    with --json also in a line of their own, {"event": …, "source": …, "over_budget": [ids]}.

    \b
    Examples:
      ontosub match --folder examples/auction
      ontosub match -o auction.ttl -s cheap.rq -s rules/ event.ttl lots.csv
      curl -s https://example.org/feed | ontosub match -s cheap.rq --format jsonld --json -
    """

    def show(matcher: Matcher, published: Published) -> Iterator[Diagnostic]:
        matches = matcher.match(published.event)
        given_up = [name for name in matcher.subscriptions if name in matcher.over_budget]
        for match in matches:
            why = explained(matcher, published, match.subscription_id) if explain else None
            if isinstance(why, Diagnostic):
                yield why
            _show(match, published, why if isinstance(why, Explanation) else None, as_json=as_json)
        if given_up:
            if as_json:
                typer.echo(json.dumps(over_budget_object(published.event, published.source, given_up)))
            yield over_budget(published.event, published.source, given_up)

    reading = Reading(format, base, context, mapping, vocab)
    for_each_event(Given(ontology, subscription, events, folder, language, reading, strict), "matching", show)


def _show(match: Match, published: Published, why: Explanation | None, *, as_json: bool) -> None:
    if as_json:
        written = match_object(match, published.source)
        typer.echo(json.dumps(written if why is None else {**written, "explanation": why.to_dict()}))
    else:
        reasons = [f"    + {reason}" for reason in why.held] if why else []
        typer.echo("\n".join([*match_lines(match), *reasons]))
