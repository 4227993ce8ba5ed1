"""`ontosub explain`: why an event matches a subscription, or how near it comes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import typer

from ontosub.cli import options
from ontosub.cli.each_event import Given, for_each_event
from ontosub.cli.inputs import Published, Reading
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

    \b
    Examples:
      ontosub explain -o auction.ttl -s cheap.ops desktop.ttl
      ontosub explain -o auction.ttl -s cheap.ops desktop.ttl --json
    """

    def show(matcher: Matcher, published: Published) -> Iterator[Diagnostic]:
        for name in matcher.subscriptions:
            explanation = explained(matcher, published, name)
            if isinstance(explanation, Diagnostic):
                yield explanation
            else:
                typer.echo(json.dumps(explanation.to_dict()) if as_json else str(explanation))

    reading = Reading(format, base, context, mapping, vocab)
    for_each_event(Given(ontology, subscription, events, folder, language, reading, strict), "explaining", show)


def explained(matcher: Matcher, published: Published, name: str) -> Explanation | Diagnostic:
    """Return why the event matches the subscription or not; a warning when finding that out takes too long."""
    try:
        return matcher.explain(published.event, name)
    except LimitError as error:
        message = f"the subscription {name} cannot be explained: {error}"
        return Diagnostic(message, Severity.WARNING, source=published.source)
