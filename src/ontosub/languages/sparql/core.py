"""From tree to subscription: its core, one pattern for each alternative, and whether that says all that the query says.

A query that only joins triples, filters them and unites such groups is its core. Of any other query the core is a
necessary condition: what every answer needs, as far as that is certain; the query itself, printed, is kept as the
residual and decides, or at least gives the answers.
"""

from __future__ import annotations

from dataclasses import dataclass

from ontosub.languages.sparql.alternatives import Conjunction, alternatives_of
from ontosub.languages.sparql.checks import visible_variables
from ontosub.languages.sparql.construction import template_of
from ontosub.languages.sparql.graph_patterns import graph_pattern
from ontosub.languages.sparql.printer import print_query
from ontosub.languages.sparql.source import Source
from ontosub.languages.sparql.syntax import (
    Alternative,
    Ask,
    Bind,
    Construct,
    Describe,
    Filter,
    Group,
    Modifiers,
    Operation,
    Query,
    Select,
    Sequence,
    TriplePattern,
    Values,
    is_grouped,
    walk,
)
from ontosub.languages.sparql.tokens import tokenize
from ontosub.model.errors import LimitError
from ontosub.model.pattern import GraphPattern, TemplateTriple
from ontosub.model.subscription import Subscription
from ontosub.model.terms import NamedNode, Variable

LANGUAGE = "sparql"
JOINED_MAX = 100
OPERATORS_MAX = 500
"""How large a residual may be: its operators lie inside each other, and each takes a few frames."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What becomes of a query: all that a Subscription needs but its id and text."""

    core: list[Conjunction]
    projections: list[tuple[Variable, ...]]
    template: tuple[TemplateTriple, ...]
    distinct: bool
    residual: str | None
    core_decides: bool

    def subscription(self, id: str, text: str) -> Subscription:
        """Return the subscription. With a residual, nobody asks for the bindings of the core."""
        found = tuple(map(_pattern, self.core, self.projections))
        return Subscription(
            id, found, self.residual, self.distinct, self.template, LANGUAGE, text, core_decides=self.core_decides
        )


def _pattern(core: Conjunction, projection: tuple[Variable, ...]) -> GraphPattern:
    where = dict(reversed(core.mentions))
    return graph_pattern(core.triples, core.spans, where, core.filters, projection)


def compile_query(query: Query, source: Source) -> Compiled:
    """Return what a checked query becomes.

    Raises LimitError when it needs a residual that is too large.
    """
    core = _core(query)
    template = template_of(query)
    # The answer to ASK is one, however often it is found.
    distinct = isinstance(query, Ask) or (isinstance(query, Select) and query.duplicates == "DISTINCT")
    if all(each.exact for each in core) and _adds_nothing(query):
        projections = [tuple(v for v in _projection(query) if v in each.bound) for each in core]
        return Compiled(core, projections, template, distinct, None, core_decides=False)
    _check_size(query, source)
    residual = print_query(query)
    _check_readable(residual, source)
    decides = all(each.decides for each in core) and _answers_each_solution(query)
    return Compiled(core, [()] * len(core), template, distinct, residual, decides)


def _core(query: Query) -> list[Conjunction]:
    if _answers_without_solution(query) or query.where is None:
        return [Conjunction(exact=False, decides=False)]
    return alternatives_of(query.where)


def _adds_nothing(query: Query) -> bool:
    """Say whether the answers are the solutions of the pattern, as they are."""
    if query.modifiers != Modifiers() or query.values is not None:
        return False
    match query:
        case Select(projection=projection):
            return all(item.expression is None for item in projection or ())
        case Construct(template=template):
            # A subscription without a template is no CONSTRUCT; only the query itself can say that it is one.
            return bool(template)
        case Describe():
            return False
        case Ask():
            return True


def _answers_each_solution(query: Query) -> bool:
    """Say whether the query has an answer whenever its pattern has a solution."""
    modifiers = query.modifiers
    return not (is_grouped(query) or query.values is not None or modifiers.limit == 0 or modifiers.offset)


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


def _answers_without_solution(query: Query) -> bool:
    """Say whether the query may answer although its pattern has no solution."""
    if isinstance(query, Describe):
        return query.targets is not None and any(isinstance(each.term, NamedNode) for each in query.targets)
    return is_grouped(query) and not query.modifiers.group_by
