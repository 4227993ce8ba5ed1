"""Reasons: what an explanation is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from ontosub.matching.constraints import Constraint
from ontosub.matching.definition import Mu
from ontosub.matching.nearest_part import Part
from ontosub.matching.showing import Show
from ontosub.model.errors import Span
from ontosub.model.terminal import printable
from ontosub.model.terms import Triple
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.wording import term_text


@dataclass(frozen=True, slots=True)
class Reason:
    """A constraint of a pattern, or a part of a query, and why it holds or fails.

    `facts` are given triples (of the event or the background), `axioms` the ontology's statements applied to them.
    `span` is where a part of a query stands in the text of its subscription, if that is known.
    """

    constraint: str
    detail: str
    facts: tuple[Triple, ...] = ()
    axioms: tuple[Triple, ...] = ()
    show: Show = field(default=term_text, repr=False, compare=False)
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self._told(self.constraint)

    def located(self) -> str:
        """Return the reason as text, in one line, with its position."""
        where = "" if self.span is None else f" (line {self.span.line}, column {self.span.column})"
        return self._told(f"{self.constraint}{where}")

    def _told(self, constraint: str) -> str:
        because = [_statement(triple, self.show) for triple in (*self.facts, *self.axioms)]
        return printable(f"{constraint}: {self.detail}" + (f"  [{'; '.join(because)}]" if because else ""))

    def to_dict(self) -> dict[str, object]:
        """Return the reason as plain JSON values."""
        return {
            "constraint": self.constraint,
            "detail": self.detail,
            "facts": [str(triple) for triple in self.facts],
            "axioms": [str(triple) for triple in self.axioms],
            "line": self.span and self.span.line,
            "column": self.span and self.span.column,
        }


@dataclass(slots=True)
class Reasons:
    """The reasons of an explanation, as they are found."""

    held: list[Reason] = field(default_factory=list)
    failed: list[Reason] = field(default_factory=list)
    undecided: list[Reason] = field(default_factory=list)

    def add(self, part: Part, graph: EventGraph, show: Show) -> None:
        """Add those of a pattern: what holds of it, what fails, and what could not be decided."""
        self.held += (supported(each, part.mu, graph, show) for each in part.held)
        self.failed += (Reason(each.text(show), each.failure(part.mu, graph, show)) for each in part.failed)
        given_up = "the search was given up, it would take too long"
        self.undecided += (Reason(each.text(show), given_up) for each in part.undecided)


def supported(constraint: Constraint, mu: Mu, graph: EventGraph, show: Show) -> Reason:
    """Return why a constraint holds under μ."""
    facts, axioms = _proof(constraint.triple(mu), graph)
    return Reason(constraint.text(show), constraint.support(mu, graph, show), facts, axioms, show)


def _proof(triple: Triple | None, graph: EventGraph) -> tuple[tuple[Triple, ...], tuple[Triple, ...]]:
    """Return the given facts and the axioms behind a triple of the event graph."""
    facts: dict[Triple, None] = {}
    axioms: dict[Triple, None] = {}
    waiting = [] if triple is None or triple not in graph.derivations else [triple]
    while waiting:
        found = waiting.pop()
        derivation = graph.derivations[found]
        if derivation is None:
            facts[found] = None
        else:
            axioms[derivation.axiom] = None
            waiting.extend(derivation.premises)
    return tuple(facts), tuple(axioms)


def _statement(triple: Triple, show: Show) -> str:
    return " ".join(show(term) for term in (triple.subject, triple.predicate, triple.object))
