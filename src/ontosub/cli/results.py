"""Matches and composite events as they are written: lines for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import typer

from ontosub.cli.terminal import show
from ontosub.composite import CompositeMatcher, Detection, Waiting
from ontosub.composite.overrun import overrun_warning
from ontosub.model import Binding, Diagnostic, Event, Interval, Match, Severity
from ontosub.model.terms import XSD, BlankNode, Literal, NamedNode, Term
from ontosub.semantics.wording import term_text


def match_object(match: Match, source: str) -> dict[str, Any]:
    """Return a match as plain JSON values; terms are written as in SPARQL's JSON results."""
    written: dict[str, Any] = {
        "event": match.event_id,
        "subscription": match.subscription_id,
        "source": source,
        "bindings": [_answer_object(answer) for answer in match.bindings],
    }
    if match.graph is not None:
        written["graph"] = sorted(f"{triple} ." for triple in match.graph)
    if match.interval is not None:
        written["interval"] = _interval_object(match.interval)
    return written


def detection_object(detection: Detection) -> dict[str, Any]:
    """Return a detection as plain JSON values, its own terms as those of a match; `constituents` is its tree."""
    return {
        "subscription": detection.subscription_id,
        "detection": detection.key,
        "bindings": [_answer_object(answer) for answer in detection.bindings],
        "interval": _interval_object(detection.interval),
        "events": list(detection.event_ids),
        "constituents": detection.tree.to_dict(),
    }


def waiting_object(waiting: Waiting) -> dict[str, Any]:
    """Return what a composite waits for as plain JSON values; `until` is null when there is no limit."""
    return {
        "subscription": waiting.subscription_id,
        "waiting": waiting.pattern,
        "events": list(waiting.event_ids),
        "binding": _answer_object(waiting.binding),
        "operands": list(waiting.operands),
        "absence": waiting.absence,
        "until": waiting.until and waiting.until.isoformat(),
    }


def _answer_object(answer: Binding) -> dict[str, Any]:
    return {name: term_object(term) for name, term in answer.items()}


def _interval_object(interval: Interval) -> dict[str, str]:
    return {"start": interval.start.isoformat(), "end": interval.end.isoformat()}


def term_object(term: Term) -> dict[str, Any]:
    """Return a term as the SPARQL 1.2 Query Results JSON Format writes it.

    >>> term_object(Literal("350.00", datatype=XSD["decimal"]))
    {'type': 'literal', 'value': '350.00', 'datatype': 'http://www.w3.org/2001/XMLSchema#decimal'}
    """
    match term:
        case NamedNode():
            return {"type": "uri", "value": term.value}
        case BlankNode():
            return {"type": "bnode", "value": term.value}
        case Literal():
            return {"type": "literal", "value": term.value, **_annotation(term)}
        case _:
            parts = {"subject": term.subject, "predicate": term.predicate, "object": term.object}
            return {"type": "triple", "value": {name: term_object(part) for name, part in parts.items()}}


def _annotation(literal: Literal) -> dict[str, str]:
    """Return a literal's language and direction, or its datatype unless that follows from the syntax."""
    if literal.language:
        direction = {} if literal.direction is None else {"its:dir": literal.direction.value}
        return {"xml:lang": literal.language, **direction}
    return {} if literal.datatype == XSD["string"] else {"datatype": literal.datatype.value}


def over_budget(event: Event, source: str, subscriptions: list[str]) -> Diagnostic:
    """Return the warning that the event would have cost too much to decide for these subscriptions."""
    return Diagnostic(
        f"the event {event.id} was given up for {', '.join(subscriptions)}: it would take too long to decide",
        Severity.WARNING,
        "Whether they match is not known; make their patterns more selective, or the event smaller.",
        source=source,
    )


def over_budget_object(event: Event, source: str, subscriptions: list[str]) -> dict[str, Any]:
    """Return the same as plain JSON values."""
    return {"event": event.id, "source": source, "over_budget": subscriptions}


def overruns(matcher: CompositeMatcher, *, as_json: bool) -> Iterator[Diagnostic]:
    """Yield a warning for each composite that may lack detections; as JSON, also write it to standard output."""
    for name, count in matcher.overruns.items():
        if as_json:
            typer.echo(json.dumps({"subscription": name, "overruns": count}))
        yield overrun_warning(name, count)


def match_lines(match: Match) -> list[str]:
    """Return a match for people: who is notified of what, then the graph that was built, or the answers."""
    said = [answer_text(answer) for answer in match.bindings if answer]
    if match.graph is not None:
        said = [f"{triple} ." for triple in match.graph]
    return [f"{match.subscription_id}: event {match.event_id} matches", *(f"    {line}" for line in sorted(said))]


def detection_lines(detection: Detection) -> list[str]:
    """Return a detection for people: who is notified, then the tree of what it is made of."""
    return [f"{detection.subscription_id}: detected", *detection.tree.lines(answer_text, "    ")]


def show_detections(detections: Iterable[Detection], *, as_json: bool) -> None:
    """Write detections to standard output."""
    for detection in detections:
        if as_json:
            typer.echo(json.dumps(detection_object(detection)))
        else:
            show(*detection_lines(detection))


def answer_text(answer: Binding) -> str:
    """Return an answer on one line."""
    return ", ".join(f"?{name} = {term_text(term)}" for name, term in answer.items())
