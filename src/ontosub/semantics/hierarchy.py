"""Hierarchies of classes or properties, with several parents and with equivalence.

The papers forbid cycles; OWL does not. A cycle makes its members equivalent: each is below each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ontosub.model.terms import NamedNode

REMEMBERED_MAX = 1_000_000
"""How many members the remembered closures of one direction have together: a long chain has quadratically many."""

Edges = dict[NamedNode, list[NamedNode]]


class Hierarchy:
    """The reflexive and transitive closure of stated pairs (narrower, wider), computed when asked for.

    >>> from ontosub.model.terms import NamedNode
    >>> notebook, computer, product = (NamedNode("urn:" + n) for n in ("notebook", "computer", "product"))
    >>> kinds = Hierarchy([(notebook, computer), (computer, product)])
    >>> kinds.is_below(notebook, product), kinds.is_below(product, notebook)
    (True, False)
    """

    def __init__(self, pairs: Iterable[tuple[NamedNode, NamedNode]]) -> None:
        self._parents: Edges = {}
        self._children: Edges = {}
        for narrower, wider in sorted(pairs, key=lambda pair: (pair[0].value, pair[1].value)):
            self._parents.setdefault(narrower, []).append(wider)
            self._children.setdefault(wider, []).append(narrower)
        self._above = _Closures(self._parents)
        self._below = _Closures(self._children)

    def parents(self, term: NamedNode) -> list[NamedNode]:
        """Return what is stated to be directly above `term`."""
        return self._parents.get(term, [])

    def above(self, term: NamedNode) -> frozenset[NamedNode]:
        """Return all terms that contain `term`, itself included."""
        return self._above.of(term)

    def below(self, term: NamedNode) -> frozenset[NamedNode]:
        """Return all terms that `term` contains, itself included."""
        return self._below.of(term)

    def is_below(self, narrower: NamedNode, wider: NamedNode) -> bool:
        """Say whether narrower ⊑ wider."""
        return wider in self.above(narrower)

    @property
    def remembered(self) -> int:
        """How many members the closures have that are kept in memory."""
        return self._above.size + self._below.size

    def cycles(self) -> list[frozenset[NamedNode]]:
        """Return the sets of terms that a cycle makes equivalent, smallest name first."""
        found = (cycle for cycle in self._components() if len(cycle) > 1)
        return sorted(found, key=lambda cycle: min(term.value for term in cycle))

    def _components(self) -> Iterator[frozenset[NamedNode]]:
        """Yield the strongly connected components, in linear time (Kosaraju).

        Taken in the reverse of the order in which an upward search leaves them, the terms still unseen below each one
        are just those that are also above it.
        """
        seen: set[NamedNode] = set()
        for term in reversed(_left(self._parents)):
            if term not in seen:
                component = _reached(term, self._children, seen)
                seen |= component
                yield frozenset(component)


class _Closures:
    """What can be reached from each term, the term included; the closures asked for lately are remembered.

    A term without edges reaches only itself and is not remembered: events may bring ever new ones.
    """

    def __init__(self, edges: Edges) -> None:
        self._edges = edges
        self._known: dict[NamedNode, frozenset[NamedNode]] = {}
        self.size = 0

    def of(self, term: NamedNode) -> frozenset[NamedNode]:
        if term not in self._edges:
            return frozenset((term,))
        closure = self._known.get(term)
        if closure is None:
            closure = self._remember(term, self._computed(term))
        return closure

    def _computed(self, term: NamedNode) -> frozenset[NamedNode]:
        found, waiting = {term}, [term]
        while waiting:
            for near in self._edges.get(waiting.pop(), ()):
                if near not in found:
                    known = self._known.get(near)
                    if known is not None:
                        found |= known
                    else:
                        found.add(near)
                        waiting.append(near)
        return frozenset(found)

    def _remember(self, term: NamedNode, closure: frozenset[NamedNode]) -> frozenset[NamedNode]:
        """Keep a closure, at the cost of the oldest ones when all together are too large."""
        self._known[term] = closure
        self.size += len(closure)
        while self.size > REMEMBERED_MAX:
            self.size -= len(self._known.pop(next(iter(self._known))))
        return closure


def _left(edges: Edges) -> list[NamedNode]:
    """Return all terms in the order in which a depth-first search along the edges leaves them."""
    order: list[NamedNode] = []
    seen: set[NamedNode] = set()
    for root in edges:
        path = [] if root in seen else [(root, iter(edges[root]))]
        seen.add(root)
        while path:
            term, onward = path[-1]
            near = next((near for near in onward if near not in seen), None)
            if near is None:
                order.append(term)
                path.pop()
            else:
                seen.add(near)
                path.append((near, iter(edges.get(near, ()))))
    return order


def _reached(start: NamedNode, edges: Edges, beyond: set[NamedNode]) -> set[NamedNode]:
    """Return what can be reached from `start` without passing through `beyond`."""
    found, waiting = {start}, [start]
    while waiting:
        for near in edges.get(waiting.pop(), ()):
            if near not in found and near not in beyond:
                found.add(near)
                waiting.append(near)
    return found
