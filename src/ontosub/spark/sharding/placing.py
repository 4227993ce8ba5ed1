"""Which shard a subscription goes to: classes in a row, cut into pieces of equal weight.

In the row, which has the order of JTangCSPS's ontology class ids, a class stands beside its subclasses. The classes of
an event come in branches of the hierarchy, from a class up to the top: so they lie in few pieces. A class may be cut,
and a heavy one into more than two pieces. Subscriptions without a class stand together at the end of the row, because
every event has to go wherever one of them is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from ontosub.model import Ontology, Subscription
from ontosub.model.ontology import Pair
from ontosub.model.terms import NamedNode
from ontosub.spark.sharding.requiring import Requirements

SLACK = 1.25
"""How much heavier than the average a shard may become by what is added to it later, before others get it."""

Routes = Mapping[NamedNode | None, frozenset[int]]
"""The shards that have subscriptions of each class; under None, of no class."""


class Place(NamedTuple):
    """The class that a subscription is found by, or None, and its shard."""

    class_: NamedNode | None
    shard: int


def weight_of(subscription: Subscription) -> int:
    """Return about how much of an index a subscription takes: its vertices, arcs and filters."""
    return sum(len(each.vertices) + len(each.arcs) + len(each.filters) for each in subscription.patterns)


def chosen_classes(requirements: Requirements, subscriptions: Iterable[Subscription]) -> list[NamedNode | None]:
    """Return, for each subscription, the one of the classes it requires that fewest of the others require.

    That is taken to be the one that fewest events have; of two, the narrower.
    """
    required = [requirements.of(subscription) for subscription in subscriptions]
    asking = Counter(chain.from_iterable(required))
    chosen: dict[frozenset[NamedNode], NamedNode | None] = {}
    for classes in required:
        if classes not in chosen:
            rank = {class_: (asking[class_], -requirements.depth(class_), class_.value) for class_ in classes}
            chosen[classes] = min(rank, key=rank.__getitem__, default=None)
    return [chosen[classes] for classes in required]


def placed_anew(
    ontology: Ontology, subscriptions: Sequence[Subscription], classes: Sequence[NamedNode | None], shards: int
) -> list[Place]:
    """Return the places of subscriptions in empty shards."""
    numbers = _numbers(ontology.subclasses)

    def position(at: int) -> tuple[bool, int, str]:
        class_ = classes[at]
        return (True, 0, "") if class_ is None else (False, numbers.get(class_, len(numbers)), class_.value)

    weights = [weight_of(subscription) for subscription in subscriptions]
    share = max(1, sum(weights)) / shards
    found, before = dict[int, int](), 0
    for at in sorted(range(len(weights)), key=position):
        found[at] = min(shards - 1, int((before + weights[at] / 2) / share))
        before += weights[at]
    return [Place(class_, found[at]) for at, class_ in enumerate(classes)]


def placed_beside(
    subscriptions: Sequence[Subscription], classes: Sequence[NamedNode | None], loads: Sequence[int], routes: Routes
) -> list[Place]:
    """Return the places of subscriptions in shards that have others already: where their class is, if there is room."""
    loads, added = list(loads), dict(routes)
    room = SLACK * (sum(loads) + sum(map(weight_of, subscriptions))) / len(loads)
    places = []
    for subscription, class_ in zip(subscriptions, classes, strict=True):
        weight, known = weight_of(subscription), added.get(class_, frozenset())
        shard = min(known, key=loads.__getitem__, default=None)
        if shard is None or loads[shard] + weight > room:
            shard = min(range(len(loads)), key=loads.__getitem__)
        loads[shard] += weight
        added[class_] = known | {shard}
        places.append(Place(class_, shard))
    return places


def _numbers(subclasses: Iterable[Pair]) -> dict[NamedNode, int]:
    """Return the place of each class in the row: depth first, from the top down, each class once."""
    children: dict[NamedNode, list[NamedNode]] = {}
    for narrower, wider in sorted(subclasses, key=lambda pair: (pair[1].value, pair[0].value), reverse=True):
        children.setdefault(wider, []).append(narrower)
    below = {narrower for narrower, _ in subclasses}
    tops = [class_ for class_ in children if class_ not in below]
    # Behind the tops, whatever a cycle keeps from having one above it.
    waiting, numbers = [*children, *tops], dict[NamedNode, int]()
    while waiting:
        class_ = waiting.pop()
        if class_ not in numbers:
            numbers[class_] = len(numbers)
            waiting += children.get(class_, ())
    return numbers
