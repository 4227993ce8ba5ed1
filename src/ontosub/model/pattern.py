"""Graph patterns: the one algebra that every subscription language compiles to and every matcher reads.

A pattern is conjunctive: vertices (with the classes asked of them), arcs between vertices, and filters. Disjunction
is a tuple of patterns in a `Subscription`; what goes beyond is the subscription's residual.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeGuard

from ontosub.model.errors import Span, UsageError
from ontosub.model.expression import Expression, variables_of
from ontosub.model.terms import BlankNode, Literal, NamedNode, PatternTerm, Triple, Variable


@dataclass(frozen=True, slots=True)
class Vertex:
    """A vertex of a pattern: who it must be (a constant), or what it is called, and the classes asked of it."""

    term: PatternTerm
    classes: frozenset[NamedNode] = frozenset()
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Arc:
    """An arc of a pattern, from subject to object. A property that is a variable binds to the arc's own property."""

    subject: PatternTerm
    property: NamedNode | Variable
    object: PatternTerm
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TemplateTriple:
    """A triple that CONSTRUCT makes of each answer. Its object may be a triple term that is made of the answer, too."""

    subject: PatternTerm
    property: NamedNode | Variable
    object: PatternTerm | TemplateTriple
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on what the variables are bound to. An error while evaluating counts as false."""

    expression: Expression
    span: Span | None = field(default=None, compare=False)

    @property
    def variables(self) -> frozenset[Variable]:
        return variables_of(self.expression)


@dataclass(frozen=True, slots=True)
class GraphPattern:
    """What a subscriber asks of an event graph.

    Vertices are keyed by their term and each term occurs once; every end of an arc is among the vertices (the
    constructor adds those that are missing). `home` names the vertex that must be the event's home. An injective
    pattern (OPS, Definition 1) never gives two vertices the same image. `projection` lists the variables of the
    answer; None means all of them, in order of appearance.
    """

    vertices: tuple[Vertex, ...] = ()
    arcs: tuple[Arc, ...] = ()
    filters: tuple[Filter, ...] = ()
    home: PatternTerm | None = None
    injective: bool = False
    projection: tuple[Variable, ...] | None = None

    def __post_init__(self) -> None:
        seen = {vertex.term for vertex in self.vertices}
        if len(seen) != len(self.vertices):
            raise UsageError("a pattern names a vertex twice: give it once, with all of its classes")
        missing = dict.fromkeys(term for arc in self.arcs for term in (arc.subject, arc.object) if term not in seen)
        if missing:
            object.__setattr__(self, "vertices", (*self.vertices, *(Vertex(term) for term in missing)))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables that a match binds: those of vertices, then those of properties; each once."""
        of_vertices = (vertex.term for vertex in self.vertices)
        of_properties = (arc.property for arc in self.arcs)
        found = dict.fromkeys(
            term for terms in (of_vertices, of_properties) for term in terms if isinstance(term, Variable)
        )
        return tuple(found)

    @property
    def projected(self) -> tuple[Variable, ...]:
        """The variables of the answer."""
        return self.variables if self.projection is None else self.projection


def is_constant(term: PatternTerm) -> TypeGuard[NamedNode | Literal | Triple]:
    """Say whether the term stands for itself: variables and blank nodes stand for anything."""
    return not isinstance(term, Variable | BlankNode)


def reachable(start: PatternTerm, arcs: Iterable[Arc]) -> frozenset[PatternTerm]:
    """Return the vertices that lie on a directed path from `start`, itself included."""
    following: dict[PatternTerm, list[PatternTerm]] = {}
    for arc in arcs:
        following.setdefault(arc.subject, []).append(arc.object)
    found, waiting = {start}, [start]
    while waiting:
        for term in following.get(waiting.pop(), ()):
            if term not in found:
                found.add(term)
                waiting.append(term)
    return frozenset(found)
