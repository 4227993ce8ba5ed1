"""From tree to subscription: the conjunctive core, and whether it says all that the query says.

A query that only joins triples and filters them is its core. Of any other query the core is a necessary condition:
what every answer needs, as far as that is certain; the query itself, printed, is kept as the residual and decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from ontosub.languages.sparql.checks import visible_variables
from ontosub.languages.sparql.filters import conjuncts, express
from ontosub.languages.sparql.printer import print_query
from ontosub.languages.sparql.source import Source
from ontosub.languages.sparql.syntax import (
    Alternative,
    Bind,
    Block,
    Construct,
    Describe,
    Filter,
    Group,
    Inverse,
    Modifiers,
    Occurrence,
    Operation,
    Path,
    Query,
    Select,
    Sequence,
    TriplePattern,
    Values,
    is_grouped,
    walk,
)
from ontosub.languages.sparql.tokens import tokenize
from ontosub.model import pattern as patterns
from ontosub.model.errors import LimitError, Span
from ontosub.model.expression import variables_of
from ontosub.model.pattern import Arc, GraphPattern, Vertex
from ontosub.model.subscription import Subscription
from ontosub.model.terms import TYPE, BlankNode, Literal, NamedNode, PatternTerm, Variable

Triple: TypeAlias = tuple[PatternTerm, NamedNode | Variable, PatternTerm]

LANGUAGE = "sparql"
JOINED_MAX = 100
OPERATORS_MAX = 500
"""How large a residual may be: Oxigraph plans joins in more than quadratic time, and recurses over chains."""


@dataclass(slots=True)
class Conjunction:
    """Triples and filters that all hold, with their positions; not `exact` when the query says more."""

    triples: list[Triple] = field(default_factory=list)
    spans: list[Span | None] = field(default_factory=list)
    mentions: list[tuple[PatternTerm, Span | None]] = field(default_factory=list)
    filters: list[patterns.Filter] = field(default_factory=list)
    exact: bool = True

    def bound(self) -> set[Variable]:
        """Return the variables that the triples bind."""
        return {term for triple in self.triples for term in triple if isinstance(term, Variable)}

    def absorb(self, other: Conjunction) -> None:
        """Demand what the other one demands, too."""
        self.triples += other.triples
        self.spans += other.spans
        self.filters += other.filters
        self.mentions += other.mentions
        self.exact = self.exact and other.exact


@dataclass(frozen=True, slots=True)
class Compiled:
    """What becomes of a query: all that a Subscription needs but its id and text."""

    core: Conjunction
    projection: tuple[Variable, ...]
    template: tuple[Arc, ...]
    distinct: bool
    residual: str | None

    def subscription(self, id: str, text: str) -> Subscription:
        """Return the subscription. With a residual, nobody asks for the bindings of the core."""
        core = self.core
        where = dict(reversed(core.mentions))
        pattern = graph_pattern(core.triples, core.spans, where, core.filters, self.projection)
        return Subscription(id, (pattern,), self.residual, self.distinct, self.template, LANGUAGE, text)


def compile_query(query: Query, source: Source) -> Compiled:
    """Return what a checked query becomes.

    Raises LimitError when it needs a residual that is too large.
    """
    core = _Extraction(query).conjunction()
    template = tuple(map(_arc, query.template)) if isinstance(query, Construct) else ()
    distinct = isinstance(query, Select) and query.duplicates == "DISTINCT"
    if core.exact:
        return Compiled(core, _projection(query), template, distinct, None)
    _check_size(query, source)
    residual = print_query(query)
    _check_readable(residual, source)
    return Compiled(core, (), template, distinct, residual)


def _arc(triple: TriplePattern) -> Arc:
    verb = triple.verb
    assert isinstance(verb, Occurrence)  # noqa: S101 - the reader refuses paths in templates
    assert isinstance(verb.term, NamedNode | Variable)  # noqa: S101 - what the grammar says
    return Arc(triple.subject.term, verb.term, triple.object.term, triple.span)


def _projection(query: Query) -> tuple[Variable, ...]:
    if isinstance(query, Select) and query.projection is not None:
        chosen = (item.variable.term for item in query.projection if item.variable is not None)
        return tuple(variable for variable in chosen if isinstance(variable, Variable))
    if isinstance(query, Select | Construct):
        return visible_variables(query.where)
    return ()


def _check_readable(residual: str, source: Source) -> None:
    """Refuse a query that would be too long or too deep to be read again, once everything is written out."""
    try:
        tokenize(Source(residual))
    except LimitError:
        hint = "Split it into several subscriptions, or use shorter IRIs and lists."
        raise source.limit("the query becomes too large when it is written out in full", None, hint) from None


def _check_size(query: Query, source: Source) -> None:
    joined = operators = 0
    for node in walk(query):
        match node:
            case TriplePattern() | Group() | Select() | Bind() | Values():
                joined += 1
            case Sequence(steps=parts) | Alternative(choices=parts):
                joined += len(parts)
            case Operation(operator=("IN" | "NOT IN")) | Filter():
                operators += 1
            case Operation(operands=operands):
                operators += len(operands)
    if joined > JOINED_MAX or operators > OPERATORS_MAX:
        hint = "Split it into several subscriptions; a long list of alternatives is shorter with IN or VALUES."
        size = f"the query joins {joined} parts by {operators} operators"
        raise source.limit(f"{size}; {JOINED_MAX} and {OPERATORS_MAX} are allowed", None, hint)


class _Extraction:
    """Collects the core of one query; fresh blank nodes stand between the steps of a path."""

    def __init__(self, query: Query) -> None:
        self._query = query
        used = {node.term.value for node in walk(query) if isinstance(node, Occurrence) and _is_blank(node.term)}
        self._fresh = (BlankNode(label) for number in count(1) if (label := f"step{number}") not in used)

    def conjunction(self) -> Conjunction:
        """Return the core of the whole query."""
        query = self._query
        if _answers_without_solution(query) or not isinstance(query.where, Group):
            return Conjunction(exact=False)
        core = self._group(query.where)
        plain = not isinstance(query, Select) or all(item.expression is None for item in query.projection or ())
        describes = isinstance(query, Describe)
        core.exact = core.exact and plain and not describes and query.modifiers == Modifiers() and query.values is None
        return core

    def _group(self, group: Group) -> Conjunction:
        core = Conjunction()
        conditions: list[Filter] = []
        for element in group.elements:
            match element:
                case Block(triples):
                    for triple in triples:
                        self._triple(triple, core)
                case Filter():
                    conditions.append(element)
                case Group():
                    core.absorb(self._group(element))
                case _:
                    core.exact = False
        self._filters(conditions, core)
        return core

    def _triple(self, triple: TriplePattern, core: Conjunction) -> None:
        steps = list(self._steps(triple.subject.term, triple.verb, triple.object.term))
        if not steps:
            core.exact = False
            return
        core.triples += steps
        core.spans += [triple.span] * len(steps)
        core.mentions += [(end.term, end.span) for end in (triple.subject, triple.object)]

    def _steps(self, start: PatternTerm, verb: Path, end: PatternTerm) -> Iterator[Triple]:
        """Yield the triples that a path consists of, or nothing when it is no plain sequence of steps."""
        match verb:
            case Occurrence(term=NamedNode() | Variable() as term):
                yield start, term, end
            case Inverse(path) if not isinstance(end, Literal):
                yield from self._steps(end, path, start)
            case Sequence(steps) if all(map(_is_step, steps)) and _may_end(steps[-1], end):
                for step in steps[:-1]:
                    between = next(self._fresh)
                    yield from self._steps(start, step, between)
                    start = between
                yield from self._steps(start, steps[-1], end)

    def _filters(self, conditions: Iterable[Filter], core: Conjunction) -> None:
        """Add what the filters of a group demand of variables that the group itself binds."""
        bound = core.bound()
        for condition in conditions:
            for part in conjuncts(condition.expression):
                expression = express(part)
                if expression is None or not variables_of(expression) <= bound:
                    core.exact = False
                else:
                    core.filters.append(patterns.Filter(expression, getattr(part, "span", None) or condition.span))


def _is_blank(term: PatternTerm) -> bool:
    return isinstance(term, BlankNode)


def _answers_without_solution(query: Query) -> bool:
    """Say whether the query may answer although its pattern has no solution."""
    if isinstance(query, Describe):
        return query.targets is not None and any(isinstance(each.term, NamedNode) for each in query.targets)
    return is_grouped(query) and not query.modifiers.group_by


def _is_step(path: Path) -> bool:
    match path:
        case Occurrence():
            return True
        case Inverse(inner):
            return _is_step(inner)
        case Sequence(steps):
            return all(map(_is_step, steps))
        case _:
            return False


def _may_end(path: Path, end: PatternTerm) -> bool:
    """Say whether the path may lead to this vertex: turned around it would have to start there."""
    match path:
        case Inverse():
            return not isinstance(end, Literal)
        case Sequence(steps):
            return _may_end(steps[-1], end)
        case _:
            return True


def graph_pattern(
    triples: Iterable[Triple],
    spans: Iterable[Span | None],
    where: Mapping[PatternTerm, Span | None],
    filters: Iterable[patterns.Filter],
    projection: tuple[Variable, ...],
) -> GraphPattern:
    """Return the pattern of some triples: a constant class is asked of its vertex, all else is an arc.

    `spans` are those of the triples; `where` tells where each term is mentioned first.
    """
    classes: dict[PatternTerm, frozenset[NamedNode]] = {}
    arcs: dict[Triple, Arc] = {}
    for triple, span in zip(triples, spans, strict=True):
        subject, verb, object_ = triple
        known = classes.setdefault(subject, _NO_CLASS)
        if verb == TYPE and isinstance(object_, NamedNode):
            classes[subject] = known | {object_}
        elif triple not in arcs:
            classes.setdefault(object_, _NO_CLASS)
            arcs[triple] = Arc(subject, verb, object_, span)
    vertices = tuple([Vertex(term, asked, where.get(term)) for term, asked in classes.items()])
    return GraphPattern(vertices, tuple(arcs.values()), tuple(filters), projection=projection)


_NO_CLASS: frozenset[NamedNode] = frozenset()
