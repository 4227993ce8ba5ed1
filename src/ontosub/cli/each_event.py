"""What `match` and `explain` have in common: subscribe, then show something of every event, and in the end of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import typer

from ontosub.cli.faults import BAD_INPUT, refuse, reported, say
from ontosub.cli.inputs import Published, Reading, event_files, read_events
from ontosub.cli.progress import shown
from ontosub.composite import CompositeMatcher
from ontosub.inputs.definitions import ontology_files, read_subscriptions
from ontosub.inputs.files import with_folder
from ontosub.inputs.option_types import duration
from ontosub.model import Diagnostic, Ontology, Severity, Subscription
from ontosub.model.composite import Composite
from ontosub.model.errors import LimitError, UsageError


@dataclass(frozen=True, slots=True)
class Given:
    """What a call names: paths as typed, and how to read what is there.

    `lateness`, a duration as typed, is how far behind the events the watermark follows; without, nothing moves it.
    """

    ontologies: list[Path] | None
    subscriptions: list[Path] | None
    events: list[Path] | None
    folder: Path | None
    language: str | None
    reading: Reading
    strict: bool
    lateness: str | None = None


def for_each_event(
    given: Given,
    what: str,
    show: Callable[[CompositeMatcher, Published], Iterable[Diagnostic]],
    end: Callable[[CompositeMatcher], Iterable[Diagnostic]],
) -> None:
    """Call `show` with the matcher and each event that can be read, then `end`; exit with 2 when one could not.

    An event that cannot be read is reported, and so is one that too much follows from. What `show` and `end` yield are
    warnings, which are said; they change the exit code only when the call is strict. A subscription that cannot be read
    ends the command before the first event: answers without it would mislead.
    """
    faulty = False
    with reported(strict=given.strict):
        matcher = _matcher(given)
        files = event_files(with_folder(given.events, given.folder, "events"))
        if not files:
            raise UsageError("no event is given: name files or folders of EVENTs, or - for standard input")
        for path in shown(files, what):
            for read in read_events(path, given.reading):
                warned = _shown(show, matcher, read) if isinstance(read, Published) else [read]
                faulty |= (given.strict and bool(warned)) or any(each.severity is Severity.ERROR for each in warned)
                for diagnostic in warned:
                    say(diagnostic)
        for diagnostic in end(matcher):
            say(diagnostic)
            faulty |= given.strict
    if faulty:
        raise typer.Exit(BAD_INPUT)


def _shown(
    show: Callable[[CompositeMatcher, Published], Iterable[Diagnostic]], matcher: CompositeMatcher, published: Published
) -> list[Diagnostic]:
    """Return what `show` says of an event, or that too much follows from it to be matched at all."""
    try:
        return [*show(matcher, published)]
    except LimitError as error:
        return [Diagnostic(f"the event {published.event.id} cannot be matched: {error}", source=published.source)]


def _matcher(given: Given) -> CompositeMatcher:
    lateness = None if given.lateness is None else duration("--lateness", given.lateness)
    ontologies = ontology_files(with_folder(given.ontologies, given.folder, "ontology"))
    matcher = CompositeMatcher(Ontology.read(*ontologies), lateness=lateness, strict=given.strict)
    paths = with_folder(given.subscriptions, given.folder, "subscriptions")
    subscribed = read_subscriptions(paths, given.language, shown=shown)
    refuse(subscribed.faults)
    # Composites come last: what they name must stand.
    subscriptions: list[Subscription | Composite] = [
        *subscribed.subscriptions.values(),
        *subscribed.composites.values(),
    ]
    if not subscriptions:
        raise UsageError("no subscription is given: name one with --subscription, or a --folder that has some")
    for subscription in shown(subscriptions, "subscribing"):
        matcher.subscribe(subscription)
    return matcher
