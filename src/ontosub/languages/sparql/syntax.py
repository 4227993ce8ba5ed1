"""The tree of a query: what was written, with names resolved and abbreviations written out.

Terms are RDF terms. Blank-node property lists, collections, reified triples and annotations have become triples; `;`
and `,` are gone; everything else is as the grammar of SPARQL 1.2 has it. Positions take no part in equality, so a tree
equals the one that its printed form is read as.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

from ontosub.model.errors import Span
from ontosub.model.terms import Literal, NamedNode, PatternTerm, Triple, Variable


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A term where it stands in the text."""

    term: PatternTerm | TripleTerm
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TripleTerm:
    """A triple term with a variable or a blank node inside; without any, it is a constant: a `Triple`.

    It stands in triple patterns and templates only: in an expression, TRIPLE makes one.
    """

    subject: Occurrence
    predicate: Occurrence
    object: Occurrence


# Expressions


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator on its operands. `||` and `&&` take any number, so that long chains stay flat.

    The operator is spelled as in `ontosub.model.expression.Function`.
    """

    operator: str
    operands: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Builtin:
    """The call of a built-in function; its name is in capitals."""

    name: str
    arguments: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """The call of a function that has an IRI: a cast, or an extension."""

    function: NamedNode
    arguments: tuple[Expression, ...]
    distinct: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate. Without an argument it is COUNT(*)."""

    name: str
    argument: Expression | None
    distinct: bool = False
    separator: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Exists:
    """EXISTS, or NOT EXISTS when negated."""

    pattern: Pattern
    negated: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


Expression: TypeAlias = Occurrence | Operation | Builtin | FunctionCall | Aggregate | Exists


# Property paths


@dataclass(frozen=True, slots=True)
class Inverse:
    """`^path`"""

    path: Path


@dataclass(frozen=True, slots=True)
class Sequence:
    """`path / path / …`"""

    steps: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """`path | path | …`"""

    choices: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """`path?`, `path*` or `path+`"""

    path: Path
    modifier: str


@dataclass(frozen=True, slots=True)
class Exclusion:
    """`!(iri | ^iri | …)`"""

    excluded: tuple[Occurrence | Inverse, ...]


Path: TypeAlias = Occurrence | Inverse | Sequence | Alternative | Repetition | Exclusion


# Patterns


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """Subject, verb and object; the verb is a variable, an IRI or another path."""

    subject: Occurrence
    verb: Path
    object: Occurrence
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Block:
    """Triples that stand together."""

    triples: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """FILTER"""

    expression: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Optional:
    """OPTIONAL"""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Minus:
    """MINUS"""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Union:
    """Two or more groups with UNION between them."""

    branches: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """GRAPH"""

    name: Occurrence
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Bind:
    """BIND"""

    expression: Expression
    variable: Occurrence


@dataclass(frozen=True, slots=True)
class Values:
    """VALUES: one term for each variable in each row, None where it says UNDEF."""

    variables: tuple[Occurrence, ...]
    rows: tuple[tuple[Occurrence | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """What stands between braces."""

    elements: tuple[Element, ...] = ()


# Queries. A `base` is kept where a query calls IRI, which resolves against it when the query is answered.


@dataclass(frozen=True, slots=True)
class Projected:
    """A variable of the SELECT clause, a key of GROUP BY: perhaps with the expression that it stands for."""

    variable: Occurrence | None
    expression: Expression | None = None


@dataclass(frozen=True, slots=True)
class OrderKey:
    """A key of ORDER BY."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Modifiers:
    """What follows the pattern of a query."""

    group_by: tuple[Projected, ...] = ()
    having: tuple[Expression, ...] = ()
    order_by: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """SELECT; a projection of None is `*`."""

    projection: tuple[Projected, ...] | None
    where: Pattern
    duplicates: str | None = None
    modifiers: Modifiers = Modifiers()
    values: Values | None = None
    base: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ask:
    """ASK"""

    where: Pattern
    modifiers: Modifiers = Modifiers()
    values: Values | None = None
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Construct:
    """CONSTRUCT"""

    template: tuple[TriplePattern, ...]
    where: Pattern
    modifiers: Modifiers = Modifiers()
    values: Values | None = None
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Describe:
    """DESCRIBE; targets of None are `*`."""

    targets: tuple[Occurrence, ...] | None
    where: Pattern | None = None
    modifiers: Modifiers = Modifiers()
    values: Values | None = None
    base: str | None = None


Pattern: TypeAlias = Group | Select
Element: TypeAlias = Block | Filter | Optional | Minus | Union | Graph | Bind | Values | Group | Select
Query: TypeAlias = Select | Ask | Construct | Describe


def walk(*nodes: Any) -> Iterator[Any]:
    """Yield the nodes of trees, each before what it holds, without recursion."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(reversed(node))
        elif hasattr(node, "__dataclass_fields__") and not isinstance(node, Span):
            yield node
            waiting.extend(getattr(node, each.name) for each in reversed(fields(node)))


def rewritten(node: Any, change: Callable[[Any], Any]) -> Any:
    """Return a tree in which each node is what `change` makes of it, inner ones first."""
    # Loops, because comprehensions would double the depth of the recursion.
    if isinstance(node, tuple):
        parts = []
        for part in node:
            parts.append(rewritten(part, change))  # noqa: PERF401 - see above
        return tuple(parts)
    if not hasattr(node, "__dataclass_fields__") or isinstance(node, Span):
        return node
    changed = {}
    for each in fields(node):
        changed[each.name] = rewritten(getattr(node, each.name), change)
    return change(replace(node, **changed))


def occurrences_in(triples: Iterable[TriplePattern]) -> Iterator[Occurrence]:
    """Yield the terms of triples in the order of the text, but for those of paths."""
    for triple in triples:
        for each in (triple.subject, triple.verb, triple.object):
            if isinstance(each, Occurrence):
                yield from with_parts(each)


def with_parts(occurrence: Occurrence) -> Iterator[Occurrence]:
    """Yield a term and, if it is a triple term with variables, the terms inside."""
    yield occurrence
    if isinstance(occurrence.term, TripleTerm):
        for part in (occurrence.term.subject, occurrence.term.predicate, occurrence.term.object):
            yield from with_parts(part)


def is_value(term: PatternTerm | TripleTerm) -> bool:
    """Say whether a term is a literal or a triple term, which no triple has as its subject."""
    return isinstance(term, Literal | Triple | TripleTerm)


def plain_term(occurrence: Occurrence) -> PatternTerm:
    """Return the term that stands where no triple term with variables can."""
    assert not isinstance(occurrence.term, TripleTerm)  # noqa: S101 - what the caller knows
    return occurrence.term


def variable_of(occurrence: Occurrence) -> Variable | None:
    """Return the variable that stands there, if it is one."""
    return occurrence.term if isinstance(occurrence.term, Variable) else None


def operands_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions directly inside; the pattern of EXISTS is not one."""
    match expression:
        case Occurrence() | Exists():
            return ()
        case Operation(operands=operands):
            return operands
        case Builtin(arguments=arguments) | FunctionCall(arguments=arguments):
            return arguments
        case Aggregate(argument=argument):
            return () if argument is None else (argument,)


def is_grouped(query: Query) -> bool:
    """Say whether the solutions are grouped, by keys or all together: then even none of them may give an answer."""
    modifiers = query.modifiers
    waiting = [key.expression for key in modifiers.order_by]
    if isinstance(query, Select):
        waiting += [item.expression for item in query.projection or () if item.expression is not None]
    while waiting:
        expression = waiting.pop()
        if isinstance(expression, Aggregate):
            return True
        waiting.extend(operands_of(expression))
    return bool(modifiers.group_by or modifiers.having)
