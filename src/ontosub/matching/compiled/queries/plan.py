"""Queries made ready to be answered on events in numbers: one plan for all of a form, and what each one adds to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from ontosub.matching.compiled.events.concepts import Concepts
from ontosub.matching.compiled.index.registers import bound_vertices, property_variables
from ontosub.matching.compiled.queries.facts import Facts
from ontosub.matching.compiled.queries.joins import core_table
from ontosub.matching.compiled.queries.lifting import form_of
from ontosub.matching.compiled.queries.operators import selection
from ontosub.matching.compiled.queries.rows import Array, Constants, Kind, Owners, Rows, Run, Scope
from ontosub.matching.compiled.queries.terms import UNBOUND, text_of
from ontosub.model import GraphPattern
from ontosub.model.algebra import (
    Aggregation,
    Basic,
    Extend,
    Filter,
    Grouping,
    Join,
    LeftJoin,
    Minus,
    Named,
    Node,
    Query,
    Selection,
    Values,
    parts_of,
)
from ontosub.model.expression import FRESH, Call, Expression, Function
from ontosub.model.pattern import Arc, TemplateTriple, Vertex, is_constant
from ontosub.model.terms import BlankNode, NamedNode, PatternTerm, Term, Variable
from ontosub.semantics.context import Context

PLANS_MAX = 20_000
"""How many plans are kept."""

TermAt: TypeAlias = tuple[int, bytes, Term]
"""A constant whose number is another one in each event: its place among all, its text, and the term."""


_numbers = count()


class Plan:
    """The operators of all queries of one form. Nothing in it belongs to an event.

    With `core`, the first pattern of the form stands for what the index found: its vertices are the interface.
    """

    def __init__(self, chosen: Selection, *, core: bool) -> None:
        self.number = next(_numbers)
        """Tells plans apart, and in order."""
        first = first_pattern(chosen.pattern) if core else None
        self._scope = Scope(Constants())
        interface = [] if first is None else [vertex.term for vertex in first.pattern.vertices]
        self._scope.places(interface)
        self._width = len(interface)
        # Right behind what the index found stands which row of it that is.
        row = self._scope.mark()
        self.is_local = any(map(_is_local, parts_of(chosen)))
        """Whether its queries must be answered event by event."""
        self.shows_rows = first is not None and not _is_whole(chosen)
        """Whether answers say, behind their owner, which row of what the index found they came of."""
        self._selected = selection(chosen, self._scope, first, (row,) if self.shows_rows else ())

    def constants(self, slots: Sequence[Any], concepts: Concepts) -> tuple[list[int], list[TermAt]]:
        """Return the constants of a query, from what stands in its slots: numbers, and terms, which have none yet."""
        numbers, terms = [], []
        for place, (kind, slot) in enumerate(self._scope.constants.asked):
            numbers.append(_number(kind, None if slot is None else slots[slot], concepts))
            if kind is Kind.TERM:
                terms.append((place, text_of(slots[slot]), slots[slot]))
        return numbers, terms

    def answers(
        self,
        facts: Facts,
        context: Context,
        queries: Sequence[Prepared],
        events: Sequence[int],
        core: tuple[Array, Array] | None = None,
    ) -> Rows:
        """Return the answers of several queries: owner, row of the core if it shows these, and what is projected.

        Each owner is a query on an event of the facts. `core` are the owners of what the index found for their cores,
        and what it found.

        Raises LimitError when the budget of the context is spent.
        """
        number, scope = facts.terms.number, self._scope
        numbers = []
        for event, query in zip(events, queries, strict=True):
            known = query.numbers
            if query.terms:
                context.budget.spend(len(query.terms))
                known = known[:]
                for place, text, term in query.terms:
                    known[place] = number(event, text, term)
            numbers.append(known)
        table = np.array(numbers, np.int32).reshape(len(queries), len(scope.constants.asked))
        places = np.array(events)
        owners = Owners(places, facts.ranges[places], table, [query.slots for query in queries])
        run = Run(facts, facts.arcs, context, scope, owners)
        if core is not None:
            run.core = core_table(*core, self._width, scope.size)
            run.made(run.core, len(run.core))
        return self._selected(run)


def _is_local(part: Any) -> bool:
    """Say whether something depends on which event it is about, or on numbers that properties have in one event."""
    match part:
        case Named() | Arc(property=Variable()):
            return True
        case Call(function):
            return function in FRESH or function is Function.NOW
    return False


def _number(kind: Kind, constant: Any, concepts: Concepts) -> int:
    match kind:
        case Kind.PROPERTY:
            return concepts.property_number(constant)
        case Kind.CLASS:
            return concepts.bit_of_class(constant)
    return UNBOUND


def _is_whole(chosen: Selection) -> bool:
    """Say whether an answer may come of several rows, or decide about others: rows then have all that it shows."""
    return chosen.distinct or chosen.is_cut or any(isinstance(part, Grouping) for part in _spine(chosen.pattern))


def _spine(node: Any) -> Iterator[Node]:
    """Yield a node, and what lies in it on the way to the pattern from which all its solutions come."""
    while node is not None:
        yield node
        match node:
            case Filter(pattern) | Extend(pattern) | Grouping(pattern) | Join(Values(), pattern):
                node = pattern
            case Join(left) | LeftJoin(left) | Minus(left):
                node = left
            case _:
                node = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """The query of a subscription, ready to be answered: its plan, and what it adds to the plan.

    `columns` are the columns of what the index finds for the core that matter, those of the interface first.
    `properties` are those among them that hold properties. `places` tells where the projected variables, with these
    `names`, are in a row of the plan's answers that is followed by what the index found; `labels` are the numbers of
    the names. The rest says what is made of the answers, as of a `Query`.
    """

    id: str
    plan: Plan
    slots: tuple[Any, ...]
    numbers: list[int]
    terms: list[TermAt]
    names: tuple[str, ...]
    labels: tuple[int, ...]
    places: tuple[int, ...]
    columns: tuple[int, ...] = ()
    properties: tuple[int, ...] = ()
    asks: bool = False
    template: tuple[TemplateTriple, ...] | None = None
    described: tuple[NamedNode | Variable, ...] | None = None


class Plans:
    """The plans that are kept, by form."""

    def __init__(self, concepts: Concepts) -> None:
        self.concepts = concepts
        self._plans: dict[Any, Plan] = {}
        self.labels: dict[str, int] = {}
        """The numbers of the names of variables."""

    def of_core(self, id: str, query: Query, core: GraphPattern) -> Prepared:
        """Return a query that is to be answered from what the index finds for its core, its first pattern."""
        chosen = query.selection
        known = frozenset(condition.expression for condition in core.filters)
        found = registers(core)
        bound = {term for term in found if not is_constant(term)}
        rest = replace(chosen, pattern=_without(chosen.pattern, known, Basic(GraphPattern())), projection=())
        needed = bound if _takes_all(rest) else bound & _needed(rest)
        if _is_whole(rest):
            needed |= bound & {*chosen.projection}
        interface = sorted(needed, key=str)
        passed = [each for each in chosen.projection if each in bound - needed]
        given = Basic(GraphPattern(vertices=tuple(map(Vertex, interface))))
        shown = tuple(each for each in chosen.projection if each not in passed)
        plan, slots = self._plan(
            replace(chosen, pattern=_without(chosen.pattern, known, given), projection=shown), core=True
        )
        # Of a variable that has two registers the first one counts: rows of such patterns are always open.
        column = {term: at for at, term in reversed([*enumerate(found)])}
        columns = tuple(column[term] for term in (*interface, *passed))
        head = 1 + plan.shows_rows
        place = {term: head + at for at, term in enumerate(shown)}
        place |= {term: head + len(shown) + len(interface) + at for at, term in enumerate(passed)}
        vertices = len(bound_vertices(core))
        return Prepared(
            id,
            plan,
            slots,
            *plan.constants(slots, self.concepts),
            *self._names(chosen),
            tuple(place[each] for each in chosen.projection),
            columns,
            tuple(at for at, each in enumerate(columns) if each >= vertices),
            query.asks,
            query.template,
            query.described,
        )

    def of_whole(self, id: str, query: Query) -> Prepared:
        """Return a query that is to be answered from the event alone."""
        chosen = query.selection
        plan, slots = self._plan(chosen, core=False)
        constants, names = plan.constants(slots, self.concepts), self._names(chosen)
        places = tuple(range(1, 1 + len(chosen.projection)))
        prepared = Prepared(id, plan, slots, *constants, *names, places)
        return replace(prepared, asks=query.asks, template=query.template, described=query.described)

    def _names(self, chosen: Selection) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the names of what is projected, and their numbers."""
        names = tuple(each.value for each in chosen.projection)
        return names, tuple(self.labels.setdefault(name, len(self.labels)) for name in names)

    def _plan(self, chosen: Selection, *, core: bool) -> tuple[Plan, tuple[Any, ...]]:
        form = form_of(chosen)
        if not form.is_shared:
            return Plan(form.node, core=core), form.slots
        plan = self._plans.get((form.node, core))
        if plan is None:
            if len(self._plans) >= PLANS_MAX:
                del self._plans[next(iter(self._plans))]
            plan = self._plans[form.node, core] = Plan(form.node, core=core)
        return plan, form.slots


def registers(pattern: GraphPattern) -> list[PatternTerm]:
    """Return what the mappings that the index finds for a pattern bind, in order."""
    return [*(vertex.term for vertex in bound_vertices(pattern)), *property_variables(pattern)]


def _needed(node: Any) -> set[PatternTerm]:
    """Return the variables and blank nodes that are mentioned anywhere in a node."""
    return {part for part in parts_of(node) if isinstance(part, Variable | BlankNode)}


def _takes_all(node: Any) -> bool:
    """Say whether all variables of a solution matter: to fresh values, and to the number of different solutions."""
    return any(
        (isinstance(part, Call) and part.function in FRESH)
        or (isinstance(part, Aggregation) and part.argument is None and part.distinct)
        for part in parts_of(node)
    )


def starts_with(query: Query, patterns: Iterable[GraphPattern]) -> bool:
    """Say whether the core of a query is one pattern, and the first one that the query looks for."""
    first = first_pattern(query.selection.pattern)
    (core, *others) = patterns
    return first is not None and not others and _asks_the_same(first.pattern, core)


def first_pattern(node: Node) -> Basic | None:
    """Return the plain pattern from which all solutions of a node come."""
    *_, innermost = _spine(node)
    return innermost if isinstance(innermost, Basic) else None


def _asks_the_same(one: GraphPattern, other: GraphPattern) -> bool:
    return {*one.vertices} == {*other.vertices} and {*one.arcs} == {*other.arcs}


def _without(node: Any, known: frozenset[Expression], given: Basic) -> Any:
    """Return the node with what is `given` in place of its core, without the conditions that hold of that."""
    match node:
        case Basic():
            return given
        case Filter(pattern, conditions):
            left = tuple(each for each in conditions if each.expression not in known)
            inner = _without(pattern, known, given)
            return Filter(inner, left) if left else inner
        case Extend(pattern) | Grouping(pattern):
            return replace(node, pattern=_without(pattern, known, given))
        case Join(Values() as values, right):
            return Join(_without(right, known, given), values)
        case Join(left) | LeftJoin(left) | Minus(left):
            return replace(node, left=_without(left, known, given))
    return node
