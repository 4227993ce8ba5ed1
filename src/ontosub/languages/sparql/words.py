"""The words of a query: the classes and properties that it names, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ontosub.languages.sparql.parser import parse_query
from ontosub.languages.sparql.printer import print_query
from ontosub.languages.sparql.syntax import Construct, Occurrence, Query, Sequence, TriplePattern, walk
from ontosub.model.errors import OntosubError, Span
from ontosub.model.subscription import Subscription
from ontosub.model.terms import TYPE, NamedNode


class Word(NamedTuple):
    """A class or a property, and where the text of the subscription names it, if that is known."""

    term: NamedNode
    is_class: bool
    span: Span | None


def words_of_residual(subscription: Subscription) -> Iterator[Word]:
    """Yield the words of a subscription's residual, which are also those of its core; nothing without a residual."""
    if subscription.residual is None:
        return
    written = _as_written(subscription)
    if written is not None:
        yield from _words(written)
    else:
        yield from (word._replace(span=None) for word in _words(parse_query(subscription.residual)))


def _as_written(subscription: Subscription) -> Query | None:
    """Return the residual as it stands in the text, where that can be read without help from outside."""
    try:
        query = parse_query(subscription.text or "")
    except OntosubError:
        return None
    return query if print_query(query) == subscription.residual else None


def _words(query: Query) -> Iterator[Word]:
    asked = replace(query, template=()) if isinstance(query, Construct) else query
    for triple in walk(asked):
        if isinstance(triple, TriplePattern):
            for step in walk(triple.verb):
                if isinstance(step, Occurrence) and isinstance(step.term, NamedNode):
                    yield Word(step.term, False, step.span)
            last = triple.verb.steps[-1] if isinstance(triple.verb, Sequence) else triple.verb
            class_ = triple.object.term
            if last == Occurrence(TYPE) and isinstance(class_, NamedNode):
                yield Word(class_, True, triple.object.span)
