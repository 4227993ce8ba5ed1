"""Few shapes, many constants: what a site gets whose subscribers fill in forms.

30 forms over one kind of event, an offer at an auction: a certain seller, maker or text, a number below, above or
between limits. Every subscription is one of the forms with constants of its own. Pools of constants grow with the
number of subscriptions, so that an event matches about as many of a million as of a thousand: a matcher whose time
grows here looks at subscriptions that do not match.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ontosub.bench.workload import Published, Workload
from ontosub.model import Arc, Event, Filter, GraphPattern, Ontology, Subscription, Vertex
from ontosub.model.expression import Call, Function
from ontosub.model.terms import HOME, TYPE, BlankNode, Literal, NamedNode, Namespace, Triple, Variable

VOCABULARY = Namespace("http://example.org/auction#")
MATCHES_PER_EVENT = 12.0

OFFER, ITEM, PLACE = Variable("offer"), Variable("item"), Variable("place")
KINDS = ("Notebook", "Desktop", "Server", "Phone", "Tablet", "Camera", "Printer", "Screen")
WIDER = {"Notebook": "Computer", "Desktop": "Computer", "Server": "Computer", "Phone": "Mobile", "Tablet": "Mobile"}

NAMED = {"seller": OFFER, "auctioneer": OFFER, "maker": ITEM, "warehouse": PLACE}
"""Properties with IRIs, and where they start."""
WORDED = {"model": ITEM, "city": PLACE}
"""Properties with strings."""
COUNTED = {"price": OFFER, "bids": OFFER, "weight": ITEM, "distance": PLACE}
"""Properties with integers below NUMBERS."""
NUMBERS = 1_000_000_000

STARTS = {**NAMED, **WORDED, **COUNTED}
LINKS = {ITEM: Arc(OFFER, VOCABULARY["item"], ITEM), PLACE: Arc(OFFER, VOCABULARY["at"], PLACE)}


@dataclass(frozen=True, slots=True)
class Equal:
    """Asks that a property has a certain value."""

    property: str


@dataclass(frozen=True, slots=True)
class Limit:
    """Asks that a number is on the right side of a limit: half of all numbers are, on average."""

    property: str
    function: Function


@dataclass(frozen=True, slots=True)
class Between:
    """Asks that a number is between two limits, as close to each other as the workload's size demands."""

    property: str


Question: TypeAlias = Equal | Limit | Between
Form: TypeAlias = tuple[Question, ...]


def forms() -> list[Form]:
    """Return the 30 forms: one value; one value and a limit; one number between limits."""
    valued = [*NAMED, *WORDED]
    limited = [
        (Equal(value), Limit(number, function))
        for position, value in enumerate(valued)
        for number in list(COUNTED)[: 3 if position % 3 else 4]
        for function in ([Function.LESS, Function.GREATER][position % 2],)
    ]
    return [*((Equal(value),) for value in valued), *limited, *((Between(number),) for number in COUNTED)]


def generate(size: int, events: int, seed: int) -> Workload:
    """Return `size` subscriptions that share 30 shapes, and offers that match about a dozen of them each."""
    filling = Filling(random.Random(f"templates {seed}"), size)  # noqa: S311 - reproducible on purpose
    known = forms()
    subscriptions = [filling.subscription(f"s{number}", known[number % len(known)]) for number in range(size)]
    published = [Published.of(filling.event(f"e{number}")) for number in range(events)]
    return Workload("templates", seed, ontology(), subscriptions, published)


def ontology() -> Ontology:
    """Return the kinds of things that are sold."""
    subclasses = {(VOCABULARY[kind], VOCABULARY[wider]) for kind, wider in WIDER.items()}
    subclasses |= {(VOCABULARY[kind], VOCABULARY["Goods"]) for kind in {*KINDS, *WIDER.values()}}
    return Ontology(
        classes=frozenset(
            {*(class_ for pair in subclasses for class_ in pair), VOCABULARY["Offer"], VOCABULARY["Place"]}
        ),
        properties=frozenset(VOCABULARY[name] for name in (*STARTS, "item", "at")),
        subclasses=frozenset(subclasses),
    )


class Filling:
    """Fills in forms and makes offers. Both draw their constants from the same pools."""

    def __init__(self, chance: random.Random, size: int) -> None:
        self._chance = chance
        self._pool = max(1, round(size / MATCHES_PER_EVENT * _share_of_right_values()))
        """How many values a property has."""
        self._gap = max(1, round(NUMBERS / size * MATCHES_PER_EVENT))
        """How far apart two limits are."""

    def event(self, id: str) -> Event:
        """Return an offer."""
        item, place = BlankNode("item"), BlankNode("place")
        vertices = {OFFER: HOME, ITEM: item, PLACE: place}
        return Event(
            id,
            frozenset(
                {
                    Triple(HOME, TYPE, VOCABULARY["Offer"]),
                    Triple(item, TYPE, VOCABULARY[self._chance.choice(KINDS)]),
                    Triple(place, TYPE, VOCABULARY["Place"]),
                    Triple(HOME, VOCABULARY["item"], item),
                    Triple(HOME, VOCABULARY["at"], place),
                    *(Triple(vertices[at], VOCABULARY[name], self._value(name)) for name, at in STARTS.items()),
                }
            ),
            home=HOME,
        )

    def subscription(self, id: str, form: Form) -> Subscription:
        """Return a form filled in."""
        arcs, filters = list[Arc](), list[Filter]()
        for question in form:
            start = STARTS[question.property]
            value = Variable(question.property)
            asked = self._value(question.property) if isinstance(question, Equal) else value
            arcs.append(Arc(start, VOCABULARY[question.property], asked))
            filters += [Filter(Call(*limit)) for limit in self._limits(question, value)]
        used = dict.fromkeys(arc.subject for arc in arcs)
        links = [LINKS[start] for start in used if start in LINKS]  # type: ignore[index]
        vertices = [Vertex(OFFER, frozenset({VOCABULARY["Offer"]}))]
        if ITEM in used:
            vertices.append(Vertex(ITEM, frozenset({VOCABULARY["Goods"]})))
        return Subscription(id, (GraphPattern(tuple(vertices), (*links, *arcs), tuple(filters)),), language="sparql")

    def _limits(self, question: Question, value: Variable) -> Iterator[tuple[Function, tuple[Variable, Literal]]]:
        match question:
            case Limit(_, function):
                yield function, (value, Literal(self._chance.randrange(NUMBERS)))
            case Between():
                low = self._chance.randrange(NUMBERS)
                yield Function.GREATER, (value, Literal(low))
                yield Function.LESS, (value, Literal(low + self._gap))

    def _value(self, name: str) -> NamedNode | Literal:
        if name in COUNTED:
            return Literal(self._chance.randrange(NUMBERS))
        number = self._chance.randrange(self._pool)
        return VOCABULARY[f"{name}{number}"] if name in NAMED else Literal(f"{name} {number}")


def _share_of_right_values() -> float:
    """Return which share of the forms with a value match when the value is right: all, or half if there is a limit."""
    shares = [1.0 / len(form) for form in forms() if isinstance(form[0], Equal)]
    return sum(shares) / len(shares)
