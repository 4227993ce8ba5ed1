"""From mappings to answers: projection, duplicates, and what CONSTRUCT builds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from ontosub.model import Binding, GraphPattern, Interval, Match, Subscription, TemplateTriple
from ontosub.model.terms import BlankNode, NamedNode, PatternTerm, Term, Triple, Variable


def project(pattern: GraphPattern, mu: Mapping[PatternTerm, Term]) -> Binding:
    """Return the answer that a mapping gives. A variable that the pattern does not bind is not in it."""
    return Binding({variable.value: mu[variable] for variable in pattern.projected if variable in mu})


def without_duplicates(bindings: Iterable[Binding]) -> list[Binding]:
    """Return each answer once, in order of first appearance."""
    return list({frozenset(binding.items()): binding for binding in bindings}.values())


class Identified(Protocol):
    """What a match says of its event."""

    @property
    def id(self) -> str: ...

    @property
    def interval(self) -> Interval | None: ...


def match_of(subscription: Subscription, event: Identified, bindings: list[Binding]) -> Match | None:
    """Return the match that the answers of a subscription without residual make; None when there are none."""
    if not bindings:
        return None
    if subscription.distinct:
        bindings = without_duplicates(bindings)
    graph = construct(subscription.template, bindings) if subscription.template else None
    return Match(subscription.id, event.id, bindings, graph, event.interval)


def construct(template: Iterable[TemplateTriple], bindings: Iterable[Binding]) -> frozenset[Triple]:
    """Return the graph that a CONSTRUCT template makes of the answers.

    Blank nodes of the template are new for each answer; a triple with an unbound variable, or with a term in a place
    where it cannot stand, is left out (SPARQL 1.2, section 16.2).
    """
    template = list(template)
    made = (_triple(each, row, binding) for row, binding in enumerate(bindings) for each in template)
    return frozenset(triple for triple in made if triple is not None)


def _triple(made: TemplateTriple, row: int, binding: Binding) -> Triple | None:
    subject, predicate, object_ = (_filled(term, row, binding) for term in (made.subject, made.property, made.object))
    if isinstance(subject, NamedNode | BlankNode) and isinstance(predicate, NamedNode) and object_ is not None:
        return Triple(subject, predicate, object_)
    return None


def _filled(term: PatternTerm | TemplateTriple, row: int, binding: Binding) -> Term | None:
    if isinstance(term, TemplateTriple):
        return _triple(term, row, binding)
    if isinstance(term, Variable):
        return binding.get(term.value)
    if isinstance(term, BlankNode):
        return BlankNode(f"answer{row}-{term.value}")
    return term
