"""From statement patterns to one graph pattern, and what must hold for it to make sense."""

from __future__ import annotations

from collections.abc import Sequence

from ontosub.languages.ops.parser import Statement
from ontosub.languages.sparql.source import Source
from ontosub.languages.sparql.syntax import plain_term
from ontosub.model.errors import Span
from ontosub.model.pattern import Arc, Filter, GraphPattern, Vertex, reachable
from ontosub.model.terms import DATATYPES, HOME, LITERAL_CLASS, TOP_CLASSES, XSD, NamedNode, PatternTerm, Variable


def compile_statements(statements: Sequence[Statement], source: Source) -> GraphPattern:
    """Return the pattern that all statement patterns make together.

    A vertex gets the classes of all the statement patterns that name it; a statement that occurs twice is one arc.

    Raises LanguageError when no statement pattern starts at the home vertex, when a vertex cannot be reached from
    there, or when a filter is not about literal objects.
    """
    classes: dict[PatternTerm, set[NamedNode]] = {}
    spans: dict[PatternTerm, Span | None] = {}
    arcs: dict[Arc, None] = {}
    for statement in statements:
        for end, asked in ((statement.subject, statement.subject_class), (statement.object, statement.object_class)):
            classes.setdefault(plain_term(end), set()).add(asked)
            spans.setdefault(plain_term(end), end.span)
        subject, object_ = plain_term(statement.subject), plain_term(statement.object)
        arcs[Arc(subject, statement.property, object_, statement.span)] = None
    _check_reach(statements, arcs, source)
    for statement in statements:
        for condition in statement.filters:
            _check_filter(condition, statements, classes, source)
    return GraphPattern(
        vertices=tuple(Vertex(term, frozenset(asked), spans[term]) for term, asked in classes.items()),
        arcs=tuple(arcs),
        filters=tuple(condition for statement in statements for condition in statement.filters),
        home=HOME,
        injective=True,
    )


def _check_reach(statements: Sequence[Statement], arcs: dict[Arc, None], source: Source) -> None:
    if all(statement.subject.term != HOME for statement in statements):
        hint = "A subscription starts at the event itself: let one statement pattern have the subject _:H."
        raise source.error("no statement pattern has the subject _:H", statements[0].span, hint)
    reached = reachable(HOME, arcs)
    for statement in statements:
        if statement.subject.term not in reached:
            hint = "Let it be the object of a statement pattern that starts at _:H or at what is reached from there."
            message = f"{statement.subject.term} cannot be reached from _:H"
            raise source.error(message, statement.subject.span, hint)


def _check_filter(
    condition: Filter, statements: Sequence[Statement], classes: dict[PatternTerm, set[NamedNode]], source: Source
) -> None:
    objects = {plain_term(statement.object) for statement in statements}
    if not condition.variables:
        hint = "A filter is about an object of the pattern, for example ?1 < 400."
        raise source.error("the filter mentions no variable", condition.span, hint)
    for variable in sorted(condition.variables, key=str):
        if variable not in objects:
            raise source.error(
                f"the filter mentions {variable}, which is not the object of a statement pattern",
                condition.span,
                f"The variables that a filter can be about are: {_listed(objects)}.",
            )
        for asked in sorted(classes[variable], key=str):
            if not may_be_literal(asked):
                hint = f"{variable} has the class {asked}; only what has a datatype has a value to compare."
                raise source.error(f"filter on a non-literal: {variable}", condition.span, hint)


def may_be_literal(asked: NamedNode) -> bool:
    """Say whether a literal may have the class: it is a datatype, or a class of everything."""
    return asked in DATATYPES or asked == LITERAL_CLASS or asked in TOP_CLASSES or asked.value.startswith(XSD)


def _listed(terms: set[PatternTerm]) -> str:
    return ", ".join(sorted(str(term) for term in terms if isinstance(term, Variable))) or "none"
