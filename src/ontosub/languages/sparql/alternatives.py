"""A pattern as alternatives: the conjunctions of which every solution meets one.

Joins distribute over UNION and over the alternatives of a path, and so do filters: a group becomes a list of
conjunctions, one for each combination of branches. Solutions of two conjunctions are solutions of the group twice, as
SPARQL counts them. What a conjunction cannot say is left out of it, and noted: it is then only a necessary condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, product
from typing import TypeAlias

from ontosub.languages.sparql.checks import visible_variables
from ontosub.languages.sparql.filters import conjuncts, express, fails_without
from ontosub.languages.sparql.graph_patterns import Triple
from ontosub.languages.sparql.syntax import (
    Alternative,
    Bind,
    Block,
    Element,
    Filter,
    Group,
    Inverse,
    Occurrence,
    Optional,
    Path,
    Pattern,
    Sequence,
    TriplePattern,
    TripleTerm,
    Union,
    is_value,
    walk,
)
from ontosub.model import pattern as patterns
from ontosub.model.errors import Span
from ontosub.model.expression import variables_of
from ontosub.model.terms import BlankNode, NamedNode, PatternTerm, Variable

Mention: TypeAlias = tuple[PatternTerm, Span | None]
"""A term, and where it stands."""

ALTERNATIVES_MAX = 16
"""How many conjunctions a pattern may become; a UNION that would make more of it is left out."""


@dataclass(slots=True)
class Conjunction:
    """Triples and filters that all hold, with their positions, and the variables that they bind.

    It is `exact` when it says all that the query says, and `decides` when each of its solutions, at least, leads to one
    of the query. `open` are the variables that the query may bind besides. A conjunction that is not `possible` has a
    filter that can never hold.
    """

    triples: list[Triple] = field(default_factory=list)
    spans: list[Span | None] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    filters: list[patterns.Filter] = field(default_factory=list)
    bound: set[Variable] = field(default_factory=set)
    open: set[Variable] = field(default_factory=set)
    exact: bool = True
    decides: bool = True
    possible: bool = True

    def copy(self) -> Conjunction:
        """Return a conjunction that says the same, and can be made to say more."""
        return replace(
            self,
            triples=list(self.triples),
            spans=list(self.spans),
            mentions=list(self.mentions),
            filters=list(self.filters),
            bound=set(self.bound),
            open=set(self.open),
        )

    def add(self, triples: list[Triple], span: Span | None, mentions: Iterable[Mention]) -> None:
        """Demand triples that were written as one."""
        self.triples += triples
        self.spans += [span] * len(triples)
        self.mentions += mentions
        self.bound.update(term for triple in triples for term in triple if isinstance(term, Variable))

    def absorb(self, other: Conjunction) -> None:
        """Demand what the other one demands, too. Where one leaves open what the other binds, they may disagree."""
        meets = self.open.isdisjoint(other.bound) and self.open.isdisjoint(other.open)
        self.decides = self.decides and other.decides and meets and other.open.isdisjoint(self.bound)
        self.exact = self.exact and other.exact
        self.possible = self.possible and other.possible
        self.triples += other.triples
        self.spans += other.spans
        self.mentions += other.mentions
        self.filters += other.filters
        self.bound |= other.bound
        self.open = (self.open | other.open) - self.bound

    def leave(self, variables: Iterable[Variable], *, decides: bool = False) -> None:
        """Note that the query says more, by which these variables may be bound."""
        self.open.update(variable for variable in variables if variable not in self.bound)
        self.exact = False
        self.decides = self.decides and decides

    def restrict(self, condition: Filter) -> None:
        """Demand what a filter of the whole group demands of the variables that are bound."""
        for part in conjuncts(condition.expression):
            expression = express(part)
            if expression is None:
                self.exact = self.decides = False
            elif unbound := variables_of(expression) - self.bound:
                self.possible = self.possible and not fails_without(expression, unbound - self.open)
                self.exact = self.decides = False
            else:
                self.filters.append(patterns.Filter(expression, getattr(part, "span", None) or condition.span))


def alternatives_of(pattern: Pattern) -> list[Conjunction]:
    """Return the alternatives of a pattern, at least one and at most ALTERNATIVES_MAX.

    Those that can never have a solution are left out, unless there is no other.
    """
    if not isinstance(pattern, Group):
        return [Conjunction(exact=False, decides=False)]
    found = _Distribution(pattern).group(pattern)
    return [each for each in found if each.possible] or found


class _Distribution:
    """Distributes one pattern; fresh blank nodes stand between the steps of a path."""

    def __init__(self, pattern: Pattern) -> None:
        terms = (node.term for node in walk(pattern) if isinstance(node, Occurrence))
        used = {term.value for term in terms if isinstance(term, BlankNode)}
        self._fresh = (BlankNode(label) for number in count(1) if (label := f"step{number}") not in used)

    def group(self, group: Group) -> list[Conjunction]:
        """Return the alternatives of a group; they belong to the caller."""
        found = [Conjunction()]
        for element in group.elements:
            match element:
                case Block(triples):
                    found = _joined(found, self._block(triples, ALTERNATIVES_MAX // len(found)), element)
                case Group():
                    found = _joined(found, self.group(element), element)
                case Union(branches):
                    found = _joined(found, self._union(branches), element)
                case Filter():
                    pass
                case Optional() | Bind():
                    _leave(found, element, decides=True)
                case _:
                    _leave(found, element)
        for condition in group.elements:
            if isinstance(condition, Filter):
                for each in found:
                    each.restrict(condition)
        return found

    def _union(self, branches: Iterable[Pattern]) -> list[Conjunction] | None:
        """Return the alternatives of all branches; None when one is no group, or when they are too many."""
        found: list[Conjunction] = []
        for branch in branches:
            if not isinstance(branch, Group) or len(found) >= ALTERNATIVES_MAX:
                return None
            found += self.group(branch)
        return found

    def _block(self, triples: Iterable[TriplePattern], most: int) -> list[Conjunction]:
        """Return at most so many alternatives of some triples."""
        found = [Conjunction()]
        left: list[TriplePattern] = []
        for triple in triples:
            start, end = triple.subject.term, triple.object.term
            if isinstance(start, TripleTerm) or isinstance(end, TripleTerm):
                left.append(triple)
                continue
            ways = self._ways(start, triple.verb, end)
            if ways is None or len(found) * len(ways) > most:
                left.append(triple)
                continue
            mentions = [(start, triple.subject.span), (end, triple.object.span)]
            pairs = [(each if way is ways[-1] else each.copy(), way) for each in found for way in ways]
            for each, way in pairs:
                each.add(way, triple.span, mentions)
            found = [each for each, _ in pairs]
        if left:
            _leave(found, Block(tuple(left)))
        return found

    def _ways(self, start: PatternTerm, verb: Path, end: PatternTerm) -> list[list[Triple]] | None:
        """Return the triples that a path may consist of, one list for each way; None when it is not made of steps.

        Nothing leads from a literal or a triple term, and no pattern needs to know that.
        """
        match verb:
            case Occurrence(term=NamedNode() | Variable() as term):
                return None if is_value(start) else [[(start, term, end)]]
            case Inverse(path):
                return self._ways(end, path, start)
            case Alternative(choices):
                return _all(self._ways(start, choice, end) for choice in choices)
            case Sequence(steps):
                ends = [start, *(next(self._fresh) for _ in steps[1:]), end]
                parts = [self._ways(a, step, b) for a, step, b in zip(ends, steps, ends[1:], strict=False)]
                return _chained(parts)
            case _:
                return None


def _all(ways: Iterator[list[list[Triple]] | None]) -> list[list[Triple]] | None:
    found: list[list[Triple]] = []
    for each in ways:
        if each is None:
            return None
        found += each
    return found


def _chained(parts: Iterable[list[list[Triple]] | None]) -> list[list[Triple]] | None:
    chains: list[list[Triple]] = [[]]
    for part in parts:
        if part is None or len(chains) * len(part) > ALTERNATIVES_MAX:
            return None
        chains = [[*chain, *way] for chain, way in product(chains, part)]
    return chains


def _joined(found: list[Conjunction], others: list[Conjunction] | None, element: Element) -> list[Conjunction]:
    """Return each of the found ones with each of the others, or without any if these would be too many."""
    if others is None or len(found) * len(others) > ALTERNATIVES_MAX:
        _leave(found, element)
        return found
    pairs = [(each if other is others[-1] else each.copy(), other) for each in found for other in others]
    for each, other in pairs:
        each.absorb(other)
    return [each for each, _ in pairs]


def _leave(found: Iterable[Conjunction], element: Element, *, decides: bool = False) -> None:
    """Note that an element of the group is in none of its alternatives."""
    variables = visible_variables(Group((element,)))
    for each in found:
        each.leave(variables, decides=decides)
