"""The algebra of SPARQL: what a query asks for beyond one conjunctive pattern (SPARQL 1.1, section 18.2).

A node stands for a multiset of solutions; `ontosub.matching.solutions` says which. A solution maps variables to terms.
Blank nodes of a pattern are keys of solutions, too: two parts of one basic graph pattern meet in them, nothing else can
name them, and no projection keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, TypeAlias

from ontosub.model.errors import Span
from ontosub.model.expression import Expression
from ontosub.model.pattern import Filter as Condition
from ontosub.model.pattern import GraphPattern, TemplateTriple, is_constant
from ontosub.model.terms import NamedNode, PatternTerm, Term, Variable

# Property paths: what is left of them when sequences, alternatives and inverses have become patterns.


@dataclass(frozen=True, slots=True)
class Step:
    """One arc with a property."""

    property: NamedNode


@dataclass(frozen=True, slots=True)
class Inverse:
    """A path walked backwards."""

    path: Path


@dataclass(frozen=True, slots=True)
class Sequence:
    """Paths one after the other."""

    steps: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of several paths."""

    choices: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """A path repeated at least `least` times; at most once, unless it is `open`. It pairs vertices, each pair once."""

    path: Path
    least: int
    open: bool


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One arc forwards with none of the properties `forwards`, or one backwards with none of `backwards`.

    None stands for a direction that is not asked for.
    """

    forwards: frozenset[NamedNode] | None
    backwards: frozenset[NamedNode] | None


Path: TypeAlias = Step | Inverse | Sequence | Alternative | Repetition | Exclusion


# Patterns


@dataclass(frozen=True, slots=True)
class Basic:
    """The mappings of a graph pattern. Without vertices it has one, which is empty."""

    pattern: GraphPattern


@dataclass(frozen=True, slots=True)
class PathPattern:
    """Pairs of vertices that a path joins."""

    subject: PatternTerm
    path: Path
    object: PatternTerm


@dataclass(frozen=True, slots=True)
class Unfolding:
    """The parts of a triple term that is bound already."""

    term: PatternTerm
    subject: PatternTerm
    predicate: PatternTerm
    object: PatternTerm


@dataclass(frozen=True, slots=True)
class Join:
    """Compatible solutions of both sides, merged."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL: the join where there is one under all conditions, else the left solution as it is."""

    left: Node
    right: Node
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Union:
    """The solutions of all branches."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Minus:
    """The left solutions without those that a right one is compatible with and shares a variable with."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Filter:
    """The solutions under which all conditions hold."""

    pattern: Node
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Extend:
    """Solutions with the value of an expression; an error leaves the variable unbound."""

    pattern: Node
    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Values:
    """Solutions that are written out; None leaves a variable unbound."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Named:
    """GRAPH: the solutions inside a named graph of the event, or inside each of them."""

    name: NamedNode | Variable
    pattern: Node


@dataclass(frozen=True, slots=True)
class Aggregation:
    """An aggregate over the solutions of a group, and the variable that it binds. Without argument it counts them."""

    variable: Variable
    name: str
    argument: Expression | None
    distinct: bool = False
    separator: str | None = None


@dataclass(frozen=True, slots=True)
class Grouping:
    """One solution for each group of solutions with equal keys; without keys all, even none, are one group."""

    pattern: Node
    keys: tuple[tuple[Variable, Expression], ...]
    aggregations: tuple[Aggregation, ...]


@dataclass(frozen=True, slots=True)
class OrderKey:
    """What solutions are ordered by."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """SELECT: the solutions ordered, projected, perhaps each once, and cut.

    What is cut is ordered in full: where the keys leave ties, the projected terms decide. So the answers do not depend
    on who evaluates the query.
    """

    pattern: Node
    projection: tuple[Variable, ...]
    distinct: bool = False
    order: tuple[OrderKey, ...] = ()
    offset: int = 0
    limit: int | None = None

    @property
    def is_cut(self) -> bool:
        return bool(self.offset) or self.limit is not None


Node: TypeAlias = (
    Basic
    | PathPattern
    | Unfolding
    | Join
    | LeftJoin
    | Union
    | Minus
    | Filter
    | Extend
    | Values
    | Named
    | Grouping
    | Selection
)

UNIT = Basic(GraphPattern())
"""The pattern with one solution, which is empty."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query as a whole: its solutions, and what is made of them.

    An `asks` query has one answer, without variables, if it has a solution. `template` is that of a CONSTRUCT,
    `described` what a DESCRIBE names; both are None for all other queries.
    """

    selection: Selection
    asks: bool = False
    template: tuple[TemplateTriple, ...] | None = None
    described: tuple[NamedNode | Variable, ...] | None = None


@cache
def arguments_of(kind: Any) -> tuple[str, ...]:
    """Return the names of the arguments that a kind of node is made of; nothing for what is no node."""
    if kind is Span or not hasattr(kind, "__dataclass_fields__"):
        return ()
    return tuple(each.name for each in fields(kind) if each.init)


def parts_of(node: Any) -> Iterator[Any]:
    """Yield a node and all that is inside it, patterns and expressions alike, outermost first, without recursion."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting.extend(reversed(part))
        elif hasattr(part, "__dataclass_fields__") and not isinstance(part, Span):
            yield part
            waiting.extend(getattr(part, each.name) for each in reversed(fields(part)))
        else:
            yield part


def variables_in(node: Node) -> frozenset[PatternTerm]:
    """Return the keys that solutions of a pattern may have: variables, and blank nodes of patterns."""
    match node:
        case Basic(pattern):
            blank = (vertex.term for vertex in pattern.vertices)
            return frozenset(term for term in blank if not is_constant(term)) | frozenset(pattern.variables)
        case PathPattern(subject, _, object_):
            return frozenset(term for term in (subject, object_) if not is_constant(term))
        case Unfolding():
            ends = (node.term, node.subject, node.predicate, node.object)
            return frozenset(term for term in ends if not is_constant(term))
        case Join(left, right) | LeftJoin(left, right):
            return variables_in(left) | variables_in(right)
        case Union(branches):
            return frozenset().union(*map(variables_in, branches))
        case Minus(left, _):
            return variables_in(left)
        case Filter(pattern, _):
            return variables_in(pattern)
        case Extend(pattern, variable, _):
            return variables_in(pattern) | {variable}
        case Values(variables, _):
            return frozenset(variables)
        case Named(name, pattern):
            return variables_in(pattern) | ({name} if isinstance(name, Variable) else frozenset())
        case Grouping(_, keys, aggregations):
            return frozenset(key for key, _ in keys) | {each.variable for each in aggregations}
        case Selection(_, projection):
            return frozenset(projection)


def extended_in(node: Node) -> frozenset[Variable]:
    """Return the variables that were computed for the solutions of a node, since they were found."""
    computed: set[Variable] = set()
    while isinstance(node, Extend):
        computed.add(node.variable)
        node = node.pattern
    return frozenset(computed)
