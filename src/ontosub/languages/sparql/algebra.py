"""From the tree of a query to the algebra, as section 18.2 of SPARQL 1.1 says.

Two liberties change no solution: triples that stand together become one basic graph pattern even where a filter stands
between them, and so do groups that hold nothing but triples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from ontosub.languages.sparql import syntax
from ontosub.languages.sparql.checks import visible_variables
from ontosub.languages.sparql.construction import template_of
from ontosub.languages.sparql.filters import conjuncts, express_all
from ontosub.languages.sparql.graph_patterns import Triple, graph_pattern
from ontosub.languages.sparql.syntax import Block, Occurrence, TripleTerm, is_grouped, walk
from ontosub.model import algebra
from ontosub.model.algebra import (
    UNIT,
    Aggregation,
    Basic,
    Exclusion,
    Extend,
    Filter,
    Grouping,
    Inverse,
    Join,
    LeftJoin,
    Minus,
    Named,
    Node,
    OrderKey,
    PathPattern,
    Query,
    Repetition,
    Selection,
    Step,
    Unfolding,
    Union,
    Values,
)
from ontosub.model.errors import Span
from ontosub.model.expression import Expression
from ontosub.model.pattern import Filter as Condition
from ontosub.model.pattern import GraphPattern, Vertex
from ontosub.model.terms import BlankNode, Literal, NamedNode, PatternTerm, Variable


def translate(query: syntax.Query) -> Query:
    """Return the algebra of a query that was checked."""
    return _Translation(query).query(query)


@dataclass(slots=True)
class _Triples:
    """Plain triples, as they are collected for a basic graph pattern, and what else stands between them."""

    triples: list[Triple] = field(default_factory=list)
    spans: list[Span | None] = field(default_factory=list)
    where: dict[PatternTerm, Span | None] = field(default_factory=dict)
    others: list[Node] = field(default_factory=list)

    def node(self) -> Node:
        """Return the pattern of all of them; what repeats paths or unfolds triple terms comes after plain triples."""
        found: Node = UNIT
        if self.triples:
            found = Basic(graph_pattern(self.triples, self.spans, self.where, (), ()))
        for other in self.others:
            found = _joined(found, other)
        return found


class _Translation:
    """Translates one query; new names are those that it does not use."""

    def __init__(self, query: syntax.Query) -> None:
        terms = [node.term for node in walk(query) if isinstance(node, Occurrence)]
        labels = {term.value for term in terms if isinstance(term, BlankNode)}
        names = {term.value for term in terms if isinstance(term, Variable)}
        self._labels = (BlankNode(label) for number in count(1) if (label := f"step{number}") not in labels)
        self._names = (Variable(name) for number in count() if (name := f"ontosub{number}") not in names)
        self._base = query.base

    def query(self, query: syntax.Query) -> Query:
        """Return the algebra of a whole query."""
        match query:
            case syntax.Select():
                return Query(self.select(query))
            case syntax.Ask():
                return Query(self._selection(query, ()), asks=True)
            case syntax.Construct():
                return Query(self._selection(query, self._shown(query)), template=template_of(query))
            case syntax.Describe(targets=targets):
                shown = self._shown(query)
                named = shown if targets is None else tuple(each.term for each in targets)
                described = tuple(each for each in named if isinstance(each, NamedNode | Variable))
                return Query(self._selection(query, shown), described=described)

    def select(self, select: syntax.Select) -> Selection:
        """Return the algebra of a SELECT, at the top or inside."""
        if select.projection is None:
            return self._selection(select, self._shown(select))
        named = (item.variable.term for item in select.projection if item.variable is not None)
        return self._selection(select, tuple(each for each in named if isinstance(each, Variable)))

    def _shown(self, query: syntax.Query) -> tuple[Variable, ...]:
        """Return what `*` stands for: the keys of grouped solutions, else all that is visible."""
        if is_grouped(query):
            keys = (key.variable.term for key in query.modifiers.group_by if key.variable is not None)
            return tuple(each for each in keys if isinstance(each, Variable))
        visible = () if query.where is None else visible_variables(query.where)
        given = () if query.values is None else (each.term for each in query.values.variables)
        return tuple(dict.fromkeys((*visible, *(each for each in given if isinstance(each, Variable)))))

    def _selection(self, query: syntax.Query, projection: tuple[Variable, ...]) -> Selection:
        modifiers = query.modifiers
        node = UNIT if query.where is None else self.pattern(query.where)
        aggregations: list[Aggregation] = []
        having = [self._expression(each, aggregations) for each in modifiers.having]
        items = query.projection or () if isinstance(query, syntax.Select) else ()
        extensions = [
            (item.variable.term, self._expression(item.expression, aggregations))
            for item in items
            if item.variable is not None and item.expression is not None
        ]
        order = [OrderKey(self._expression(key.expression, aggregations), key.descending) for key in modifiers.order_by]
        if is_grouped(query):
            keys = tuple(self._key(key) for key in modifiers.group_by)
            node = Grouping(node, keys, tuple(aggregations))
        if having:
            node = Filter(node, tuple(map(Condition, having)))
        if query.values is not None:
            node = _joined(node, _values(query.values))
        for variable, expression in extensions:
            assert isinstance(variable, Variable)  # noqa: S101 - what the grammar says
            node = Extend(node, variable, expression)
        distinct = isinstance(query, syntax.Select) and query.duplicates == "DISTINCT"
        return Selection(node, projection, distinct, tuple(order), modifiers.offset or 0, modifiers.limit)

    def _key(self, key: syntax.Projected) -> tuple[Variable, Expression]:
        variable = key.variable.term if key.variable is not None else next(self._names)
        assert isinstance(variable, Variable)  # noqa: S101 - what the grammar says
        return variable, variable if key.expression is None else self._expression(key.expression, [])

    def _expression(self, expression: syntax.Expression, aggregations: list[Aggregation]) -> Expression:
        """Return an expression; aggregates inside are added to the list, and a variable stands for each."""

        def aggregate(each: syntax.Aggregate) -> Variable:
            variable = next(self._names)
            argument = None if each.argument is None else self._expression(each.argument, [])
            aggregations.append(Aggregation(variable, each.name, argument, each.distinct, each.separator))
            return variable

        return express_all(expression, self.pattern, aggregate, base=self._base)

    def pattern(self, pattern: syntax.Pattern) -> Node:
        """Return the algebra of a group or of a sub-select."""
        return self.select(pattern) if isinstance(pattern, syntax.Select) else self._group(pattern)

    def _group(self, group: syntax.Group) -> Node:
        node, conditions = self._unfiltered(group)
        return Filter(node, conditions) if conditions else node

    def _unfiltered(self, group: syntax.Group) -> tuple[Node, tuple[Condition, ...]]:
        """Return the algebra of a group without its own filters, and these."""
        node: Node = UNIT
        triples = _Triples()
        conditions: list[syntax.Filter] = []
        for element in group.elements:
            if isinstance(element, Block):
                self._collect(element, triples)
                continue
            if isinstance(element, syntax.Filter):
                conditions.append(element)
                continue
            node, triples = _joined(node, triples.node()), _Triples()
            node = self._with(node, element)
        return _joined(node, triples.node()), tuple(self._conditions(conditions))

    def _conditions(self, filters: Iterable[syntax.Filter]) -> Iterator[Condition]:
        """Yield one condition for each conjunct: a conjunction is true where all of them are."""
        for each in filters:
            for part in conjuncts(each.expression):
                yield Condition(self._expression(part, []), getattr(part, "span", None) or each.span)

    def _with(self, node: Node, element: syntax.Element) -> Node:
        match element:
            case syntax.Optional(pattern):
                if isinstance(pattern, syntax.Select):
                    return LeftJoin(node, self.select(pattern))
                # The filters of an OPTIONAL are conditions of the join: they see both sides.
                return LeftJoin(node, *self._unfiltered(pattern))
            case syntax.Minus(pattern):
                return Minus(node, self.pattern(pattern))
            case syntax.Bind(expression, variable):
                assert isinstance(variable.term, Variable)  # noqa: S101 - what the grammar says
                return Extend(node, variable.term, self._expression(expression, []))
            case syntax.Union(branches):
                return _joined(node, Union(tuple(self.pattern(branch) for branch in branches)))
            case syntax.Graph(name, pattern):
                assert isinstance(name.term, NamedNode | Variable)  # noqa: S101 - what the grammar says
                return _joined(node, Named(name.term, self.pattern(pattern)))
            case syntax.Values():
                return _joined(node, _values(element))
            case syntax.Group() | syntax.Select():
                return _joined(node, self.pattern(element))
        raise AssertionError(element)

    def _collect(self, block: Block, triples: _Triples) -> None:
        for triple in block.triples:
            ends = []
            for occurrence in (triple.subject, triple.object):
                ends.append(self._term(occurrence, triples))
                triples.where.setdefault(ends[-1], occurrence.span)
            self._walk(ends[0], triple.verb, ends[1], triple.span, triples)

    def _term(self, occurrence: Occurrence, triples: _Triples) -> PatternTerm:
        """Return the term that stands there; for a triple term with variables a blank node, which is unfolded."""
        term = occurrence.term
        if not isinstance(term, TripleTerm):
            return term
        folded = next(self._labels)
        parts = [self._term(each, triples) for each in (term.subject, term.predicate, term.object)]
        # Inner triple terms are unfolded after the outer one, which binds them.
        triples.others.insert(0, Unfolding(folded, *parts))
        return folded

    def _walk(
        self, start: PatternTerm, verb: syntax.Path, end: PatternTerm, span: Span | None, triples: _Triples
    ) -> None:
        """Add what a path asks for: triples, where it has a fixed length; section 18.2.2.4."""
        match verb:
            case Occurrence(term=NamedNode() | Variable() as term) if not isinstance(start, Literal):
                triples.triples.append((start, term, end))
                triples.spans.append(span)
            case syntax.Inverse(path):
                self._walk(end, path, start, span, triples)
            case syntax.Sequence(steps):
                ends = [start, *(next(self._labels) for _ in steps[1:]), end]
                for step, one, other in zip(steps, ends, ends[1:], strict=False):
                    self._walk(one, step, other, span, triples)
            case syntax.Alternative(choices):
                triples.others.append(Union(tuple(self._choice(start, each, end, span) for each in choices)))
            case _:
                triples.others.append(PathPattern(start, _path(verb), end))

    def _choice(self, start: PatternTerm, path: syntax.Path, end: PatternTerm, span: Span | None) -> Node:
        triples = _Triples()
        self._walk(start, path, end, span, triples)
        return triples.node()


def _joined(left: Node, right: Node) -> Node:
    """Return the join; of two plain patterns it is the plain pattern of both."""
    if left == UNIT:
        return right
    if right == UNIT:
        return left
    if isinstance(left, Basic) and isinstance(right, Basic):
        return Basic(_both(left.pattern, right.pattern))
    return Join(left, right)


def _both(left: GraphPattern, right: GraphPattern) -> GraphPattern:
    vertices = {vertex.term: vertex for vertex in left.vertices}
    for vertex in right.vertices:
        known = vertices.get(vertex.term)
        if known is not None:
            vertex = Vertex(known.term, known.classes | vertex.classes, known.span)
        vertices[vertex.term] = vertex
    arcs = dict.fromkeys((*left.arcs, *right.arcs))
    return GraphPattern(tuple(vertices.values()), tuple(arcs), projection=())


def _values(values: syntax.Values) -> Values:
    variables = tuple(each.term for each in values.variables if isinstance(each.term, Variable))
    rows = tuple(tuple(None if each is None else each.term for each in row) for row in values.rows)
    return Values(variables, rows)  # type: ignore[arg-type]


def _path(path: syntax.Path) -> algebra.Path:
    match path:
        case Occurrence(term=NamedNode() as property_):
            return Step(property_)
        case syntax.Inverse(inner):
            return Inverse(_path(inner))
        case syntax.Sequence(steps):
            return algebra.Sequence(tuple(map(_path, steps)))
        case syntax.Alternative(choices):
            return algebra.Alternative(tuple(map(_path, choices)))
        case syntax.Repetition(inner, modifier):
            return Repetition(_path(inner), 1 if modifier == "+" else 0, modifier != "?")
        case syntax.Exclusion(excluded):
            return _exclusion(excluded)
    raise AssertionError(path)


def _exclusion(excluded: Iterable[Occurrence | syntax.Inverse]) -> Exclusion:
    forwards: set[NamedNode] = set()
    backwards: set[NamedNode] = set()
    for each in excluded:
        inverse = isinstance(each, syntax.Inverse)
        occurrence = each.path if isinstance(each, syntax.Inverse) else each
        assert isinstance(occurrence, Occurrence) and isinstance(occurrence.term, NamedNode)  # noqa: S101, PT018
        (backwards if inverse else forwards).add(occurrence.term)
    return Exclusion(frozenset(forwards) if forwards else None, frozenset(backwards) if backwards else None)
