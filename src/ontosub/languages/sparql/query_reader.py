"""From parse trees to patterns and queries: the last of the three readers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn, TypeAlias

from lark import Token, v_args
from lark.tree import Meta

from ontosub.languages.sparql.expressions_reader import ExpressionsReader
from ontosub.languages.sparql.syntax import (
    Ask,
    Bind,
    Block,
    Construct,
    Describe,
    Element,
    Expression,
    Filter,
    Graph,
    Group,
    Minus,
    Modifiers,
    Occurrence,
    Optional,
    OrderKey,
    Path,
    Pattern,
    Projected,
    Query,
    Select,
    TriplePattern,
    Union,
    Values,
    with_parts,
)
from ontosub.languages.sparql.terms_reader import NIL
from ontosub.model.errors import Span
from ontosub.model.terms import RDF, BlankNode, Variable

_Triples: TypeAlias = list[TriplePattern]


class _Reifier(NamedTuple):
    """`~ r` behind a triple: what stands for the triple."""

    vertex: Occurrence


class _Annotation(NamedTuple):
    """`{| … |}` behind a triple: what is said of it."""

    properties: list[tuple[Path, list[_Node]]]
    span: Span | None


class _Node(NamedTuple):
    """A vertex, the triples that were written inside it, and what stands behind it."""

    vertex: Occurrence
    inner: _Triples
    marks: tuple[_Reifier | _Annotation, ...] = ()


_FIRST, _REST, _REIFIES = Occurrence(RDF["first"]), Occurrence(RDF["rest"]), Occurrence(RDF["reifies"])


@v_args(meta=True)
class QueryReader(ExpressionsReader):
    """Reads triples, groups and queries. Each method is named after the rule that it reads."""

    def object(self, _meta: Meta, children: list[Any]) -> _Node:
        node, *marks = children
        return _node(node)._replace(marks=tuple(marks))

    def objects(self, _meta: Meta, children: list[Any]) -> list[_Node]:
        return [_node(child) for child in children]

    def properties(self, _meta: Meta, children: list[Any]) -> list[tuple[Path, list[_Node]]]:
        return list(zip(children[::2], children[1::2], strict=True))

    def same_subject(self, _meta: Meta, children: list[Any]) -> _Triples:
        subject, inner, _ = _node(children[0])
        properties = children[1] if len(children) > 1 else ()
        # A path may lead to a value backwards; a plain verb could never find one as its subject.
        if any(isinstance(verb, Occurrence) for verb, _ in properties):
            self.check_subject(subject)
        return [*inner, *self._described(subject, properties)]

    def _described(self, subject: Occurrence, properties: Iterable[tuple[Path, list[_Node]]]) -> _Triples:
        triples: _Triples = []
        for verb, objects in properties:
            for node, inner, marks in objects:
                triple = TriplePattern(subject, verb, node, _joined(subject.span, node.span))
                triples.append(triple)
                triples.extend(inner)
                if marks:
                    triples.extend(self._annotated(triple, marks))
        return triples

    def _annotated(self, triple: TriplePattern, marks: Iterable[_Reifier | _Annotation]) -> _Triples:
        """Return what reifiers and annotations say of a triple: an annotation speaks of the reifier right before it."""
        if not isinstance(triple.verb, Occurrence):
            hint = "Write a single property before it: a path has no triple of its own to speak of."
            raise self.error("a property path cannot be annotated", triple.span, hint)
        term = self.triple(triple.subject, triple.verb, triple.object, triple.span)
        triples: _Triples = []
        reifier: Occurrence | None = None
        for mark in marks:
            if isinstance(mark, _Reifier) or reifier is None:
                reifier = mark.vertex if isinstance(mark, _Reifier) else Occurrence(self.fresh_blank(), mark.span)
                triples.append(TriplePattern(reifier, _REIFIES, term, triple.span))
            if isinstance(mark, _Annotation):
                triples.extend(self._described(reifier, mark.properties))
                reifier = None
        return triples

    def reifier(self, meta: Meta, children: list[Occurrence]) -> _Reifier:
        return _Reifier(children[0] if children else Occurrence(self.fresh_blank(), self.span(meta)))

    def annotation(self, meta: Meta, children: list[Any]) -> _Annotation:
        return _Annotation(children[0], self.span(meta))

    def reified_triple(self, meta: Meta, children: list[Any]) -> _Node:
        """Return the reifier of a triple, which need not be stated itself."""
        subject, verb, object_, *reifier = children
        at = self.span(meta)
        (start, before, _), (end, after, _) = _node(subject), _node(object_)
        vertex = reifier[0].vertex if reifier else Occurrence(self.fresh_blank(), at)
        return _Node(vertex, [*before, *after, TriplePattern(vertex, _REIFIES, self.triple(start, verb, end, at), at)])

    def blank_properties(self, meta: Meta, children: list[Any]) -> _Node:
        subject = Occurrence(self.fresh_blank(), self.span(meta))
        return _Node(subject, self._described(subject, children[0]))

    def collection(self, meta: Meta, children: list[Any]) -> _Node:
        cells = [Occurrence(self.fresh_blank(), self.span(meta)) for _ in children]
        triples: _Triples = []
        for cell, following, child in zip(cells, [*cells[1:], Occurrence(NIL)], children, strict=True):
            node, inner, _ = _node(child)
            triples.append(TriplePattern(cell, _FIRST, node, node.span))
            triples.extend(inner)
            triples.append(TriplePattern(cell, _REST, following, node.span))
        return _Node(cells[0], triples)

    def triples(self, _meta: Meta, children: list[_Triples]) -> Block:
        return Block(tuple(triple for part in children for triple in part))

    def plain_group(self, _meta: Meta, children: list[Element]) -> Group:
        return Group(tuple(children))

    def union(self, _meta: Meta, branches: list[Pattern]) -> Element:
        return branches[0] if len(branches) == 1 else Union(tuple(branches))

    def optional(self, _meta: Meta, children: list[Pattern]) -> Optional:
        return Optional(children[0])

    def minus(self, _meta: Meta, children: list[Pattern]) -> Minus:
        return Minus(children[0])

    def graph(self, _meta: Meta, children: list[Any]) -> Graph:
        return Graph(children[0], children[1])

    def service(self, _meta: Meta, children: list[Any]) -> NoReturn:
        hint = "A subscription asks about events only; nothing is fetched from elsewhere. Remove the SERVICE part."
        raise self.error("SERVICE is not available", children[0], hint)

    def dataset(self, _meta: Meta, children: list[Any]) -> NoReturn:
        hint = "A subscription is asked of each event as it comes. Remove the FROM clause."
        raise self.error("FROM is not available", children[0], hint)

    def filter(self, meta: Meta, children: list[Expression]) -> Filter:
        return Filter(children[0], self.span(meta))

    def bind(self, _meta: Meta, children: list[Any]) -> Bind:
        return Bind(children[0], self.variable(children[1]))

    def value(self, _meta: Meta, children: list[Any]) -> tuple[Occurrence | None]:
        (written,) = children
        if isinstance(written, Token):
            return (None,)
        for inside in with_parts(written):
            if isinstance(inside.term, Variable | BlankNode):
                hint = (
                    "A triple term in VALUES holds IRIs and literals only; BIND with TRIPLE(…) makes one of variables."
                )
                raise self.error(f"{inside.term} is no constant", inside.span, hint)
        return (written,)

    def row(self, meta: Meta, children: list[Any]) -> tuple[Span | None, tuple[Occurrence | None, ...]]:
        return self.span(meta), tuple(child[0] for child in children if not isinstance(child, Token))

    def column(self, _meta: Meta, children: list[Any]) -> Values:
        variable, *rows = children
        return Values((self.variable(variable),), tuple(rows))

    def table(self, _meta: Meta, children: list[Any]) -> Values:
        named = [child for child in children if isinstance(child, Token) and child.type == "VAR"]
        variables = tuple(map(self.variable, named))
        rows = [child for child in children if not isinstance(child, Token)]
        for span, row in rows:
            if len(row) != len(variables):
                hint = f"Give {len(variables)}, one for each variable; UNDEF leaves one open."
                raise self.error(f"a row with {len(row)} values", span, hint)
        return Values(variables, tuple(row for _, row in rows))

    def projection(self, _meta: Meta, children: list[Any]) -> Projected:
        return Projected(self.variable(children[-1]), children[0] if len(children) == 2 else None)

    def select_clause(self, _meta: Meta, children: list[Any]) -> tuple[str | None, tuple[Projected, ...] | None]:
        duplicates = next((c.type for c in children if isinstance(c, Token) and c.type != "STAR"), None)
        projection = tuple(child for child in children if isinstance(child, Projected))
        return duplicates, projection or None

    def select(self, meta: Meta, children: list[Any]) -> Select:
        (duplicates, projection), where, modifiers, *values = children
        return Select(projection, where, duplicates, modifiers, values[0] if values else None, span=self.span(meta))

    subselect = select

    def template(self, meta: Meta, children: list[Block]) -> tuple[TriplePattern, ...]:
        triples = children[0].triples if children else ()
        for triple in triples:
            if not isinstance(triple.verb, Occurrence):
                hint = "Every verb of a template must be an IRI or a variable."
                raise self.error("a property path cannot stand in a template", triple.span or self.span(meta), hint)
        return triples

    def construct(self, _meta: Meta, children: list[Any]) -> Construct:
        template, where, modifiers = children
        return Construct(template, where, modifiers)

    def construct_where(self, _meta: Meta, children: list[Any]) -> Construct:
        template, modifiers = children
        return Construct(template, Group((Block(template),) if template else ()), modifiers)

    def describe(self, _meta: Meta, children: list[Any]) -> Describe:
        targets = tuple(child for child in children if isinstance(child, Occurrence))
        where = next((child for child in children if isinstance(child, Group | Select)), None)
        return Describe(targets or None, where, children[-1])

    def ask(self, _meta: Meta, children: list[Any]) -> Ask:
        return Ask(children[0], children[1])

    def group_key(self, _meta: Meta, children: list[Any]) -> Projected:
        first, *alias = children
        if alias:
            return Projected(self.variable(alias[0]), first)
        is_variable = isinstance(first, Occurrence) and isinstance(first.term, Variable)
        return Projected(first) if is_variable else Projected(None, first)

    def group_by(self, _meta: Meta, children: list[Projected]) -> tuple[str, tuple[Projected, ...]]:
        return "group_by", tuple(children)

    def having(self, _meta: Meta, children: list[Expression]) -> tuple[str, tuple[Expression, ...]]:
        return "having", tuple(children)

    def order_key(self, _meta: Meta, children: list[Any]) -> OrderKey:
        return OrderKey(children[-1], isinstance(children[0], Token) and children[0].type == "DESC")

    def order_by(self, _meta: Meta, children: list[OrderKey]) -> tuple[str, tuple[OrderKey, ...]]:
        return "order_by", tuple(children)

    def limit(self, _meta: Meta, children: list[Token]) -> tuple[str, int]:
        return "limit", self._count(children[0])

    def offset(self, _meta: Meta, children: list[Token]) -> tuple[str, int]:
        return "offset", self._count(children[0])

    def _count(self, token: Token) -> int:
        if not token.isdigit() or len(token) > 18:
            raise self.error("this is no count of answers", token, "LIMIT and OFFSET take a whole number, as LIMIT 10.")
        return int(token)

    def modifiers(self, _meta: Meta, children: list[tuple[str, Any]]) -> Modifiers:
        return Modifiers(**dict(children))

    def declarations(self, _meta: Meta, _children: list[None]) -> None:
        """Nothing is left to do: each declaration took effect when it was read."""

    def query(self, _meta: Meta, children: list[Any]) -> Query:
        _, query, *values = children
        base = self.prologue.base if self.calls_iri else None
        result: Query = replace(query, values=values[0] if values else None, base=base)
        return result


def _node(child: Any) -> _Node:
    return _Node(child, []) if isinstance(child, Occurrence) else child


def _joined(first: Span | None, last: Span | None) -> Span | None:
    return first.to(last) if first is not None and last is not None else None
