"""From a graph pattern to statement patterns: what is printed here is read as the same pattern."""

from __future__ import annotations

from collections.abc import Iterator

from ontosub.languages.sparql.printer import from_model, print_expression
from ontosub.languages.sparql.syntax import Operation
from ontosub.model.errors import UsageError
from ontosub.model.expression import variables_of
from ontosub.model.pattern import Arc, Filter, GraphPattern
from ontosub.model.subscription import Subscription
from ontosub.model.terms import HOME, BlankNode, NamedNode, PatternTerm, Variable


def to_text(subscription: Subscription) -> str:
    """Return the statement patterns of a subscription that OPS can express.

    Raises UsageError for any other one: several patterns, a residual, a template, duplicates removed.
    """
    if len(subscription.patterns) != 1 or subscription.residual or subscription.template or subscription.distinct:
        raise UsageError(f"the subscription {subscription.id!r} cannot be written as statement patterns")
    return print_pattern(subscription.patterns[0])


def print_pattern(pattern: GraphPattern) -> str:
    """Return the statement patterns of a pattern, one per line, with IRIs in full.

    Raises UsageError for a pattern that OPS cannot express.
    """
    _check_shape(pattern)
    statements = list(_statements(pattern))
    filters = _placed(pattern.filters, [arc for arc, *_ in statements])
    return "\n".join(
        f"({arc.subject}, {arc.object}, ({subject_class}, {arc.property}, {object_class}){_filter(filters[number])})"
        for number, (arc, subject_class, object_class) in enumerate(statements)
    )


def _check_shape(pattern: GraphPattern) -> None:
    arcs_fit = all(isinstance(arc.property, NamedNode) for arc in pattern.arcs)
    named = all(vertex.term == HOME or not isinstance(vertex.term, BlankNode) for vertex in pattern.vertices)
    classed = all(vertex.classes for vertex in pattern.vertices)
    complete = pattern.projection is None or pattern.projection == pattern.variables
    if not (
        pattern.injective and pattern.home == HOME and pattern.arcs and arcs_fit and named and classed and complete
    ):
        raise UsageError("the pattern cannot be written as statement patterns: OPS knows only vertices with classes")


def _statements(pattern: GraphPattern) -> Iterator[tuple[Arc, NamedNode, NamedNode]]:
    """Yield the arcs with classes for both ends, an arc again where its ends have classes that were not named yet."""
    waiting = {vertex.term: sorted(vertex.classes, key=str) for vertex in pattern.vertices}
    first = {term: classes[0] for term, classes in waiting.items()}

    def named(term: PatternTerm) -> NamedNode:
        return waiting[term].pop(0) if waiting[term] else first[term]

    for arc in pattern.arcs:
        yield arc, named(arc.subject), named(arc.object)
    for arc in pattern.arcs:
        while waiting[arc.subject] or waiting[arc.object]:
            yield arc, named(arc.subject), named(arc.object)


def _placed(filters: tuple[Filter, ...], arcs: list[Arc]) -> list[list[Filter]]:
    """Return the filters of each statement: after the object that it is about, but never before an earlier filter."""
    placed: list[list[Filter]] = [[] for _ in arcs]
    earliest = 0
    for condition in filters:
        about = variables_of(condition.expression)
        fitting = (number for number, arc in enumerate(arcs[earliest:], earliest) if _is_about(about, arc))
        earliest = next(fitting, earliest)
        placed[earliest].append(condition)
    return placed


def _is_about(variables: frozenset[Variable], arc: Arc) -> bool:
    return isinstance(arc.object, Variable) and arc.object in variables


def _filter(filters: list[Filter]) -> str:
    if not filters:
        return ""
    parts = tuple(from_model(condition.expression) for condition in filters)
    return f", {print_expression(parts[0] if len(parts) == 1 else Operation('&&', parts))}"
