"""`ontosub check`: what is wrong or doubtful about ontologies, subscriptions and events."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import typer

from ontosub.cli import options
from ontosub.cli.faults import BAD_INPUT, FAULTS, diagnostic_of, reported, say
from ontosub.cli.files import with_folder
from ontosub.cli.inputs import (
    Published,
    Reading,
    Subscribed,
    event_files,
    ontology_files,
    read_events,
    read_subscriptions,
)
from ontosub.cli.progress import shown
from ontosub.model import Diagnostic, Ontology, Severity
from ontosub.model.errors import OntosubWarning, UsageError
from ontosub.model.terms import ONTOSUB, OWL, RDF, RDFS, TYPE, XSD, NamedNode
from ontosub.semantics.check import Words


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
    """List what is wrong or doubtful about ontologies, subscriptions and events.

    Errors are texts that cannot be read. Warnings are cycles, missing imports, facts outside the meta-statements, and
    classes of a subscription that the ontology does not know. Notes merely inform. The exit code is 2 when there are
    errors.

    \b
    Examples:
      ontosub check --folder examples/auction
      ontosub check -o auction.ttl -s subscriptions/ --strict
      ontosub check events/ --json
    """
    counts: Counter[Severity] = Counter()
    with reported():
        ontologies = ontology_files(with_folder(ontology, folder, "ontology"))
        subscribed = read_subscriptions(with_folder(subscription, folder, "subscriptions"), language)
        files = event_files(with_folder(events, folder, "events"))
        if not (ontologies or subscribed.sources or files):
            raise UsageError("there is nothing to check: give --ontology, --subscription, --folder or EVENTs")
        reading = Reading(format, base, context, mapping, vocab)
        for diagnostic in _findings(ontologies, subscribed, files, reading):
            if strict and diagnostic.severity is Severity.WARNING:
                diagnostic = replace(diagnostic, severity=Severity.ERROR)
            counts[diagnostic.severity] += 1
            _show(diagnostic, as_json=as_json)
    typer.echo(", ".join(_counted(counts[severity], severity) for severity in Severity), err=True)
    if counts[Severity.ERROR]:
        raise typer.Exit(BAD_INPUT)


def _findings(
    ontologies: list[Path], subscribed: Subscribed, files: list[Path], reading: Reading
) -> Iterator[Diagnostic]:
    ontology = Ontology()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OntosubWarning)  # what is warned of while reading, `check` lists as well
        try:
            ontology = Ontology.read(*ontologies)
        except FAULTS as error:
            yield diagnostic_of(error)
    yield from ontology.check()
    words = Words(ontology)
    yield from subscribed.faults
    for name, subscription in subscribed.subscriptions.items():
        for doubt in words.unknown(subscription):
            yield replace(doubt, source=subscribed.sources[name])
    for path in shown(files, "checking"):
        for read in read_events(path, reading):
            yield from _about(read, words) if isinstance(read, Published) else [read]


def _about(published: Published, words: Words) -> Iterator[Diagnostic]:
    """Yield what may keep an event from being found."""
    event = published.event
    if event.home is None:
        yield Diagnostic(
            f"the event {event.id} has no home vertex",
            Severity.NOTE,
            "OPS subscriptions cannot match it; label the vertex that stands for the event _:H.",
            source=published.source,
        )
    properties = {triple.predicate for triple in event.graph} if words.properties else set()
    typed = (t.object for t in event.graph if t.predicate == TYPE and words.classes)
    classes = {class_ for class_ in typed if isinstance(class_, NamedNode)}
    unknown = [("property", term) for term in properties - words.properties]
    unknown += [("class", term) for term in classes - words.classes]
    for kind, term in sorted(unknown, key=str):
        if not term.value.startswith((RDF, RDFS, OWL, XSD, ONTOSUB)):
            message = f"the event {event.id} uses the {kind} {term}, which the ontology does not know"
            hint = f"Only subscriptions that use this very {kind} can ask for it."
            yield Diagnostic(message, Severity.NOTE, hint, source=published.source)


def _show(diagnostic: Diagnostic, *, as_json: bool) -> None:
    if not as_json:
        say(diagnostic, err=False)
        return
    span = diagnostic.span
    written = {
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        "source": diagnostic.source,
        "line": span and span.line,
        "column": span and span.column,
    }
    typer.echo(json.dumps({name: value for name, value in written.items() if value is not None}))


def _counted(count: int, severity: Severity) -> str:
    return f"{count} {severity}" if count == 1 else f"{count} {severity}s"
