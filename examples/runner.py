"""Run an example: a folder with ontology/, subscriptions/ and events/. Who is notified of what, and why.

The files are read as the command line reads them; everything else here is the library's public face.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pyoxigraph import Triple
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from ontosub import CompositeMatcher, Event, Explanation, Match, Matcher, Ontology
from ontosub.cli.inputs import Published, Reading, event_files, read_events
from ontosub.cli.results import answer_text, detection_lines
from ontosub.inputs.definitions import ontology_files, read_subscriptions
from ontosub.semantics.wording import term_text

WIDTH = 100


def run(folder: Path, console: Console | None = None) -> None:
    """Publish the folder's events to its subscriptions and show what happens."""
    console = console or Console(width=WIDTH, highlight=False)
    matcher = CompositeMatcher(Ontology.read(*ontology_files([folder / "ontology"])), lateness=None)
    subscribed = read_subscriptions([folder / "subscriptions"])
    for subscription in (*subscribed.subscriptions.values(), *subscribed.composites.values()):
        matcher.subscribe(subscription)
    console.print(Text(_summary(folder, matcher), style="bold"))
    for published in _published(folder):
        console.print()
        console.print(_tree(matcher.matcher, published))
        if published.event.interval is not None:
            matcher.publish(published.event)
    for detection in matcher.advance(datetime.max.replace(tzinfo=UTC)):
        console.print()
        console.print(Text("\n".join(detection_lines(detection))))


def _summary(folder: Path, matcher: CompositeMatcher) -> str:
    ontology = matcher.matcher.ontology
    return (
        f"{folder.name}: {len(ontology.classes)} classes, {len(ontology.properties)} properties, "
        f"{len(ontology.background)} background facts; subscriptions: {', '.join(matcher.names)}"
    )


def _published(folder: Path) -> Iterator[Published]:
    for path in event_files([folder / "events"]):
        for read in read_events(path, Reading()):
            if not isinstance(read, Published):
                raise SystemExit(str(read))
            yield read


def _tree(matcher: Matcher, published: Published) -> Tree:
    event = published.event
    file = Path(published.source).name
    tree = Tree(Text(event.id if event.id.startswith(file) else f"{event.id} ({file})", style="bold"))
    matches = {match.subscription_id: match for match in matcher.match(event)}
    for name in matcher.subscriptions:
        explanation = matcher.explain(event, name)
        if name in matches:
            notified = tree.add(Text(f"{name} is notified: {_answers(matches[name])}", style="green"))
            for reason in _by_meaning(explanation, event):
                notified.add(Text(reason))
        elif len(explanation.failed) == 1 < len(explanation.held):
            tree.add(Text(f"{name} is not notified: {explanation.failed[0].detail}", style="yellow"))
    if not matches:
        tree.add(Text("nobody is notified", style="dim"))
    return tree


def _answers(match: Match) -> str:
    return "; ".join(sorted(answer_text(answer) for answer in match.bindings)) or "yes"


def _by_meaning(explanation: Explanation, event: Event) -> Iterator[str]:
    """Yield the reasons that the event alone does not give: they need an axiom, or a fact of the background."""
    for reason in explanation.held:
        if reason.axioms or not event.graph.issuperset(reason.facts):
            because = ", ".join(_statement(triple) for triple in (*reason.facts, *reason.axioms))
            yield f"{reason.constraint}, because {because}"


def _statement(triple: Triple) -> str:
    return " ".join(term_text(term) for term in (triple.subject, triple.predicate, triple.object))
