"""The matching tree: an AND-OR tree of partial mapping solutions (circles) and statement patterns (rectangles).

A circle succeeds when all of its children do, a rectangle when one of them does. The State Based Partial Verification
(SBPV) follows this while the tree grows, without comparing mappings: a tree whose root stays unchecked cannot match.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ontosub.matching.published.joins import TERM_BYTES
from ontosub.matching.published.ops.patterns import Home, Identifier, StatementPattern, SubscriptionGraph
from ontosub.model import Arc
from ontosub.model.terms import PatternTerm
from ontosub.semantics.budget import Budget

NODE_BYTES = 500
"""What a node of a matching tree takes, about, with its statement pattern."""


@dataclass(eq=False, slots=True)
class Circle:
    """A partial mapping solution: the vertex pairs of this matching and of those before it.

    `path` is the current path in the subscription graph, from the home vertex to the vertex mapped last.
    """

    pairs: Mapping[PatternTerm, Identifier]
    path: frozenset[PatternTerm]
    parent: Rectangle | None = None
    children: list[Rectangle] = field(default_factory=list)
    unchecked_children: int = 0
    checked: bool = False


@dataclass(eq=False, slots=True)
class Rectangle:
    """A statement pattern that a partial mapping solution still needs, and the arc that it stands for."""

    tree: MatchingTree
    arc: Arc
    pattern: StatementPattern
    parent: Circle
    children: list[Circle] = field(default_factory=list)
    checked: bool = False


class MatchingTree:
    """How far an event has come in matching one subscription graph. Growing beyond its budget raises LimitError."""

    def __init__(self, graph: SubscriptionGraph) -> None:
        self.graph = graph
        self.budget = Budget()
        self.nodes: list[Circle | Rectangle] = []
        self.root = Circle({graph.home: Home.HOME}, frozenset({graph.home}))
        self._add(self.root, graph.home)

    def extend(self, rectangle: Rectangle, object_: Identifier) -> list[Rectangle]:
        """Add the partial mapping solution that a matched pattern gives; return the patterns derived from it."""
        vertex, before = rectangle.arc.object, rectangle.parent
        circle = Circle({**before.pairs, vertex: object_}, before.path | {vertex}, rectangle)
        rectangle.children.append(circle)
        # On the current path already: its patterns were derived where the path first came through.
        self._add(circle, None if vertex in before.path else vertex)
        if not circle.children:
            backtrack(circle)
        return circle.children

    def _add(self, circle: Circle, vertex: PatternTerm | None) -> None:
        """Take in a circle, and derive the statement patterns that start at the vertex."""
        self.budget.spend()
        self.budget.hold(NODE_BYTES + TERM_BYTES * len(circle.pairs))
        derived = [] if vertex is None else self.graph.patterns_from(vertex, circle.pairs)
        self.budget.spend(len(derived))
        self.budget.hold(NODE_BYTES * len(derived))
        circle.children = [Rectangle(self, arc, pattern, circle) for arc, pattern in derived]
        circle.unchecked_children = len(circle.children)
        self.nodes += [circle, *circle.children]


def backtrack(node: Circle | Rectangle) -> None:
    """Set the state of a node to checked, and adjust the states above it (OPS, section 5.5)."""
    while True:
        node.checked = True
        if isinstance(node, Circle):
            if node.parent is None or node.parent.checked:
                return
            node = node.parent
        else:
            node.parent.unchecked_children -= 1
            if node.parent.unchecked_children > 0:
                return
            node = node.parent
