"""Operators that find solutions in a graph: plain patterns, paths, and the parts of triple terms.

Each continues rows: what a row binds already is looked up, so a join costs what it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from ontosub.matching.compiled.queries import joins
from ontosub.matching.compiled.queries.lifting import slot_of
from ontosub.matching.compiled.queries.paths import Automaton, reached
from ontosub.matching.compiled.queries.rows import OWNER, Array, End, Kind, Rows, Run, Scope, unified
from ontosub.matching.compiled.queries.terms import UNBOUND
from ontosub.model import Arc, GraphPattern
from ontosub.model.algebra import PathPattern, Unfolding
from ontosub.model.pattern import is_constant
from ontosub.model.terms import NamedNode, PatternTerm, Triple, Variable

Operator: TypeAlias = Callable[[Run, Rows], Rows]
"""Continues rows by the solutions of a pattern that agree with them."""

_STATE_BYTES = 4
"""What it takes to note that a vertex was met in a state."""

_NO_ARCS = np.empty((0, 3), np.int32)
_NO_TERMS = np.empty(0, np.int32)


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
            steps.append(_vertex(scope, narrow, classes.pop(narrow)))
            known.add(narrow)
            continue
        waiting.remove(arc)
        steps.append(_arc(arc, scope))
        for term in dict.fromkeys((arc.subject, arc.property, arc.object)):
            known.add(term)
            if asked := classes.pop(term, None):
                steps.append(_classes(scope, term, asked))
    for term, asked in classes.items():
        if term not in touched and term not in properties:
            steps.append(_vertex(scope, term, asked))
        elif asked:
            steps.append(_classes(scope, term, asked))
    return chain(steps)


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
    if len(operators) == 1:
        return operators[0]

    def chained(run: Run, rows: Rows) -> Rows:
        for operator in operators:
            if not len(rows):
                break
            rows = operator(run, rows)
        return rows

    return chained


def _class_places(scope: Scope, classes: list[NamedNode]) -> Array:
    return np.array([~scope.constants.place(Kind.CLASS, slot_of(class_)) for class_ in classes], np.int32)


def _vertex(scope: Scope, term: PatternTerm, classes: list[NamedNode]) -> Operator:
    """Return the operator for a vertex of the graph that has classes."""
    end, asked = scope.end(term), _class_places(scope, classes)

    def vertices(run: Run, rows: Rows) -> Rows:
        arcs = run.arcs
        found, steps = joins.vertices_with(
            rows, run.constants, end.place, end.seen, asked, run.owners.ranges, arcs.bits, arcs.is_vertex, run.rows_max
        )
        return run.made(found, steps)

    return vertices


def _classes(scope: Scope, term: PatternTerm, classes: list[NamedNode]) -> Operator:
    """Return the operator for classes asked of what is bound already."""
    end, asked = scope.end(term), _class_places(scope, classes)

    def with_classes(run: Run, rows: Rows) -> Rows:
        arcs = run.arcs
        has = joins.have_classes(rows, run.constants, end.place, end.seen, asked, arcs.bits, arcs.is_vertex)
        run.spend(len(rows))
        for row in np.flatnonzero(has == joins.UNKNOWN).tolist():
            vertex = int(run.column(rows[row : row + 1], end)[0])
            bits = run.constants[rows[row, OWNER], asked].tolist()
            run.spend(len(bits))
            has[row] = all(arcs.has_class(vertex, arcs.concepts.class_at(bit)) for bit in bits)
        found: Rows = rows[has == joins.YES]
        return found

    return with_classes


def _arc(arc: Arc, scope: Scope) -> Operator:
    """Return the operator for an arc."""
    subject, object_ = scope.end(arc.subject), scope.end(arc.object)
    property_, along = End(0, 0), joins.ANY
    if isinstance(arc.property, Variable):
        property_ = scope.end(arc.property)
    else:
        along = ~scope.constants.place(Kind.PROPERTY, slot_of(arc.property))
    ends = np.array(
        [subject.place, subject.seen, property_.place, property_.seen, object_.place, object_.seen, along], np.int32
    )
    has_property = along != joins.ANY

    def along_arcs(run: Run, rows: Rows) -> Rows:
        found, steps = search(run, rows, _NO_ARCS)
        if steps == joins.NEEDS_ALL:
            found, steps = search(run, rows, run.arcs.by_property)
        return run.made(found, steps)

    def search(run: Run, rows: Rows, by_property: Array) -> tuple[Rows, int]:
        arcs = run.arcs
        terms = _NO_TERMS if has_property else run.property_terms
        graph = arcs.out_from, arcs.out_arcs, arcs.in_from, arcs.in_arcs, by_property, terms
        found: tuple[Rows, int] = joins.continued(rows, run.constants, ends, run.owners.ranges, *graph, run.rows_max)
        return found

    return along_arcs


def path(node: PathPattern, scope: Scope) -> Operator:
    """Return the operator of a path."""
    subject, object_, slot = scope.end(node.subject), scope.end(node.object), slot_of(node.path)

    def paths(run: Run, rows: Rows) -> Rows:
        start, end = run.column(rows, subject), run.column(rows, object_)
        is_free, is_backwards = (start == UNBOUND) & (end == UNBOUND), (start == UNBOUND) & (end != UNBOUND)
        found = [rows[:0]]
        if not (is_free | is_backwards).all():
            found.append(walk(run, rows[start != UNBOUND], start[start != UNBOUND], False))
        if is_backwards.any():
            found.append(walk(run, rows[is_backwards], end[is_backwards], True))
        for row in np.flatnonzero(is_free).tolist():
            first, last = np.searchsorted(run.arcs.ends, run.owners.ranges[rows[row, OWNER]])
            vertices = run.arcs.ends[first:last]
            found.append(walk(run, np.repeat(rows[row : row + 1], len(vertices), axis=0), vertices, False))
        return np.concatenate(found)

    def walk(run: Run, rows: Rows, vertices: Array, backwards: bool) -> Rows:
        """Continue rows by where their paths lead from a vertex of each."""
        owners = dict.fromkeys(rows[:, OWNER].tolist())
        walks = [run.owners.slots[owner][slot] for owner in owners]
        number = {owner: place for place, owner in enumerate(owners)}
        which = np.array([number[owner] for owner in rows[:, OWNER].tolist()], np.int32)
        automaton = Automaton.of(each.automaton(run.arcs.concepts, backwards=backwards) for each in walks)
        arcs = run.arcs
        graph = arcs.out_from, arcs.out_arcs, arcs.in_from, arcs.in_arcs
        run.context.budget.hold(_STATE_BYTES * automaton.states * len(arcs.out_from))
        reach, steps = reached(
            vertices, which, *automaton, automaton.states, not walks[0].is_exclusion, *graph, run.rows_max
        )
        near, far = reach[:, 0], reach[:, 1]
        known = run.made(rows[near], int(steps))
        pairs = zip((object_, subject) if backwards else (subject, object_), (vertices[near], far), strict=True)
        return unified(run, known, pairs)

    return paths


def unfolding(node: Unfolding, scope: Scope) -> Operator:
    """Return the operator that gives the parts of a triple term."""
    ends = scope.ends((node.term, node.subject, node.predicate, node.object))

    def unfold(run: Run, rows: Rows) -> Rows:
        run.spend(len(rows))
        term, number_of = run.terms.term, run.terms.number_of
        found = []
        for row, (event, value) in enumerate(zip(run.events(rows), run.column(rows, ends[0]).tolist(), strict=True)):
            whole = None if value == UNBOUND else term(value)
            if isinstance(whole, Triple):
                parts = whole.subject, whole.predicate, whole.object
                found.append((row, value, *(number_of(event, part) for part in parts)))
        if not found:
            return rows[:0]
        origin, *columns = np.array(found, np.int32).T
        return unified(run, run.made(rows[origin], 0), zip(ends, columns, strict=True))

    return unfold
