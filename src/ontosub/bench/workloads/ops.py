"""The workload of the OPS paper (section 6): deep patterns of variables only, told apart by shape and class.

C classes, P = 10 properties, two of them for each class, no hierarchy. An event has 50 blank vertices, each with a
class, and 55 arcs; its home is one of them. A subscription has 10 vertices and starts at the home vertex. The paper
does not say how its graphs were drawn. Here a subscription is cut out of the neighbourhood of the home vertex of an
event that was drawn for it alone: so subscriptions are satisfiable, and with C = 10 about three in a hundred match a
given event, as in the paper. A cut has at least the 9 arcs that connect it, and up to the paper's 11 where the
neighbourhood has that many.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeAlias

from ontosub.bench.workload import Published, Workload
from ontosub.model import Arc, Event, GraphPattern, MetaStatement, Ontology, Subscription, Vertex
from ontosub.model.terms import HOME, TYPE, BlankNode, NamedNode, Namespace, Triple, Variable

VOCABULARY = Namespace("http://example.org/ops#")
PROPERTIES, PROPERTIES_PER_CLASS = 10, 2
EVENT_VERTICES, EVENT_ARCS = 50, 55
PATTERN_VERTICES, PATTERN_ARCS = 10, 11

NumberedArc: TypeAlias = tuple[int, int, int]
"""Subject, property, object: vertices and properties by their numbers."""


class Drawn(NamedTuple):
    """A graph in numbers: the class of each vertex, and the arcs. Vertex 0 is the home vertex."""

    classes: list[int]
    arcs: list[NumberedArc]


def generate(size: int, events: int, seed: int, *, classes: int = 10) -> Workload:
    """Return `size` subscriptions and some events over a concept model of `classes` classes."""
    drawing = Drawing.from_seed(seed, classes)
    subscriptions = [drawing.subscription(f"s{number}") for number in range(size)]
    published = [Published.of(drawing.event(f"e{number}")) for number in range(events)]
    return Workload("ops", seed, drawing.ontology(), subscriptions, published)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A concept model, and the chance by which graphs over it are drawn."""

    chance: random.Random
    object_classes: list[dict[int, int]]
    """For each class its properties, and the class that each of them leads to."""

    @classmethod
    def from_seed(cls, seed: int, classes: int) -> Drawing:
        """Draw the concept model."""
        chance = random.Random(f"ops {seed}")  # noqa: S311 - reproducible on purpose
        properties = [chance.sample(range(PROPERTIES), PROPERTIES_PER_CLASS) for _ in range(classes)]
        return cls(chance, [{each: chance.randrange(classes) for each in own} for own in properties])

    def ontology(self) -> Ontology:
        """Return the concept model: its meta-statements say all there is."""
        meta_statements = frozenset(
            MetaStatement(_class(subject), _property(property_), _class(object_))
            for subject, own in enumerate(self.object_classes)
            for property_, object_ in own.items()
        )
        return Ontology(
            classes=frozenset(_class(number) for number in range(len(self.object_classes))),
            properties=frozenset(_property(number) for number in range(PROPERTIES)),
            meta_statements=meta_statements,
        )

    def graph(self) -> Drawn:
        """Draw an event's graph: a tree that grows breadth first, then arcs between what is there."""
        classes, arcs = [self.chance.randrange(len(self.object_classes))], list[NumberedArc]()
        grown = 0
        while len(classes) < EVENT_VERTICES:
            for property_, object_class in self.object_classes[classes[grown]].items():
                # Nine arcs out of ten are drawn, and more when the tree would otherwise stop growing.
                waiting = len(classes) - grown - 1
                if len(classes) < EVENT_VERTICES and (waiting < 2 or self.chance.random() < 0.9):
                    arcs.append((grown, property_, len(classes)))
                    classes.append(object_class)
            grown += 1
        return Drawn(classes, self._with_cross_arcs(classes, arcs))

    def _with_cross_arcs(self, classes: list[int], arcs: list[NumberedArc]) -> list[NumberedArc]:
        members: dict[int, list[int]] = {}
        for vertex, class_ in enumerate(classes):
            members.setdefault(class_, []).append(vertex)
        drawn = dict.fromkeys(arcs)
        while len(drawn) < EVENT_ARCS:
            subject = self.chance.randrange(len(classes))
            property_, object_class = self.chance.choice(list(self.object_classes[classes[subject]].items()))
            object_ = self.chance.choice(members.get(object_class, [subject]))
            if object_ != subject:
                drawn[subject, property_, object_] = None
        return list(drawn)

    def event(self, id: str) -> Event:
        """Draw an event."""
        classes, arcs = self.graph()
        return Event(
            id,
            frozenset(
                {
                    *(
                        Triple(_blank(subject), _property(property_), _blank(object_))
                        for subject, property_, object_ in arcs
                    ),
                    *(Triple(_blank(vertex), TYPE, _class(class_)) for vertex, class_ in enumerate(classes)),
                }
            ),
            home=HOME,
        )

    def subscription(self, id: str) -> Subscription:
        """Draw a subscription: a part of an event's graph, connected from the home vertex."""
        classes, arcs = self.graph()
        chosen, cut = {0: 0}, list[NumberedArc]()
        while len(chosen) < PATTERN_VERTICES:
            arc = self.chance.choice([arc for arc in arcs if arc[0] in chosen and arc[2] not in chosen])
            cut.append(arc)
            chosen[arc[2]] = len(chosen)
        others = [arc for arc in arcs if arc[0] in chosen and arc[2] in chosen and arc not in cut]
        self.chance.shuffle(others)
        cut += others[: PATTERN_ARCS - len(cut)]
        pattern = GraphPattern(
            tuple(_vertex(number, classes[vertex]) for vertex, number in chosen.items()),
            tuple(_arc(chosen[subject], property_, chosen[object_]) for subject, property_, object_ in cut),
            home=HOME,
            injective=True,
        )
        return Subscription(id, (pattern,), language="ops")


# Names, vertices and arcs are few and wanted often: each is made once, and subscriptions share them.
@cache
def _class(number: int) -> NamedNode:
    return VOCABULARY[f"C{number}"]


@cache
def _property(number: int) -> NamedNode:
    return VOCABULARY[f"p{number}"]


@cache
def _blank(number: int) -> BlankNode:
    return BlankNode(f"v{number}") if number else HOME


@cache
def _term(number: int) -> Variable | BlankNode:
    return Variable(f"v{number}") if number else HOME


@cache
def _vertex(number: int, class_: int) -> Vertex:
    return Vertex(_term(number), frozenset({_class(class_)}))


@cache
def _arc(subject: int, property_: int, object_: int) -> Arc:
    return Arc(_term(subject), _property(property_), _term(object_))
