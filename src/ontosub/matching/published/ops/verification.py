"""Boolean Expression Based Verification (BEBV): which mappings a matching tree proves.

The expression of a node is kept in disjunctive normal form: a list of conjunctions, each a mapping from vertices of the
subscription graph to vertices of the event graph. The empty list is false. The disjuncts of the root are all mappings
under which the event matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial, reduce
from typing import TypeAlias

from ontosub.matching.published.joins import TERM_BYTES
from ontosub.matching.published.ops.patterns import Identifier
from ontosub.matching.published.ops.tree import Circle, MatchingTree, Rectangle
from ontosub.model.terms import PatternTerm
from ontosub.semantics.budget import Budget

Conjunction: TypeAlias = Mapping[PatternTerm, Identifier]
Expression: TypeAlias = list[Conjunction]


def expression_of_root(tree: MatchingTree) -> Expression:
    """Return the BEBV expression of the root: one conjunction per mapping, none when the event does not match.

    Raises LimitError when that takes more than what is left of the tree's budget.
    """
    expressions: dict[Circle | Rectangle, Expression] = {}
    for node in reversed(tree.nodes):  # children come after their parents
        below = [expressions.pop(child) for child in node.children]
        if isinstance(node, Rectangle):
            expressions[node] = _simplest(conjunction for child in below for conjunction in child)
        elif below:
            expressions[node] = reduce(partial(_and, tree.budget), below)
        else:
            expressions[node] = [node.pairs] if _is_injective(node.pairs) else []
    return expressions[tree.root]


def _and(budget: Budget, left: Expression, right: Expression) -> Expression:
    """Return the conjunction of two expressions, again in disjunctive normal form."""
    pairs = (pair for one in left for pair in _pairs(budget, one, right))
    return _simplest(mapping for mapping in pairs if _is_injective(mapping))


def _pairs(budget: Budget, one: Conjunction, right: Expression) -> Expression:
    budget.spend(len(right))
    pairs: Expression = [{**one, **other} for other in right if _agree(one, other)]
    budget.hold(TERM_BYTES * sum(map(len, pairs)))
    return pairs


def _agree(one: Conjunction, other: Conjunction) -> bool:
    """Say whether no vertex of the subscription graph maps to two vertices of the event graph (rule 4)."""
    return all(other.get(vertex, image) == image for vertex, image in one.items())


def _is_injective(mapping: Conjunction) -> bool:
    """Say whether no vertex of the event graph is the image of two vertices (rule 5)."""
    return len(set(mapping.values())) == len(mapping)


def _simplest(conjunctions: Iterable[Conjunction]) -> Expression:
    return list({frozenset(conjunction.items()): conjunction for conjunction in conjunctions}.values())
