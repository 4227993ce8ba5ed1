"""Operators that find solutions in a graph: plain patterns, paths, and the parts of triple terms.

Each continues a row: what the row binds already is looked up, so a join costs what it finds. An operator that looks at
one place of the graph gives a list, since a generator costs more than the few rows that it would give; one that is made
of others is lazy, so that who needs one row does not pay for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from ontosub.matching.compiled.index.registers import bound_vertices, property_variables
from ontosub.matching.compiled.queries.rows import End, Row, Run, Scope
from ontosub.matching.compiled.queries.terms import UNBOUND
from ontosub.model import Arc, GraphPattern
from ontosub.model.algebra import PathPattern, Unfolding
from ontosub.model.pattern import is_constant
from ontosub.model.terms import NamedNode, PatternTerm, Triple, Variable

Operator: TypeAlias = Callable[[Run, Row], Iterable[Row]]
"""Continues a row by the solutions of a pattern that agree with it."""

_FEW = 100
"""How many rows are made at once; more are made one by one, so that memory does not grow with them."""


def basic(pattern: GraphPattern, scope: Scope, bound: Iterable[PatternTerm]) -> Operator:
    """Return the operator of a plain pattern; `bound` are the terms that rows probably bind before it."""
    steps: list[Operator] = []
    known = {*bound, *(vertex.term for vertex in pattern.vertices if is_constant(vertex.term))}
    classes = {vertex.term: sorted(vertex.classes, key=str) for vertex in pattern.vertices}
    touched = {end for arc in pattern.arcs for end in (arc.subject, arc.object)}
    properties = {arc.property for arc in pattern.arcs if isinstance(arc.property, Variable)}
    waiting = list(pattern.arcs)
    while waiting:
        arc = min(waiting, key=lambda each: _rank(each, known))
        if not _is_anchored(arc, known) and (narrow := _narrowest(waiting, known, classes)) is not None:
            # Where no arc has a known end, the members of a class are fewer than the arcs of a property.
            steps.append(_vertex(scope.end(narrow), classes.pop(narrow)))
            known.add(narrow)
            continue
        waiting.remove(arc)
        steps.append(_arc(arc, scope))
        for term in dict.fromkeys((arc.subject, arc.property, arc.object)):
            known.add(term)
            if asked := classes.pop(term, None):
                steps.append(_classes(scope.end(term), asked))
    for term, asked in classes.items():
        if term not in touched and term not in properties:
            steps.append(_vertex(scope.end(term), asked))
        elif asked:
            steps.append(_classes(scope.end(term), asked))
    return chain(steps)


def registers(pattern: GraphPattern) -> list[PatternTerm]:
    """Return what the mappings that the index finds for a pattern bind, in order."""
    return [*(vertex.term for vertex in bound_vertices(pattern)), *property_variables(pattern)]


def core(pattern: GraphPattern, scope: Scope, hold: Callable[[Run, Row], bool]) -> Operator:
    """Return the operator for the core of a query: what the index found, else what is found now and does `hold`."""
    places, properties = scope.places(registers(pattern)), scope.places(property_variables(pattern))
    found_now = basic(pattern, scope, scope.seen.keys())
    # Rows of a scope that starts with its core start with what the index found.
    is_first = places == list(range(len(places)))

    def found(run: Run, row: Row) -> Iterable[Row]:
        if run.core is None:
            return (each for each in found_now(run, row) if hold(run, each))
        run.spend(len(run.core))
        if is_first:
            rest = row[len(places) :]
            rows = (values + rest for values in run.core)
        else:
            rows = (_placed(row, places, values) for values in run.core)
        return _with_property_terms(run, rows, properties) if properties else rows

    return found


def _placed(row: Row, places: list[int], values: Row) -> Row:
    extended = row[:]
    for place, value in zip(places, values, strict=True):
        extended[place] = value
    return extended


def _with_property_terms(run: Run, rows: Iterable[Row], properties: list[int]) -> Iterator[Row]:
    """Yield new rows, in which properties are still numbers as such, with their numbers as terms."""
    term_of = run.arcs.property_term
    for row in rows:
        for place in properties:
            row[place] = term_of(row[place])
        yield row


def _is_anchored(arc: Arc, known: set[PatternTerm]) -> bool:
    return arc.subject in known or arc.object in known


def _rank(arc: Arc, known: set[PatternTerm]) -> tuple[int, ...]:
    """Return how soon an arc is looked up: those with known ends first, then those whose property is known."""
    return -((arc.subject in known) + (arc.object in known)), isinstance(arc.property, Variable)


def _narrowest(
    arcs: Iterable[Arc], known: set[PatternTerm], classes: dict[PatternTerm, list[NamedNode]]
) -> PatternTerm | None:
    ends = (term for arc in arcs for term in (arc.subject, arc.object))
    return next((term for term in ends if term not in known and classes.get(term)), None)


def chain(operators: list[Operator]) -> Operator:
    """Return the operator that applies one after the other."""
    if not operators:
        return _once
    first, *rest = operators
    if not rest:
        return first

    def chained(run: Run, row: Row) -> Iterable[Row]:
        rows = first(run, row)
        for operator in rest:
            if not rows:
                return ()
            rows = _each(run, rows, operator)
        return rows

    return chained


def _each(run: Run, rows: Iterable[Row], operator: Operator) -> Iterator[Row]:
    for row in rows:
        yield from operator(run, row)


def _once(run: Run, row: Row) -> Iterable[Row]:
    return (row,)


def _vertex(end: End, classes: list[NamedNode]) -> Operator:
    """Return the operator for a vertex of the graph that has classes."""

    value_in = end.getter()

    def vertices(run: Run, row: Row) -> Iterator[Row]:
        arcs = run.arcs
        value = value_in(row)
        found = arcs.vertices.intersection(*map(arcs.members, classes)) if value == UNBOUND else (value,)
        for vertex in found:
            run.spend()
            if value == UNBOUND or (vertex in arcs.vertices and all(vertex in arcs.members(each) for each in classes)):
                extended = row[:]
                extended[end.place] = vertex
                yield extended

    return vertices


def _classes(end: End, classes: list[NamedNode]) -> Operator:
    """Return the operator for classes asked of what is bound already."""

    value_in = end.getter()

    def has_classes(run: Run, row: Row) -> Iterable[Row]:
        run.spend()
        value = value_in(row)
        for class_ in classes:
            if not run.arcs.has_class(value, class_):
                return ()
        return (row,)

    return has_classes


def _arc(arc: Arc, scope: Scope) -> Operator:
    """Return the operator for an arc."""
    subject, object_ = scope.end(arc.subject), scope.end(arc.object)
    if isinstance(arc.property, Variable):
        return _any_arc(subject, scope.end(arc.property), object_)
    property_, from_, to, from_seen, to_seen = arc.property, subject.place, object_.place, subject.seen, object_.seen

    def along(run: Run, row: Row) -> Iterable[Row]:
        arcs = run.arcs
        number = arcs.property_number(property_)
        start, end = row[from_], row[to]
        if start == UNBOUND:
            start = row[from_seen]
        if end == UNBOUND:
            end = row[to_seen]
        if start != UNBOUND:
            if end != UNBOUND:
                run.spend()
                return (_bound(row, from_, start, to, end),) if arcs.out.joins(start, number, end) else ()
            ends = arcs.out.along_property(start, number)
            run.spend(1 + len(ends))
            return _bound_to_each(row, from_, start, to, ends)
        if end != UNBOUND:
            starts = arcs.into.along_property(end, number)
            run.spend(1 + len(starts))
            return _bound_to_each(row, to, end, from_, starts)
        return all_along(run, row, number)

    def all_along(run: Run, row: Row, number: int) -> Iterator[Row]:
        for found, other in run.arcs.along(number):
            run.spend()
            if from_ != to or found == other:
                yield _bound(row, from_, found, to, other)

    return along


def _bound(row: Row, one: int, value: int, other: int, other_value: int) -> Row:
    extended = row[:]
    extended[one] = value
    extended[other] = other_value
    return extended


def _bound_to_each(row: Row, one: int, value: int, other: int, other_values: Sequence[int]) -> Iterable[Row]:
    if len(other_values) > _FEW:
        return (_bound(row, one, value, other, each) for each in other_values)
    rows = []
    for each in other_values:
        extended = row[:]
        extended[one] = value
        extended[other] = each
        rows.append(extended)
    return rows


def _any_arc(subject: End, property_: End, object_: End) -> Operator:
    """Return the operator for an arc whose property is a variable."""

    start_in, end_in = subject.getter(), object_.getter()

    def any_along(run: Run, row: Row) -> Iterator[Row]:
        arcs = run.arcs
        start, end = start_in(row), end_in(row)
        if start != UNBOUND:
            found: Iterable[tuple[int, int, int]] = ((start, along, other) for along, other in arcs.out.of(start))
        elif end != UNBOUND:
            found = ((other, along, end) for along, other in arcs.into.of(end))
        else:
            found = arcs.all()
        for one, along, other in found:
            run.spend()
            if end in (UNBOUND, other):
                yield from unified(row, ((subject, one), (property_, arcs.property_term(along)), (object_, other)))

    return any_along


def unified(row: Row, pairs: Iterable[tuple[End, int]]) -> Sequence[Row]:
    """Return the row in which each term has the value that it is paired with, if there is one."""
    extended = row[:]
    for end, value in pairs:
        if extended[end.place] not in (UNBOUND, value) or extended[end.seen] not in (UNBOUND, value):
            return ()
        extended[end.place] = value
    return (extended,)


def path(node: PathPattern, scope: Scope) -> Operator:
    """Return the operator of a path."""
    subject, object_ = scope.end(node.subject), scope.end(node.object)
    start_in, end_in, walked = subject.getter(), object_.getter(), node.path

    def paths(run: Run, row: Row) -> Iterator[Row]:
        for start, end in run.paths.pairs(walked, start_in(row), end_in(row)):
            run.spend()
            yield from unified(row, ((subject, start), (object_, end)))

    return paths


def unfolding(node: Unfolding, scope: Scope) -> Operator:
    """Return the operator that gives the parts of a triple term."""
    whole = scope.end(node.term)
    ends = scope.ends((node.subject, node.predicate, node.object))
    value_in = whole.getter()

    def unfold(run: Run, row: Row) -> Iterable[Row]:
        run.spend()
        value = value_in(row)
        term = None if value == UNBOUND else run.terms.term(value)
        if not isinstance(term, Triple):
            return ()
        numbers = map(run.terms.number_of, (term.subject, term.predicate, term.object))
        return unified(row, zip((whole, *ends), (value, *numbers), strict=True))

    return unfold
