"""What holds with the arcs of each property: other properties, and classes of the ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ontosub.model.terms import NamedNode
from ontosub.semantics import Entailment


class Expansion(NamedTuple):
    """What holds with the arcs of a property.

    Properties that hold along an arc, or, as complements, against it; those that hold along an arc to a literal; and
    the classes that axioms give to the ends of an arc, and to the subject of one to a literal.
    """

    along: list[int]
    literal: list[int]
    subject: list[int]
    object: list[int]
    literal_subject: list[int]


class Expansions:
    """The expansions of properties, each computed once.

    `properties` and `classes` have the numbers. All properties that the ontology speaks of have theirs already; others,
    which may come later, expand to nothing but themselves.
    """

    def __init__(
        self, entailment: Entailment, properties: Mapping[NamedNode, int], classes: Mapping[NamedNode, int]
    ) -> None:
        self._entailment = entailment
        self._properties = properties
        self._classes = classes
        self._known: list[Expansion] = []

    def of_all(self) -> list[Expansion]:
        """Return the expansions of all properties, by number."""
        if len(self._known) < len(self._properties):
            given = self._domains_and_ranges()
            self._known += [self._of(property_, *given) for property_ in list(self._properties)[len(self._known) :]]
        return self._known

    def _of(self, property_: NamedNode, domains: _Given, ranges: _Given) -> Expansion:
        number = self._properties
        found = self._holding_with(property_)
        upwards = sorted(self._entailment.properties.above(property_), key=number.__getitem__)
        return Expansion(
            along=[number[each] if direction > 0 else ~number[each] for each, direction in found],
            literal=[number[each] for each in upwards],
            subject=_together((domains if direction > 0 else ranges).get(each) for each, direction in found),
            object=_together((ranges if direction > 0 else domains).get(each) for each, direction in found),
            literal_subject=_together(map(domains.get, upwards)),
        )

    def _holding_with(self, property_: NamedNode) -> Iterable[tuple[NamedNode, int]]:
        """Return the properties that hold with one, each with its direction: 1 along the arc, -1 against it."""
        entailment = self._entailment
        found = {(property_, 1): None}
        waiting = [(property_, 1)]
        while waiting:
            current, direction = waiting.pop()
            new = [(wider, direction) for wider in entailment.properties.parents(current)]
            new += [(other, -direction) for other in entailment.inverses(current)]
            new += [(current, -direction)] if current in entailment.ontology.symmetric else []
            waiting.extend(each for each in new if each not in found)
            found.update(dict.fromkeys(new))
        return found

    def _domains_and_ranges(self) -> tuple[_Given, _Given]:
        """Return the classes that axioms give to the subjects of a property's arcs, and to their objects."""
        given: tuple[_Given, _Given] = ({}, {})
        for to, pairs in zip(given, (self._entailment.ontology.domains, self._entailment.ontology.ranges), strict=True):
            for property_, class_ in pairs:
                to.setdefault(property_, set()).add(self._classes[class_])
        return given


_Given = dict[NamedNode, set[int]]


def _together(classes: Iterable[set[int] | None]) -> list[int]:
    return sorted(set().union(*filter(None, classes)))
