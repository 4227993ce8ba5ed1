"""From mappings to answers: projection, duplicates, and what CONSTRUCT builds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from ontosub.model import Binding, GraphPattern, Interval, Match, Subscription, TemplateTriple
from ontosub.model.terms import BlankNode, NamedNode, PatternTerm, Term, Triple, Variable
from ontosub.semantics.budget import Budget
from ontosub.semantics.values import size_of

BINDING_BYTES, TERM_BYTES, TRIPLE_BYTES = 300, 60, 300
"""About what an answer takes, each term in it, and each triple that is made of it."""


def answer_bytes(answer: Binding) -> int:
    """Return about what it takes to hold an answer and to write it."""
    return BINDING_BYTES + sum(map(term_bytes, answer.values()))


def term_bytes(term: Term) -> int:
    """Return about what it takes to hold a term of an answer and to write it."""
    return TERM_BYTES + size_of(term)


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


def match_of(subscription: Subscription, event: Identified, bindings: list[Binding], budget: Budget) -> Match | None:
    """Return the match that the answers of a subscription without residual make; None when there are none.

    Raises LimitError when the budget does not suffice for what CONSTRUCT makes.
    """
    if not bindings:
        return None
    if subscription.distinct:
        bindings = without_duplicates(bindings)
    graph = construct(subscription.template, bindings, budget) if subscription.template else None
    return Match(subscription.id, event.id, bindings, graph, event.interval)


def construct(template: Iterable[TemplateTriple], bindings: Iterable[Binding], budget: Budget) -> frozenset[Triple]:
    """Return the graph that a CONSTRUCT template makes of the answers.

    Blank nodes of the template are new for each answer; a triple with an unbound variable, or with a term in a place
    where it cannot stand, is left out (SPARQL 1.2, section 16.2).
    """
    template = list(template)
    made: set[Triple] = set()
    for row, binding in enumerate(bindings):
        budget.spend(1 + len(template))
        budget.hold(TRIPLE_BYTES * len(template))
        triples = (_triple(each, row, binding) for each in template)
        made.update(triple for triple in triples if triple is not None)
    return frozenset(made)


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
