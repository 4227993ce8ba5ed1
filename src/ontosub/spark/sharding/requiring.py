"""Which classes a subscription requires: what every event that it matches has among the classes of its vertices.

That is a necessary condition, on the event graph with all that follows from the event and with the background that it
reaches. An event without the class need not be shown to the subscription.
"""

from __future__ import annotations

from functools import reduce

from ontosub.model import GraphPattern, Subscription
from ontosub.model.terms import NamedNode, Variable
from ontosub.semantics import Entailment

Classes = frozenset[NamedNode]


class Requirements:
    """Says what subscriptions require under one ontology."""

    def __init__(self, entailment: Entailment) -> None:
        self._entailment = entailment
        self._domains: dict[NamedNode, set[NamedNode]] = {}
        for property_, class_ in entailment.ontology.domains:
            self._domains.setdefault(property_, set()).add(class_)
        self._closed: dict[Classes, Classes] = {}

    def of(self, subscription: Subscription) -> Classes:
        """Return the classes that all alternatives of a subscription require, with all that are above them.

        There may be none. Classes that vertices have without a triple (owl:Thing, datatypes) are never among them.
        """
        return reduce(frozenset.intersection, map(self._of_pattern, subscription.patterns))

    def depth(self, class_: NamedNode) -> int:
        """Return how many classes are above a class: the narrower one of two has more."""
        return len(self._entailment.classes.above(class_))

    def _of_pattern(self, pattern: GraphPattern) -> Classes:
        asked = frozenset(class_ for vertex in pattern.vertices for class_ in vertex.classes)
        if self._domains:
            properties = (arc.property for arc in pattern.arcs if not isinstance(arc.property, Variable))
            asked |= {class_ for property_ in properties for class_ in self._given_by(property_)}
        if asked not in self._closed:
            above = (wider for class_ in asked for wider in self._entailment.classes.above(class_))
            self._closed[asked] = frozenset(class_ for class_ in above if not self._entailment.is_implied(class_))
        return self._closed[asked]

    def _given_by(self, property_: NamedNode) -> set[NamedNode]:
        """Return the classes that whoever has the property has by its domain."""
        wider = self._entailment.properties.above(property_)
        return {class_ for each in wider for class_ in self._domains.get(each, ())}
