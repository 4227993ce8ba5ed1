"""Patterns for engines that know neither terms nor classes: a shape in numbers, and the constants that fill it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ontosub.model import GraphPattern
from ontosub.model.errors import UsageError
from ontosub.model.expression import Call, Expression, Function
from ontosub.model.pattern import is_constant
from ontosub.model.terms import XSD, Literal, NamedNode, Term, Triple, Variable, datatype_closure

COMPARISONS = frozenset({Function.LESS, Function.LESS_OR_EQUAL, Function.GREATER, Function.GREATER_OR_EQUAL})
HOME_NUMBER = 0


@dataclass(slots=True)
class Numbers:
    """A number for each term. The home vertex has the number 0 in every event."""

    of_term: dict[Term, int] = field(default_factory=dict)

    def add(self, term: Term) -> int:
        """Return the term's number; a new term gets the next one."""
        return self.of_term.setdefault(term, len(self.of_term) + 1)

    def rows(self, triples: Iterable[Triple], home: Term | None) -> list[tuple[int, int, int, float | None]]:
        """Return the triples in numbers, with the value of a numeric object. New terms are numbered for this once."""
        local: dict[Term, int] = {} if home is None else {home: HOME_NUMBER}
        first = len(self.of_term) + 1

        def number(term: Term) -> int:
            known = local.get(term)
            if known is None:
                known = local[term] = self.of_term.get(term, first + len(local))
            return known

        return [(number(t.subject), number(t.predicate), number(t.object), numeric_value(t.object)) for t in triples]


@dataclass(frozen=True, slots=True)
class Limit:
    """A comparison of a vertex with a number; the number itself is one of the constants."""

    vertex: int
    function: Function


@dataclass(frozen=True, slots=True)
class Shape:
    """A pattern without its constants. Vertices go by position, classes and properties by number."""

    vertices: int
    constants: tuple[int, ...]
    """Which vertices are constants."""
    home: int | None
    arcs: tuple[tuple[int, int, int], ...]
    """Subject, property, object."""
    types: tuple[tuple[int, int], ...]
    """Vertex and class."""
    limits: tuple[Limit, ...]
    injective: bool

    def classes_of(self, vertex: int) -> Iterator[int]:
        """Yield the classes that are asked of a vertex."""
        return (class_ for typed, class_ in self.types if typed == vertex)


@dataclass(frozen=True, slots=True)
class Instance:
    """A pattern taken apart: the shape, the numbers of its constants, and the numbers to compare with."""

    shape: Shape
    constants: tuple[int, ...]
    limits: tuple[float, ...]


def instance_of(pattern: GraphPattern, numbers: Numbers) -> Instance:
    """Take a pattern apart.

    Raises UsageError for properties that are variables, and for filters that do not compare the object of an arc with a
    number.
    """
    position = {vertex.term: number for number, vertex in enumerate(pattern.vertices)}
    constants = [vertex.term for vertex in pattern.vertices if is_constant(vertex.term)]
    compared = [_comparison(condition.expression) for condition in pattern.filters]
    if not {variable for variable, _, _ in compared} <= {arc.object for arc in pattern.arcs}:
        raise UsageError("a number that is compared must be the object of an arc")
    shape = Shape(
        vertices=len(pattern.vertices),
        constants=tuple(position[term] for term in constants),
        home=None if pattern.home is None else position[pattern.home],
        arcs=tuple(
            (position[arc.subject], numbers.add(_named(arc.property)), position[arc.object]) for arc in pattern.arcs
        ),
        types=tuple(
            (position[vertex.term], numbers.add(class_))
            for vertex in pattern.vertices
            for class_ in sorted(vertex.classes, key=str)
        ),
        limits=tuple(Limit(position[variable], function) for variable, function, _ in compared),
        injective=pattern.injective,
    )
    return Instance(shape, tuple(map(numbers.add, constants)), tuple(value for _, _, value in compared))


def numeric_value(term: Term) -> float | None:
    """Return the value of a numeric literal, and None for anything else."""
    if isinstance(term, Literal) and (XSD["decimal"] in datatype_closure(term.datatype) or term.datatype in _FLOATS):
        return float(term.value)
    return None


_FLOATS = (XSD["double"], XSD["float"])


def _named(property_: NamedNode | Variable) -> NamedNode:
    if isinstance(property_, Variable):
        raise UsageError("a variable in the place of a property has no relation to join with")
    return property_


def _comparison(expression: Expression) -> tuple[Variable, Function, float]:
    match expression:
        case Call(function, (Variable() as variable, Literal() as literal)) if function in COMPARISONS:
            value = numeric_value(literal)
            if value is not None:
                return variable, function, value
    raise UsageError("only comparisons of a variable with a number can be told to this engine")
