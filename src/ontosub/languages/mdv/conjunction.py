"""One alternative of a rule on its way to a graph pattern: extensions and predicates come in, a pattern comes out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count

from ontosub.languages.mdv.congruence import Congruence, Node
from ontosub.languages.mdv.normal_form import Predicate
from ontosub.languages.mdv.predicates import ORDER, Side, expression_of
from ontosub.languages.mdv.scope import Scope
from ontosub.languages.mdv.syntax import Comparison, Iri, Name, Operand, Operator, Path, Search, Step, Truth
from ontosub.model.errors import Span
from ontosub.model.expression import Call, Expression, Function
from ontosub.model.pattern import Arc, Filter, GraphPattern, Vertex, is_constant
from ontosub.model.terms import TYPE, BlankNode, NamedNode, PatternTerm, Triple, Variable

_SEPARATOR = "·"
"""Legal inside a SPARQL variable but in no name of a rule, so fresh variables never collide with the user's."""


class Conjunction:
    """Collects what all predicates of one alternative ask, and which of their vertices are the same."""

    def __init__(self, scope: Scope, registered: Variable) -> None:
        self._scope = scope
        self._registered = registered
        self._same = Congruence()
        self._classes: dict[Node, frozenset[NamedNode]] = {}
        self._arcs: list[Arc] = []
        self._filters: list[Filter] = []
        self._spans: dict[Node, Span | None] = {}
        self._numbers: dict[str, count[int]] = {}
        self._order: dict[Node, int] = {}
        for variable in scope.variables:
            self._known(variable)

    def range_over(self, search: Search, member: NamedNode | GraphPattern) -> None:
        """Let a search variable range over the instances of a class, or over what another rule registers."""
        variable = self._scope.variable(search.variable)
        self._spans[variable] = search.span
        if isinstance(member, NamedNode):
            self._ask(variable, frozenset({member}))
        else:
            self._join(variable, member)

    def add(self, predicate: Predicate) -> None:
        """Demand that the predicate holds."""
        comparison = predicate.comparison
        self._check(comparison)
        left, right = self._side(comparison.left), self._side(comparison.right)
        if _identifies(comparison) and isinstance(left, Node) and isinstance(right, Node):
            self._same.merge(self._known(left), self._known(right))
            return
        expression = expression_of(left, comparison.operator, right)
        expression = Call(Function.NOT, (expression,)) if predicate.negated else expression
        self._filters.append(Filter(expression, comparison.span))

    def pattern(self) -> GraphPattern:
        """Return the pattern, with every group of vertices that are the same under one name."""
        named = self._named()
        classes = {named[term]: frozenset[NamedNode]() for term in self._classes}
        for term, asked in self._classes.items():
            classes[named[term]] |= asked
        arcs: dict[Arc, None] = {}
        for arc in self._arcs:
            start, end = named[arc.subject], named[arc.object]
            if arc.property == TYPE and isinstance(end, NamedNode):
                classes[start] = classes.get(start, frozenset()) | {end}
            else:
                arcs[Arc(start, arc.property, end, arc.span)] = None
        filters = [Filter(_substitute(each.expression, named), each.span) for each in self._filters]
        return GraphPattern(
            vertices=tuple(Vertex(term, asked, self._spans.get(term)) for term, asked in classes.items()),
            arcs=tuple(arcs),
            filters=tuple(dict.fromkeys((*filters, *self._identities(named)))),
            projection=(self._registered,),
        )

    def _join(self, variable: Variable, pattern: GraphPattern) -> None:
        """Add another rule's pattern, with fresh names for all of its variables but the registered one."""
        renamed: dict[PatternTerm, Node] = {pattern.projected[0]: variable}
        for vertex in pattern.vertices:
            term = vertex.term
            if not isinstance(term, Variable | BlankNode):
                renamed[term] = term
            elif term not in renamed:
                renamed[term] = self._fresh(variable.value, _label(term))
            self._ask(self._known(renamed[term]), vertex.classes)
        # The spans of the other rule point into the other text, so they are left behind.
        for arc in pattern.arcs:
            self._arcs.append(Arc(renamed[arc.subject], arc.property, renamed[arc.object]))
        self._filters.extend(Filter(_substitute(each.expression, renamed)) for each in pattern.filters)

    def _check(self, comparison: Comparison) -> None:
        sides = (comparison.left, comparison.right)
        if not any(isinstance(side, Path) for side in sides):
            hint = "One side must be a path that starts with a variable, for example: c.serverPort = 80."
            raise self._scope.source.error("two constants are compared", comparison.span, hint)
        unordered = next((side for side in sides if isinstance(side, Truth | Iri | Name)), None)
        if comparison.operator in ORDER and unordered is not None:
            what = "a truth value" if isinstance(unordered, Truth) else "a resource"
            hint = "Compare it with = or !=, or give its text in quotes."
            raise self._scope.source.error(f"{what} is neither less nor greater", comparison.span, hint)

    def _side(self, operand: Operand) -> Side:
        if isinstance(operand, Path):
            return self._end(operand)
        return self._scope.resource(operand) if isinstance(operand, Iri | Name) else operand

    def _end(self, path: Path) -> Variable:
        term = self._scope.variable(path.variable)
        for step in path.steps:
            term = self._follow(term, step, path.variable.value)
        return term

    def _follow(self, subject: Variable, step: Step, owner: str) -> Variable:
        """Return where the step leads: for a plain step always to the same vertex, with `?` to a new one each time."""
        asked = self._scope.resource(step.property)
        known = None if step.any else self._same.value(subject, asked)
        if known is not None:
            return known
        reached = self._fresh(owner, _label(asked))
        self._known(reached)
        self._arcs.append(Arc(subject, asked, reached, step.span))
        if not step.any:
            self._same.set_value(subject, asked, reached)
        return reached

    def _known(self, term: Node) -> Node:
        self._same.add(term)
        self._order.setdefault(term, len(self._order))
        return term

    def _ask(self, term: Node, classes: frozenset[NamedNode]) -> None:
        self._classes[term] = self._classes.get(term, frozenset()) | classes

    def _fresh(self, owner: str, label: str) -> Variable:
        name = f"{owner}{_SEPARATOR}{label}"
        numbers = self._numbers.setdefault(name, count(1))
        variables = (Variable(name if number == 1 else f"{name}{_SEPARATOR}{number}") for number in numbers)
        return next(variable for variable in variables if variable not in self._order)

    def _named(self) -> dict[PatternTerm, Node]:
        mentioned = {variable for each in self._filters for variable in each.variables}
        filtered = {term for variable in mentioned for term in self._same.group(variable)}
        names = [(group, self._name(group, filtered)) for group in self._same.groups()]
        return {term: name for group, name in names for term in group}

    def _name(self, group: list[Node], filtered: set[Node]) -> Node:
        """Choose the registered variable; else a sole constant, unless a filter speaks of it; else the oldest."""
        constants = [term for term in group if is_constant(term)]
        if self._registered in group:
            return self._registered
        if len(constants) == 1 and filtered.isdisjoint(group):
            return constants[0]
        variables = [term for term in group if not is_constant(term)]
        return min(variables or constants, key=self._order.__getitem__)

    def _identities(self, named: Mapping[PatternTerm, Node]) -> Iterator[Filter]:
        """Yield a filter for each constant that could not become the vertex itself."""
        for term, name in named.items():
            if isinstance(term, NamedNode) and isinstance(name, Variable):
                yield Filter(Call(Function.EQUAL, (name, term)))


def _identifies(comparison: Comparison) -> bool:
    """Say whether `=` means the same resource: beside a search variable or a resource, not between two values."""
    sides = (comparison.left, comparison.right)
    if comparison.operator is not Operator.EQUAL:
        return False
    if all(isinstance(side, Path) for side in sides):
        return any(isinstance(side, Path) and not side.steps for side in sides)
    return any(isinstance(side, Iri | Name) for side in sides)


def _substitute(expression: Expression, names: Mapping[PatternTerm, Node]) -> Expression:
    match expression:
        case Call(function, arguments):
            return Call(function, tuple(_substitute(each, names) for each in arguments))
        case Variable():
            name = names[expression]
            assert not isinstance(name, Triple)  # noqa: S101 - what a filter speaks of keeps its variable
            return name
        case _:
            return expression


def _label(term: Variable | BlankNode | NamedNode) -> str:
    """Return the telling part of a term's name, in letters that a variable may have."""
    value = str(term.value)
    last = re.split(r"[#/:]", value.rstrip("#/:"))[-1] if isinstance(term, NamedNode) else value
    return re.sub(r"[^A-Za-z0-9_·]", "_", last.partition(_SEPARATOR)[2] or last)
