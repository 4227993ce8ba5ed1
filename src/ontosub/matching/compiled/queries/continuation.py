"""Which patterns may continue the rows that they are joined with, instead of starting from nothing.

SPARQL evaluates from the inside out. A pattern that continues rows finds the same, and costs less, as long as nothing
in it can tell that a variable is bound already.
"""

from __future__ import annotations

from ontosub.model.algebra import (
    Basic,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    Node,
    PathPattern,
    Unfolding,
    Union,
    Values,
    parts_of,
    variables_in,
)
from ontosub.model.expression import Exists
from ontosub.model.terms import PatternTerm, Variable


def continues(node: Node, outer: frozenset[PatternTerm]) -> bool:
    """Say whether the operator of a node may continue rows that bind some of the outer terms.

    What it finds then must not depend on where it starts: what is left unbound inside may not be bound outside.
    """
    inner = variables_in(node) & outer
    match node:
        case Basic() | PathPattern() | Unfolding() | Values():
            return True
        case Join(left, right):
            return continues(left, outer) and continues(right, outer | variables_in(left))
        case LeftJoin(left, right, conditions):
            sides = continues(left, outer) and continues(right, outer | variables_in(left))
            return sides and inner | (_seen_by_exists(conditions) & outer) <= certain_in(left)
        case Union(branches):
            return all(continues(branch, outer) for branch in branches)
        case Filter(pattern, said) | Extend(pattern, _, said):
            return continues(pattern, outer) and inner | (_seen_by_exists(said) & outer) <= certain_in(pattern)
    return False


def _seen_by_exists(said: object) -> frozenset[PatternTerm]:
    """Return the variables that patterns of EXISTS mention: each sees what the row binds of them."""
    patterns = [part for part in parts_of(said) if isinstance(part, Exists)]
    return frozenset(part for each in patterns for part in parts_of(each) if isinstance(part, Variable))


def certain_in(node: Node) -> frozenset[PatternTerm]:
    """Return variables that every solution of a pattern binds."""
    match node:
        case Basic() | PathPattern() | Unfolding():
            return variables_in(node)
        case Join(left, right):
            return certain_in(left) | certain_in(right)
        case Union(branches):
            return frozenset.intersection(*map(certain_in, branches))
        case LeftJoin(pattern) | Minus(pattern) | Filter(pattern) | Extend(pattern):
            return certain_in(pattern)
        case Values(variables, rows):
            return frozenset(
                each for place, each in enumerate(variables) if all(row[place] is not None for row in rows)
            )
    return frozenset()
