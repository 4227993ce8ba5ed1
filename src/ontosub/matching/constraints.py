"""A pattern taken apart: every single demand that it makes, in the order in which a person would check them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from ontosub.matching.definition import Mu, image_of, variables_in
from ontosub.matching.showing import Show, listed
from ontosub.model import Arc, Filter, GraphPattern, Vertex
from ontosub.model.terms import TYPE, BlankNode, NamedNode, PatternTerm, Term, Triple
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.wording import explain_failure, expression_text


class Constraint(Protocol):
    """One demand of a pattern. `show` says how terms are written."""

    def text(self, show: Show) -> str:
        """Return the demand, in the words of the pattern."""

    def support(self, mu: Mu, graph: EventGraph, show: Show) -> str:
        """Say what meets the demand under μ."""

    def failure(self, mu: Mu, graph: EventGraph, show: Show) -> str:
        """Say what μ, which meets other demands, has in place of what is demanded."""

    def triple(self, mu: Mu) -> Triple | None:
        """Return the triple of the event graph that meets the demand under μ, if it is one."""


@dataclass(frozen=True, slots=True)
class HasHome:
    """The pattern starts at the event's home vertex."""

    vertex: PatternTerm

    def text(self, show: Show) -> str:
        return f"{show(self.vertex)} is the home vertex"

    def support(self, mu: Mu, graph: EventGraph, show: Show) -> str:
        return show(mu[self.vertex])

    def failure(self, mu: Mu, graph: EventGraph, show: Show) -> str:
        return "the event has no home vertex" if graph.home is None else f"the home vertex is {show(graph.home)}"

    def triple(self, mu: Mu) -> Triple | None:
        return None


@dataclass(frozen=True, slots=True)
class HasArc:
    """An arc of the pattern has an image."""

    arc: Arc

    def text(self, show: Show) -> str:
        return " ".join(show(term) for term in (self.arc.subject, self.arc.property, self.arc.object))

    def support(self, mu: Mu, graph: EventGraph, show: Show) -> str:
        triple = self.triple(mu)
        return " ".join(show(term) for term in (triple.subject, triple.predicate, triple.object))

    def failure(self, mu: Mu, graph: EventGraph, show: Show) -> str:
        subject, property_ = image_of(self.arc.subject, mu), image_of(self.arc.property, mu)
        statements = graph.triples if subject is None else graph.by_subject.get(subject, [])
        found = [statement for statement in statements if statement.predicate == property_]
        if not found:
            who = "no vertex has" if subject is None else f"{show(subject)} has no"
            return f"{who} {show(self.arc.property)}"
        starts = listed((statement.subject for statement in found), show)
        ends = listed((statement.object for statement in found), show)
        return f"{starts} {show(found[0].predicate)} leads to {ends}"

    def triple(self, mu: Mu) -> Triple:
        parts = (image_of(term, mu) for term in (self.arc.subject, self.arc.property, self.arc.object))
        return Triple(*parts)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class HasClass:
    """A vertex has a class."""

    vertex: PatternTerm
    class_: NamedNode

    def text(self, show: Show) -> str:
        return f"{show(self.vertex)} is a {show(self.class_)}"

    def support(self, mu: Mu, graph: EventGraph, show: Show) -> str:
        image = image_of(self.vertex, mu)
        return f"{show(self.vertex if image is None else image)} is one"

    def failure(self, mu: Mu, graph: EventGraph, show: Show) -> str:
        image = image_of(self.vertex, mu)
        if image is None:
            return "no vertex is one"
        return f"{show(image)} is a {listed(graph.types.get(image) or graph.classes(image), show)}"

    def triple(self, mu: Mu) -> Triple | None:
        image = image_of(self.vertex, mu)
        return (
            Triple(image, TYPE, self.class_) if image is not None and isinstance(image, NamedNode | BlankNode) else None
        )


@dataclass(frozen=True, slots=True)
class Satisfies:
    """A filter holds."""

    filter: Filter

    def text(self, show: Show) -> str:
        return expression_text(self.filter.expression)

    def support(self, mu: Mu, graph: EventGraph, show: Show) -> str:
        variables = sorted(self.filter.variables, key=str)
        return ", ".join(f"{variable} = {show(mu[variable])}" for variable in variables) or "is true"

    def failure(self, mu: Mu, graph: EventGraph, show: Show) -> str:
        return explain_failure(self.filter.expression, variables_in(mu)) or "does not hold"

    def triple(self, mu: Mu) -> Triple | None:
        return None


@dataclass(frozen=True, slots=True)
class IsInjective:
    """No two vertices share an image."""

    def text(self, show: Show) -> str:
        return "no two vertices are the same"

    def support(self, mu: Mu, graph: EventGraph, show: Show) -> str:
        return "all differ"

    def failure(self, mu: Mu, graph: EventGraph, show: Show) -> str:
        images: dict[Term, list[str]] = {}
        for term, image in mu.items():
            images.setdefault(image, []).append(show(term))
        shared = [f"{' and '.join(names)} are both {show(image)}" for image, names in images.items() if len(names) > 1]
        return "; ".join(shared) or "two vertices would have to be"

    def triple(self, mu: Mu) -> Triple | None:
        return None


def constraints_of(pattern: GraphPattern) -> list[Constraint]:
    """Return every demand of the pattern: home, arcs, classes, filters, injectivity."""
    return [
        *([HasHome(pattern.home)] if pattern.home is not None else []),
        *(HasArc(arc) for arc in pattern.arcs),
        *(HasClass(v.term, class_) for v in pattern.vertices for class_ in sorted(v.classes, key=str)),
        *(Satisfies(condition) for condition in pattern.filters),
        *([IsInjective()] if pattern.injective else []),
    ]


def restricted(pattern: GraphPattern, kept: Iterable[Constraint]) -> GraphPattern:
    """Return the pattern with only the demands that are kept.

    A vertex that no kept demand mentions is left out; so is a filter whose variables are not all mentioned otherwise,
    unless it is kept: then its variables range over all vertices.
    """
    kept = list(kept)
    arcs = tuple(c.arc for c in kept if isinstance(c, HasArc))
    filters = tuple(c.filter for c in kept if isinstance(c, Satisfies))
    classes: dict[PatternTerm, set[NamedNode]] = {}
    home = next((c.vertex for c in kept if isinstance(c, HasHome)), None)
    for arc in arcs:
        classes.setdefault(arc.subject, set())
        classes.setdefault(arc.object, set())
    for constraint in kept:
        if isinstance(constraint, HasClass):
            classes.setdefault(constraint.vertex, set()).add(constraint.class_)
    of_properties = {arc.property for arc in arcs}
    for condition in filters:
        for variable in condition.variables - of_properties:
            classes.setdefault(variable, set())
    return replace(
        pattern,
        vertices=tuple(Vertex(term, frozenset(asked)) for term, asked in classes.items()),
        arcs=arcs,
        filters=filters,
        home=home,
        injective=any(isinstance(c, IsInjective) for c in kept),
    )
