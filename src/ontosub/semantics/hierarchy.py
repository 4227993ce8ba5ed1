"""Hierarchies of classes or properties, with several parents and with equivalence.

The papers forbid cycles; OWL does not. A cycle makes its members equivalent: each is below each other.
"""

from __future__ import annotations

from collections.abc import Iterable

from ontosub.model.terms import NamedNode


class Hierarchy:
    """The reflexive and transitive closure of stated pairs (narrower, wider), computed when asked for.

    >>> from ontosub.model.terms import NamedNode
    >>> notebook, computer, product = (NamedNode("urn:" + n) for n in ("notebook", "computer", "product"))
    >>> kinds = Hierarchy([(notebook, computer), (computer, product)])
    >>> kinds.is_below(notebook, product), kinds.is_below(product, notebook)
    (True, False)
    """

    def __init__(self, pairs: Iterable[tuple[NamedNode, NamedNode]]) -> None:
        self._parents: dict[NamedNode, list[NamedNode]] = {}
        self._children: dict[NamedNode, list[NamedNode]] = {}
        for narrower, wider in sorted(pairs, key=lambda pair: (pair[0].value, pair[1].value)):
            self._parents.setdefault(narrower, []).append(wider)
            self._children.setdefault(wider, []).append(narrower)
        self._above: dict[NamedNode, frozenset[NamedNode]] = {}
        self._below: dict[NamedNode, frozenset[NamedNode]] = {}

    def parents(self, term: NamedNode) -> list[NamedNode]:
        """Return what is stated to be directly above `term`."""
        return self._parents.get(term, [])

    def above(self, term: NamedNode) -> frozenset[NamedNode]:
        """Return all terms that contain `term`, itself included."""
        return _closure(term, self._parents, self._above)

    def below(self, term: NamedNode) -> frozenset[NamedNode]:
        """Return all terms that `term` contains, itself included."""
        return _closure(term, self._children, self._below)

    def is_below(self, narrower: NamedNode, wider: NamedNode) -> bool:
        """Say whether narrower ⊑ wider."""
        return wider in self.above(narrower)

    def cycles(self) -> list[frozenset[NamedNode]]:
        """Return the sets of terms that a cycle makes equivalent, smallest name first."""
        found = {self.above(term) & self.below(term) for term in self._parents}
        return sorted((cycle for cycle in found if len(cycle) > 1), key=lambda cycle: min(t.value for t in cycle))


def _closure(
    term: NamedNode, edges: dict[NamedNode, list[NamedNode]], known: dict[NamedNode, frozenset[NamedNode]]
) -> frozenset[NamedNode]:
    if term not in known:
        found, waiting = {term}, [term]
        while waiting:
            new = [near for near in edges.get(waiting.pop(), ()) if near not in found]
            found.update(new)
            waiting.extend(new)
        known[term] = frozenset(found)
    return known[term]
