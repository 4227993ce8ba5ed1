"""Many shapes, deep hierarchies, a little of everything: subscribers who write their own queries.

Classes form a tree of six levels, properties a forest of three; events speak in the words of the lowest level, and
subscriptions in those of any. A subscription is cut out of an event drawn for it alone, then made more general: wider
classes, wider properties. Half of the subscriptions ask for a certain IRI or string, three in ten for a number; one in
ten is a SPARQL text with OPTIONAL or UNION. Pools of IRIs and strings grow with the number of subscriptions.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from ontosub.bench.query_text import group_text
from ontosub.bench.workload import Published, Workload
from ontosub.model import Arc, Event, Filter, GraphPattern, Ontology, Subscription, Vertex
from ontosub.model.expression import Call, Function
from ontosub.model.ontology import Pair
from ontosub.model.terms import TYPE, BlankNode, Literal, NamedNode, Namespace, Resource, Triple, Variable

VOCABULARY = Namespace("http://example.org/mixed#")
CLASS_LEVELS, CLASS_BRANCHES = 6, 3
PROPERTY_LEVELS, PROPERTY_ROOTS, PROPERTY_BRANCHES = 3, 4, 2
MEASURES, WORDS = 4, 2
"""Properties with numbers, and with strings."""
NUMBERS = 1_000
EVENT_VERTICES = 12
SUBSCRIPTIONS_PER_NAME = 50


class Word(NamedTuple):
    """A class or property by its way down the hierarchy: the wider ones are the shorter ways."""

    kind: str
    way: tuple[int, ...]

    @property
    def iri(self) -> NamedNode:
        return _iri(self.kind + "".join(map(str, self.way)))

    def wider(self, levels: int) -> Word:
        """Return the word so many levels up, at most the top one."""
        return Word(self.kind, self.way[: max(1, len(self.way) - levels)])


@dataclass(slots=True)
class Story:
    """An event as it is drawn: arcs between vertices, and what is said of each vertex."""

    classes: list[Word] = field(default_factory=list)
    names: list[NamedNode | None] = field(default_factory=list)
    measures: list[tuple[NamedNode, int]] = field(default_factory=list)
    words: list[tuple[NamedNode, str]] = field(default_factory=list)
    arcs: list[tuple[int, Word, int]] = field(default_factory=list)


def generate(size: int, events: int, seed: int) -> Workload:
    """Return `size` subscriptions of many shapes, and events of a dozen vertices."""
    telling = Telling(random.Random(f"mixed {seed}"), max(20, size // SUBSCRIPTIONS_PER_NAME))  # noqa: S311
    subscriptions = [telling.subscription(number) for number in range(size)]
    published = [Published.of(telling.event(f"e{number}")) for number in range(events)]
    return Workload("mixed", seed, ontology(), subscriptions, published)


def ontology() -> Ontology:
    """Return the class tree and the property forest."""
    subclasses = _tree("C", 1, CLASS_BRANCHES, CLASS_LEVELS)
    subproperties = _tree("p", PROPERTY_ROOTS, PROPERTY_BRANCHES, PROPERTY_LEVELS)
    plain = {measure(number) for number in range(MEASURES)} | {word_property(number) for number in range(WORDS)}
    return Ontology(
        classes=frozenset(class_ for pair in subclasses for class_ in pair),
        properties=frozenset({*(property_ for pair in subproperties for property_ in pair), *plain}),
        subclasses=frozenset(subclasses),
        subproperties=frozenset(subproperties),
    )


def _tree(kind: str, roots: int, branches: int, levels: int) -> set[Pair]:
    """Return the pairs (narrower, wider) of a forest."""
    level, pairs = [Word(kind, (number,)) for number in range(roots)], set[Pair]()
    for _ in range(levels - 1):
        level = [Word(kind, (*above.way, number)) for above in level for number in range(branches)]
        pairs |= {(word.iri, word.wider(1).iri) for word in level}
    return pairs


@cache
def _iri(name: str) -> NamedNode:
    return VOCABULARY[name]


def measure(number: int) -> NamedNode:
    """Return a property with numbers."""
    return _iri(f"measure{number}")


def word_property(number: int) -> NamedNode:
    """Return a property with strings."""
    return _iri(f"word{number}")


@cache
def _vertex(term: Variable | NamedNode, class_: NamedNode) -> Vertex:
    """Return a vertex; subscriptions share them."""
    return Vertex(term, frozenset({class_}))


class Telling:
    """Draws events, and subscriptions out of events, with constants from pools of a given size."""

    def __init__(self, chance: random.Random, pool: int) -> None:
        self._chance = chance
        self._pool = pool

    def event(self, id: str) -> Event:
        """Draw an event."""
        story = self.story(EVENT_VERTICES)
        vertices: list[Resource] = [name or BlankNode(f"v{number}") for number, name in enumerate(story.names)]
        triples = [Triple(vertices[subject], word.iri, vertices[object_]) for subject, word, object_ in story.arcs]
        for vertex, class_, (measure, number), (word, text) in zip(
            vertices, story.classes, story.measures, story.words, strict=True
        ):
            triples += [
                Triple(vertex, TYPE, class_.iri),
                Triple(vertex, measure, Literal(number)),
                Triple(vertex, word, Literal(text)),
            ]
        return Event(id, frozenset(triples))

    def subscription(self, number: int) -> Subscription:
        """Draw a subscription; every tenth is a text with OPTIONAL or UNION."""
        pattern = self.pattern(self.story(2 + self.below(4)))
        if number % 10:
            return Subscription(f"s{number}", (pattern,), language="sparql")
        return Subscription.parse(self._text(pattern), "sparql", id=f"s{number}")

    def below(self, end: int) -> int:
        """Draw a number from 0 up to `end`; `randrange` is slow, and this is asked millions of times."""
        return int(self._chance.random() * end)

    def story(self, vertices: int) -> Story:
        """Draw what is said of so many vertices, each linked to one of the three before it."""
        story = Story()
        for number in range(vertices):
            if number:
                story.arcs.append((max(0, number - 1 - self.below(3)), self.property_word(), number))
            below = (self.below(CLASS_BRANCHES) for _ in range(CLASS_LEVELS - 1))
            story.classes.append(Word("C", (0, *below)))
            story.names.append(self.name() if self.below(2) else None)
            story.measures.append((measure(self.below(MEASURES)), self.below(NUMBERS)))
            story.words.append((word_property(self.below(WORDS)), f"word {self.below(self._pool)}"))
        return story

    def property_word(self) -> Word:
        """Draw a property of the lowest level."""
        below = (self.below(PROPERTY_BRANCHES) for _ in range(PROPERTY_LEVELS - 1))
        return Word("p", (self.below(PROPERTY_ROOTS), *below))

    def name(self) -> NamedNode:
        """Draw an IRI out of the pool."""
        return VOCABULARY[f"name{self.below(self._pool)}"]

    def pattern(self, story: Story) -> GraphPattern:
        """Return what the story says in wider words; of constants and filters, a part."""
        terms: list[Variable | NamedNode] = [Variable(f"v{number}") for number in range(len(story.classes))]
        arcs, filters = list[Arc](), list[Filter]()
        asked, last = self._chance.random(), len(terms) - 1
        if asked < 0.25:
            terms[last] = self.name()
        elif asked < 0.5:
            arcs.append(Arc(terms[last], story.words[last][0], Literal(story.words[last][1])))
        elif asked < 0.8:
            value = Variable("value")
            arcs.append(Arc(terms[last], story.measures[last][0], value))
            function = self._chance.choice([Function.LESS, Function.GREATER_OR_EQUAL])
            filters.append(Filter(Call(function, (value, Literal(story.measures[last][1])))))
        for subject, word, object_ in story.arcs:
            arcs.append(Arc(terms[subject], word.wider(self.below(3)).iri, terms[object_]))
        vertices = [
            _vertex(term, class_.wider(self.below(4) + 1).iri)
            for term, class_ in zip(terms, story.classes, strict=True)
        ]
        return GraphPattern(tuple(vertices), tuple(arcs), tuple(filters))

    def _text(self, pattern: GraphPattern) -> str:
        start = pattern.vertices[0].term
        first, second = self.property_word().wider(1).iri, self.property_word().wider(1).iri
        if self._chance.random() < 0.5:
            more = f"OPTIONAL {{ {start} {first} ?more }}"
        else:
            more = f"{{ {start} {first} ?more }} UNION {{ {start} {second} ?more }}"
        return f"SELECT {start} ?more {{ {group_text(pattern)} {more} }}"
