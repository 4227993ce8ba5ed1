"""Plans: a pattern as a canonical sequence of steps, so that equal beginnings of different patterns are one.

A step binds a register or checks something between bound ones. Constants do not appear in steps: patterns that differ
only in constants have the same steps, and are told apart at the end by what the registers hold.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple

from ontosub.model import GraphPattern
from ontosub.model.pattern import is_constant
from ontosub.model.terms import NamedNode, PatternTerm, Variable

HOME, ANY, CHECK, FORWARD, BACKWARD, CHECK_ANY, FORWARD_ANY, BACKWARD_ANY = range(8)
"""The kinds of step. The last three follow an arc of any property, and bind it or compare it with what is bound."""

ALONE = 0
"""The `property` of an ANY move to a vertex without arcs. It cannot be a class that only types something."""

_BY_ANY = CHECK_ANY - CHECK


class Move(NamedTuple):
    """How a step gets on: from register `source` along `property` (of which `*_ANY` binds register `property`)."""

    kind: int
    source: int = -1
    property: int = -1
    target: int = -1


class Arrival(NamedTuple):
    """What the vertex that a move leads to must be: of these classes, and one of the constants asked for or not."""

    classes: tuple[int, ...] = ()
    constant: bool = False


Step = tuple[Move, Arrival]


class Numbering(NamedTuple):
    """How classes and properties get their numbers."""

    of_class: Callable[[NamedNode], int]
    of_property: Callable[[NamedNode], int]


class _Arc(NamedTuple):
    subject: int
    property: int
    object: int


class Shape(NamedTuple):
    """A pattern with its terms replaced by positions: what is left is the same for all instances of a template.

    Vertices are counted as they come; a property variable is -1 minus its position.
    """

    arrivals: tuple[Arrival, ...]
    arcs: tuple[_Arc, ...]
    home: int | None
    injective: bool


def shape_of(
    pattern: GraphPattern, numbering: Numbering, pinned: Container[PatternTerm] = ()
) -> tuple[Shape, list[PatternTerm], list[Variable]]:
    """Return the pattern's shape, and the vertices and property variables at its positions.

    Variables that a filter pins to a term count as constants.
    """
    terms: list[PatternTerm] = [vertex.term for vertex in pattern.vertices]
    position = {term: number for number, term in enumerate(terms)}
    variables: dict[Variable, int] = {}
    arcs = []
    for arc in pattern.arcs:
        if isinstance(arc.property, Variable):
            property_ = -1 - variables.setdefault(arc.property, len(variables))
        else:
            property_ = numbering.of_property(arc.property)
        arcs.append(_Arc(position[arc.subject], property_, position[arc.object]))
    arrivals = tuple(
        Arrival(
            tuple(sorted(map(numbering.of_class, vertex.classes))),
            is_constant(vertex.term) or vertex.term in pinned,
        )
        for vertex in pattern.vertices
    )
    home = None if pattern.home is None else position.get(pattern.home)
    return Shape(arrivals, tuple(arcs), home, pattern.injective), terms, list(variables)


class Sequence(NamedTuple):
    """A shape's steps, with the registers of its vertices and of its property variables, by position."""

    steps: tuple[Step, ...]
    registers: tuple[int, ...]
    property_registers: tuple[int, ...]


def sequence_of(shape: Shape) -> Sequence:
    """Return the canonical steps of a shape."""
    writing = _Writing(shape)
    if shape.home is not None:
        writing.start(HOME, shape.home)
    while (roots := writing.roots()) != []:
        writing = min((writing.started(ANY, root) for root in roots), key=lambda each: each.steps)
    return Sequence(tuple(writing.steps), writing.in_order(), writing.properties_in_order())


class _Writing:
    """Steps being written down, always the least of those that are possible next."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.steps: list[Step] = []
        self._register: dict[int, int] = {}
        self._property_register: dict[int, int] = {}
        self._waiting = set(shape.arcs)

    def roots(self) -> list[int]:
        """Return the vertices to go on from when no arc leads further: the most telling ones."""
        left = [vertex for vertex in range(len(self._shape.arrivals)) if vertex not in self._register]
        if not left:
            return []
        rank = {vertex: self._rank(vertex) for vertex in left}
        best = min(rank.values())
        return [vertex for vertex in left if rank[vertex] == best][:_ROOTS_TRIED]

    def _rank(self, vertex: int) -> tuple[bool, bool, int]:
        arrival = self._shape.arrivals[vertex]
        degree = sum((arc.subject == vertex) + (arc.object == vertex) for arc in self._shape.arcs)
        return not arrival.constant, not arrival.classes, -degree

    def started(self, kind: int, root: int) -> _Writing:
        """Return a copy of this that has gone on from a root as far as arcs lead."""
        copy = _Writing(self._shape)
        copy.steps, copy._waiting = list(self.steps), set(self._waiting)
        copy._register, copy._property_register = dict(self._register), dict(self._property_register)
        copy.start(kind, root)
        return copy

    def start(self, kind: int, root: int) -> None:
        """Bind a root, then follow arcs as far as they lead."""
        self._bind(root)
        # Injective patterns walk by other rules, so they part from the others at the very first step.
        alone = not any(root in (arc.subject, arc.object) for arc in self._shape.arcs)
        move = Move(kind, property=ALONE if alone else -1, target=int(self._shape.injective))
        self.steps.append((move, self._shape.arrivals[root]))
        while (reached := [arc for arc in self._waiting if self._is_reached(arc)]) != []:
            step, arc = min(((self._step(arc), arc) for arc in reached), key=_urgency)
            self._waiting.remove(arc)
            self._take(arc)
            self.steps.append(step)

    def _is_reached(self, arc: _Arc) -> bool:
        return arc.subject in self._register or arc.object in self._register

    def _bind(self, vertex: int) -> None:
        self._register.setdefault(vertex, len(self._register))

    def _take(self, arc: _Arc) -> None:
        self._bind(arc.subject)
        self._bind(arc.object)
        if arc.property < 0:
            self._property_register.setdefault(arc.property, len(self._property_register))

    def _step(self, arc: _Arc) -> Step:
        subject, object_ = self._register.get(arc.subject), self._register.get(arc.object)
        property_, by_any = arc.property, 0
        if property_ < 0:
            known = self._property_register.get(property_)
            # A property that is bound already is written as the complement of its register.
            property_ = len(self._property_register) if known is None else ~known
            by_any = _BY_ANY
        if subject is not None and object_ is not None:
            return Move(CHECK + by_any, subject, property_, object_), Arrival()
        if subject is not None:
            return Move(FORWARD + by_any, subject, property_), self._shape.arrivals[arc.object]
        assert object_ is not None  # noqa: S101 - the arc is reached
        return Move(BACKWARD + by_any, object_, property_), self._shape.arrivals[arc.subject]

    def in_order(self) -> tuple[int, ...]:
        return tuple(self._register[vertex] for vertex in range(len(self._shape.arrivals)))

    def properties_in_order(self) -> tuple[int, ...]:
        return tuple(self._property_register[-1 - i] for i in range(len(self._property_register)))


_ROOTS_TRIED = 8


def _urgency(choice: tuple[Step, _Arc]) -> tuple[int, int, Step, _Arc]:
    """Order the possible next steps: checks first, then what leads to constants, then breadth first."""
    (move, arrival), arc = choice
    is_check = move.kind in (CHECK, CHECK_ANY)
    return 0 if is_check else 1 if arrival.constant else 2, move.source, (move, arrival), arc
