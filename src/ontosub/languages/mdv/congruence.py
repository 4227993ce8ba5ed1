"""Which terms of a conjunction denote the same thing.

A path without `?` denotes one value. So if two terms are one, what they have under the same property is one as well:
with `c.serverInformation = s`, the paths `c.serverInformation.memory` and `s.memory` are the same. This is congruence
closure over union-find, and it makes the result independent of the order of the predicates.
"""

from __future__ import annotations

from typing import TypeAlias

from ontosub.model.terms import Literal, NamedNode, Triple, Variable

Node: TypeAlias = Variable | NamedNode | Literal | Triple
"""What a term of a rule's pattern can be."""


class Congruence:
    """A growing set of terms, parted into groups that denote the same thing."""

    def __init__(self) -> None:
        self._groups: dict[Node, list[Node]] = {}
        self._leader: dict[Node, Node] = {}
        self._values: dict[Node, dict[NamedNode, Variable]] = {}

    def add(self, term: Node) -> None:
        """Make the term known; by itself it denotes nothing but itself."""
        if term not in self._leader:
            self._leader[term] = term
            self._groups[term] = [term]
            self._values[term] = {}

    def group(self, term: Node) -> list[Node]:
        """Return the terms that denote the same as this one, itself included."""
        return self._groups[self._leader[term]]

    def groups(self) -> list[list[Node]]:
        """Return all groups."""
        return list(self._groups.values())

    def value(self, subject: Node, property: NamedNode) -> Variable | None:
        """Return what the subject is known to have under the property."""
        return self._values[self._leader[subject]].get(property)

    def set_value(self, subject: Node, property: NamedNode, value: Variable) -> None:
        """Say that the subject has this value, and no other, under the property."""
        self._values[self._leader[subject]][property] = value

    def merge(self, one: Node, other: Node) -> None:
        """Make two terms denote the same thing, and whatever follows from that."""
        waiting: list[tuple[Node, Node]] = [(one, other)]
        while waiting:
            one, other = waiting.pop()
            keep, lose = sorted((self._leader[one], self._leader[other]), key=self._weight, reverse=True)
            if keep == lose:
                continue
            for term in self._groups[lose]:
                self._leader[term] = keep
            self._groups[keep].extend(self._groups.pop(lose))
            values = self._values[keep]
            moved = self._values.pop(lose)
            waiting.extend((values.setdefault(name, value), value) for name, value in moved.items())

    def _weight(self, leader: Node) -> int:
        """The smaller group moves, so that n merges cost n log n."""
        return len(self._groups[leader]) + len(self._values[leader])
