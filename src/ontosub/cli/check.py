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
from ontosub.cli.faults import BAD_INPUT, reported, say
from ontosub.cli.inputs import Published, Reading, event_files, read_events
from ontosub.cli.progress import shown
from ontosub.inputs.definitions import Subscribed, ontology_files, read_subscriptions
from ontosub.inputs.faults import FAULTS, diagnostic_of
from ontosub.inputs.files import with_folder
from ontosub.languages.composite.inline import is_written_in
from ontosub.model import Diagnostic, Ontology, Severity
from ontosub.model.errors import OntosubWarning, UsageError
from ontosub.model.terms import ONTOSUB, OWL, RDF, RDFS, TYPE, XSD, Literal, NamedNode
from ontosub.semantics.check import Words
from ontosub.semantics.values import is_ill_typed
from ontosub.semantics.vocabulary import DRAFTS_OF_XSD

_SHOWN_LENGTH = 120


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
    """List what is wrong or doubtful about ontologies, subscriptions (composite ones, too) and events.

    Errors are texts that cannot be read. Warnings are cycles, missing imports, facts outside the meta-statements, and
    classes of a subscription that the ontology does not know, and literals of an event that have no value. Notes merely
    inform. The exit code is 2 when there are errors.

    \b
    Examples:
      ontosub check --folder examples/auction
      ontosub check -o auction.ttl -s subscriptions/ --strict
      ontosub check events/ --json
    """
    counts: Counter[Severity] = Counter()
    with reported():
        ontologies = ontology_files(with_folder(ontology, folder, "ontology"))
        subscribed = read_subscriptions(with_folder(subscription, folder, "subscriptions"), language, shown=shown)
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
    for name, composite in subscribed.composites.items():
        for subscription in composite.subscriptions:
            if is_written_in(composite.text or "", subscription):
                for doubt in words.unknown(subscription):
                    # Its place is one in the inner text, not in the file.
                    yield replace(doubt, source=subscribed.sources[name], text=None, span=None)
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
    for literal in sorted({triple.object for triple in event.graph if isinstance(triple.object, Literal)}, key=str):
        if doubt := _doubt_of(literal):
            message = f"the event {event.id} has the literal {_cut(str(literal))}, {doubt}"
            hint = "It has no value, so no filter on values holds of it; send one that has."
            yield Diagnostic(message, Severity.WARNING, hint, source=published.source)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_LENGTH else f"{text[: _SHOWN_LENGTH - 1]}…"


def _doubt_of(literal: Literal) -> str | None:
    """Say what keeps a literal from having the value that its publisher certainly means."""
    if literal.datatype.value.startswith(DRAFTS_OF_XSD):
        return f"whose datatype {literal.datatype} is of a draft of XML Schema"
    return "whose text does not belong to its datatype" if is_ill_typed(literal) else None


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
