"""Subscriptions as bytes, and back, with everything that explanations need: spans, language, text.

A record is a JSON object. Its terms are in one list, each once; patterns refer to them by position. A vertex is
[term, class, …], an arc [subject, property, object], a call [function, [argument, …]], a filter [expression]; each has
its span, a list of four numbers, as a last member where it has one. A triple of a template is like an arc, but its
object may be such a list, too. What is as the dataclass has it by default is left out.

Terms are strings with a mark in front: `?name`, `<iri`, `_label`, `"text`, `@language text`, `^datatype text`, and
`(triple` in N-Triples. The same few IRIs come again and again, so that making terms of strings is remembered.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import fields
from functools import lru_cache
from itertools import count
from typing import Any, TypeAlias, get_type_hints

from pyoxigraph import BaseDirection, Quad, RdfFormat, parse

from ontosub.matching.compiled.files.array_files import RESTORE
from ontosub.model import Arc, Filter, GraphPattern, Span, Subscription, TemplateTriple, Vertex
from ontosub.model.errors import IndexDirectoryError, LimitError, UsageError
from ontosub.model.expression import Call, Exists, Expression, Function
from ontosub.model.terms import XSD, BlankNode, Literal, NamedNode, PatternTerm, Triple, Variable

_STRING = XSD["string"]
_TERMS_REMEMBERED = 1 << 16
_FUNCTIONS = {function.value: function for function in Function}

_SCALARS = {
    field.name: (field.default, get_type_hints(Subscription)[field.name])
    for field in fields(Subscription)
    if field.name not in ("patterns", "template")
}
"""The fields of a subscription that JSON has as they are, each with its default and its type."""

_Positions: TypeAlias = defaultdict[PatternTerm, int]
"""Gives each term that is asked for its position in the list of terms."""

_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def encode(subscription: Subscription) -> bytes:
    """Return the subscription as bytes, the same ones for equal subscriptions with equal texts and spans."""
    terms: _Positions = defaultdict(count().__next__)
    record: dict[str, Any] = {}
    for name, (default, _) in _SCALARS.items():
        value = getattr(subscription, name)
        if value != default:
            record[name] = value
    record["patterns"] = [_told_pattern(pattern, terms) for pattern in subscription.patterns]
    if subscription.template:
        record["template"] = [_told_made(made, terms) for made in subscription.template]
    record["terms"] = [_text(term) for term in terms]
    return _to_json(record).encode("utf-8", "surrogatepass")


_DAMAGE = (
    *(SyntaxError, ValueError, TypeError, LookupError, AttributeError, RecursionError),
    *(LimitError, UsageError),
)
"""What a record that was not written by us may raise."""


def decode(data: bytes) -> Subscription:
    """Return the subscription that was encoded: an equal one, with equal spans and text.

    Raises IndexDirectoryError when `data` is not what `encode` makes of a subscription.
    """
    try:
        record = json.loads(data.decode("utf-8", "surrogatepass"))
        terms = [_term(text) for text in record.pop("terms")]
        patterns = tuple([_pattern(told, terms) for told in record.pop("patterns")])
        template = tuple([_made(told, terms) for told in record.pop("template", ())])
        for name, value in record.items():
            if not isinstance(value, _SCALARS[name][1]):
                raise TypeError(name)
        return Subscription(patterns=patterns, template=template, **record)
    except _DAMAGE as error:
        raise IndexDirectoryError("a stored subscription is malformed", hint=RESTORE) from error


# From values to JSON.


def _told_pattern(pattern: GraphPattern, terms: _Positions) -> dict[str, Any]:
    told: dict[str, Any] = {
        "vertices": [_told_vertex(vertex, terms) for vertex in pattern.vertices],
        "arcs": [_told_arc(arc, terms) for arc in pattern.arcs],
    }
    if pattern.filters:
        told["filters"] = [_told_filter(filter_, terms) for filter_ in pattern.filters]
    if pattern.home is not None:
        told["home"] = terms[pattern.home]
    if pattern.injective:
        told["injective"] = True
    if pattern.projection is not None:
        told["projection"] = [terms[variable] for variable in pattern.projection]
    return told


def _told_vertex(vertex: Vertex, terms: _Positions) -> list[Any]:
    # Sets have no order of their own that would be the same in the next process.
    classes = vertex.classes if len(vertex.classes) < 2 else sorted(vertex.classes, key=str)
    told: list[Any] = [terms[vertex.term], *[terms[class_] for class_ in classes]]
    if vertex.span is not None:
        told.append(_told_span(vertex.span))
    return told


def _told_arc(arc: Arc, terms: _Positions) -> list[Any]:
    told: list[Any] = [terms[arc.subject], terms[arc.property], terms[arc.object]]
    if arc.span is not None:
        told.append(_told_span(arc.span))
    return told


def _told_made(made: TemplateTriple, terms: _Positions) -> list[Any]:
    object_ = made.object
    told_object = _told_made(object_, terms) if isinstance(object_, TemplateTriple) else terms[object_]
    told: list[Any] = [terms[made.subject], terms[made.property], told_object]
    if made.span is not None:
        told.append(_told_span(made.span))
    return told


def _told_filter(filter_: Filter, terms: _Positions) -> list[Any]:
    told = _told_expression(filter_.expression, terms)
    return [told] if filter_.span is None else [told, _told_span(filter_.span)]


def _told_expression(expression: Expression, terms: _Positions) -> int | list[Any]:
    if isinstance(expression, Exists | Triple):
        raise UsageError("the core of a subscription has no filter with EXISTS or a triple term")
    if not isinstance(expression, Call):
        return terms[expression]
    arguments = [_told_expression(argument, terms) for argument in expression.arguments]
    told = [expression.function.value, arguments]
    return told if expression.span is None else [*told, _told_span(expression.span)]


def _told_span(span: Span) -> list[int]:
    return [span.line, span.column, span.end_line, span.end_column]


@lru_cache(_TERMS_REMEMBERED)
def _text(term: PatternTerm) -> str:
    if isinstance(term, Variable):
        return "?" + term.value
    if isinstance(term, NamedNode):
        return "<" + term.value
    if isinstance(term, BlankNode):
        return "_" + term.value
    if isinstance(term, Triple):
        return f"({term}"
    if term.language is not None:
        direction = "" if term.direction is None else f"--{term.direction.value}"
        return f"@{term.language}{direction} {term.value}"
    if term.datatype == _STRING:
        return '"' + term.value
    return f"^{term.datatype.value} {term.value}"


# From JSON to values.


def _pattern(told: dict[str, Any], terms: list[PatternTerm]) -> GraphPattern:
    home, projection = told.get("home"), told.get("projection")
    return GraphPattern(
        tuple([_vertex(vertex, terms) for vertex in told["vertices"]]),
        tuple([_arc(arc, terms) for arc in told["arcs"]]),
        tuple([_filter(filter_, terms) for filter_ in told.get("filters", ())]),
        None if home is None else terms[home],
        told.get("injective") is True,
        None if projection is None else tuple([_variable(terms[position]) for position in projection]),
    )


def _vertex(told: list[Any], terms: list[PatternTerm]) -> Vertex:
    span = [told.pop()] if isinstance(told[-1], list) else []
    term, *classes = [terms[position] for position in told]
    for class_ in classes:
        if type(class_) is not NamedNode:
            raise TypeError("a class is an IRI")
    return Vertex(term, frozenset(classes), _span(span))


def _arc(told: list[Any], terms: list[PatternTerm]) -> Arc:
    subject, position, object_, *span = told
    return Arc(terms[subject], _property(terms[position]), terms[object_], _span(span))


def _made(told: list[Any], terms: list[PatternTerm]) -> TemplateTriple:
    subject, position, object_, *span = told
    made = _made(object_, terms) if isinstance(object_, list) else terms[object_]
    return TemplateTriple(terms[subject], _property(terms[position]), made, _span(span))


def _property(term: PatternTerm) -> NamedNode | Variable:
    if not isinstance(term, NamedNode | Variable):
        raise TypeError("a property is an IRI or a variable")
    return term


def _filter(told: list[Any], terms: list[PatternTerm]) -> Filter:
    expression, *span = told
    return Filter(_expression(expression, terms), _span(span))


def _expression(told: int | list[Any], terms: list[PatternTerm]) -> Expression:
    if isinstance(told, int):
        term = terms[told]
        if isinstance(term, BlankNode | Triple):
            raise TypeError("a filter cannot speak of a blank node or a triple term")
        return term
    function, arguments, *span = told
    return Call(_FUNCTIONS[function], tuple([_expression(argument, terms) for argument in arguments]), _span(span))


def _variable(term: PatternTerm) -> Variable:
    if not isinstance(term, Variable):
        raise TypeError("only variables are projected")
    return term


def _span(told: list[list[int]]) -> Span | None:
    if not told:
        return None
    ((line, column, end_line, end_column),) = told
    if not type(line) is type(column) is type(end_line) is type(end_column) is int:
        raise TypeError("a position is a number")
    return Span(line, column, end_line, end_column)


@lru_cache(_TERMS_REMEMBERED)
def _term(text: str) -> PatternTerm:
    mark, rest = text[0], text[1:]
    if mark == "?":
        return Variable(rest)
    if mark == "<":
        return NamedNode(rest)
    if mark == "_":
        return BlankNode(rest)
    if mark == '"':
        return Literal(rest)
    if mark == "(":
        quad: Quad = next(iter(parse(f"{rest} .", format=RdfFormat.N_TRIPLES)))
        return quad.triple
    kind, _, value = rest.partition(" ")
    if mark == "^":
        return Literal(value, datatype=NamedNode(kind))
    if mark != "@":
        raise ValueError("no term starts like this")
    language, _, direction = kind.partition("--")
    return Literal(value, language=language, direction=BaseDirection(direction) if direction else None)
