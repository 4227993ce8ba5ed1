"""Subscriptions as OPS holds them: a subscription graph, decomposed step by step into statement patterns.

A statement pattern is `(subject, object, meta-statement, filter_func(object))`. One that waits for an event has a known
subject; its object is a known value or a variable, written None here so that patterns of different subscriptions are
equal when their contents are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import repeat
from typing import TypeAlias

from ontosub.model import Arc, Filter, GraphPattern, MetaStatement
from ontosub.model.errors import UsageError
from ontosub.model.expression import Call, Expression
from ontosub.model.pattern import is_constant, reachable
from ontosub.model.terms import ONTOSUB, TYPE, NamedNode, PatternTerm, Term, Variable

ANYTHING = ONTOSUB["Anything"]
"""The class of a vertex of which none is asked. It contains every class and every datatype."""

_OBJECT = Variable("object")


class Home(Enum):
    """The identifier of the home vertex, whatever an event calls it."""

    HOME = "_:H"


Identifier: TypeAlias = Term | Home
"""What the algorithm knows a vertex of the event graph by."""


@dataclass(frozen=True, slots=True)
class StatementPattern:
    """What one statement of the event must be like. `object` is None for a variable that has no value yet.

    The paper gives each vertex one class, which stands in the meta-statement. Here a vertex may be asked for several:
    the meta-statement takes the first by name, and `subject_classes` and `object_classes` hold all of them.
    """

    subject: Identifier
    object: Identifier | None
    meta_statement: MetaStatement
    subject_classes: frozenset[NamedNode] = frozenset()
    object_classes: frozenset[NamedNode] = frozenset()
    filter_func: tuple[Expression, ...] = ()


class SubscriptionGraph:
    """A pattern that OPS can take: injective, with paths from its home vertex to every other vertex."""

    def __init__(self, pattern: GraphPattern) -> None:
        """Raise UsageError if OPS cannot take the pattern."""
        self.home = _accepted_home(pattern)
        self.pattern = pattern
        self._arcs_from: dict[PatternTerm, list[Arc]] = {}
        for arc in dict.fromkeys(pattern.arcs):
            self._arcs_from.setdefault(arc.subject, []).append(arc)
        self._classes = {vertex.term: vertex.classes for vertex in pattern.vertices}
        self._filters: dict[PatternTerm, list[Expression]] = {}
        self.confirmations: list[Filter] = []
        for condition in pattern.filters:
            self._place(condition)

    def _place(self, condition: Filter) -> None:
        """Put a filter on one object into its statement patterns; others wait until all variables are known."""
        if len(condition.variables) == 1:
            (variable,) = condition.variables
            if variable in self._classes and variable != self.home:
                self._filters.setdefault(variable, []).append(_renamed(condition.expression, variable))
                return
        self.confirmations.append(condition)

    @property
    def meta_statements(self) -> list[MetaStatement]:
        """The meta-statements of all statement patterns."""
        return [self._meta_statement(arc) for arcs in self._arcs_from.values() for arc in arcs]

    def patterns_from(
        self, vertex: PatternTerm, known: Mapping[PatternTerm, Identifier]
    ) -> list[tuple[Arc, StatementPattern]]:
        """Return the statement patterns that start at the vertex, with known values in the place of variables."""
        return [(arc, self._statement_pattern(arc, known)) for arc in self._arcs_from.get(vertex, ())]

    def _statement_pattern(self, arc: Arc, known: Mapping[PatternTerm, Identifier]) -> StatementPattern:
        value = known.get(arc.object)
        if value is None and is_constant(arc.object):
            value = arc.object
        return StatementPattern(
            known[arc.subject],
            value,
            self._meta_statement(arc),
            self._classes[arc.subject],
            self._classes[arc.object],
            tuple(self._filters.get(arc.object, ())),
        )

    def _meta_statement(self, arc: Arc) -> MetaStatement:
        assert isinstance(arc.property, NamedNode)  # noqa: S101 - the constructor refuses variables here
        return MetaStatement(_first(self._classes[arc.subject]), arc.property, _first(self._classes[arc.object]))


def _first(classes: Iterable[NamedNode]) -> NamedNode:
    return min(classes, key=lambda class_: class_.value, default=ANYTHING)


def _renamed(expression: Expression, variable: Variable) -> Expression:
    """Return the expression with the neutral name of an object in the place of its variable."""
    if isinstance(expression, Call):
        # `map`, unlike a comprehension, adds no frame of its own, so that deep expressions fit the stack.
        return Call(expression.function, tuple(map(_renamed, expression.arguments, repeat(variable))))
    return _OBJECT if expression == variable else expression


def object_binding(image: Term) -> Mapping[Variable, Term]:
    """Return the binding under which a `filter_func` is evaluated for an object."""
    return {_OBJECT: image}


def _accepted_home(pattern: GraphPattern) -> PatternTerm:
    """Return the home vertex of a pattern that OPS can take; raise UsageError for any other."""
    if pattern.home is None:
        raise UsageError("OPS matches from the home vertex, and this pattern has none: use another algorithm")
    if not pattern.injective:
        raise UsageError(
            "OPS never gives two vertices the same image, and this pattern allows it: use another algorithm"
        )
    for arc in pattern.arcs:
        if not isinstance(arc.property, NamedNode):
            raise UsageError(f"OPS cannot match the variable property {arc.property}: use another algorithm")
        if arc.property == TYPE:
            raise UsageError("OPS does not match rdf:type as an arc: ask for the class in a meta-statement")
    if not any(arc.subject == pattern.home for arc in pattern.arcs):
        raise UsageError(f"OPS needs a statement pattern that starts at the home vertex {pattern.home}")
    reached = reachable(pattern.home, pattern.arcs)
    for vertex in pattern.vertices:
        if vertex.term not in reached:
            raise UsageError(f"OPS cannot reach the vertex {vertex.term} from the home vertex {pattern.home}")
    return pattern.home
